#!/usr/bin/env bash
# Installs the build into a fresh prefix and builds and runs a program against that alone.
# Usage: consumer_test.sh BUILD SOURCE WORK
set -euo pipefail
build=$1 source=$2 work=$3
rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$work/prefix" > "$work/install.log"
cmake -S "$source/tests/package/consumer" -B "$work/consumer" -G Ninja \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/prefix" > "$work/configure.log"
cmake --build "$work/consumer" > "$work/build.log" || { cat "$work/build.log" >&2; exit 1; }
if grep -rl "$source" "$work/prefix/lib" --include='*.cmake'; then
  echo "the installed package refers to the source folder" >&2
  exit 1
fi
"$work/consumer/consumer" "$source/data/sine.safetensors" "$work/out.vtp"
[ -s "$work/out.vtp" ]
"$work/prefix/bin/funcattn" info "$source/data/sine.safetensors" > "$work/info.txt"
grep -q few_shot "$work/info.txt"

# The example of a VTK pipeline, against the installed filter.
cmake -S "$source/examples/pipeline_vtk_cpp" -B "$work/pipeline" -G Ninja \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/prefix" > "$work/configure_pipeline.log"
cmake --build "$work/pipeline" > "$work/build_pipeline.log" ||
  { cat "$work/build_pipeline.log" >&2; exit 1; }
pipeline=$work/pipeline/pipeline line=$source/data/meshes/line.vtp
"$pipeline" "$line" "$source/data/sine.safetensors" "$work/peaks.vtp" > "$work/pipeline.txt"
grep -q 'peaks.vtp: [1-9][0-9]* points' "$work/pipeline.txt"
status=0
"$pipeline" "$line" none.safetensors "$work/none.vtp" 2> "$work/pipeline.err" || status=$?
[ "$status" = 1 ] && [ ! -e "$work/none.vtp" ]
grep -q "cannot read 'none.safetensors'" "$work/pipeline.err"

# The same pipeline in Python, where its package was built.
packages=$work/prefix/lib/python3/dist-packages
if [ -e "$packages/funcattn" ]; then
  PYTHONPATH=$packages /usr/bin/python3 "$source/examples/pipeline_python/pipeline.py" "$line" \
    "$source/data/sine.safetensors" "$work/peaks_python.vtp" > "$work/python.txt"
  points=$(grep -o '[0-9]* points' "$work/pipeline.txt")
  grep -q "peaks_python.vtp: ${points% points} of" "$work/python.txt"
  status=0
  PYTHONPATH=$packages /usr/bin/python3 "$source/examples/pipeline_python/pipeline.py" "$line" \
    none.safetensors "$work/none.vtp" 2> "$work/python.err" || status=$?
  [ "$status" = 1 ] && [ ! -e "$work/none.vtp" ]
  grep -q "line.vtp: cannot read 'none.safetensors'" "$work/python.err"
else
  echo "the Python package was not built: its example is left out"
fi
