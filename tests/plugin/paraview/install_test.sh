#!/usr/bin/env bash
# The installed plugin is loaded through PV_PLUGIN_PATH and runs from where it was installed.
# Usage: install_test.sh BUILD PVPYTHON PREFIX
set -euo pipefail
build=$1 pvpython=$2 prefix=$3
rm -rf "$prefix"
cmake --install "$build" --component paraview --prefix "$prefix" > "$prefix.log"
plugin=$(find "$prefix" -name NeuralOperator.so)
[ -n "$plugin" ] || { echo "no plugin was installed:" >&2; cat "$prefix.log" >&2; exit 1; }
[ -z "$(find "$prefix" -type f ! -name '*.so')" ] # Nothing else comes with it.

cat > "$prefix/script.py" <<'PYTHON'
import os
from paraview import servermanager, simple

source = os.environ["FUNCATTN_SOURCE_DIR"]
mesh = simple.OpenDataFile(source + "/data/meshes/line.vtp")
result = simple.NeuralOperator(Input=mesh, OperatorFile=source + "/data/sine.safetensors")
result.UpdatePipeline()
low, high = result.PointData["y_predicted"].GetRange()
assert abs(low + 3.4337) < 1e-3 and abs(high - 3.4335) < 1e-3, (low, high)
with open("/proc/self/maps") as maps:
    used = {line.split()[-1] for line in maps if "FunctionalAttention" in line}
print("used:", *used)
PYTHON
PV_PLUGIN_PATH=$(dirname "$(dirname "$plugin")") "$pvpython" "$prefix/script.py" |
  tee "$prefix.out"
grep -qxF "used: $(dirname "$plugin")/libvtkFunctionalAttention.so" "$prefix.out"
