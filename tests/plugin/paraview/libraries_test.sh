#!/usr/bin/env bash
# Every VTK library that the plugin brings into a process is ParaView's; none is the system's.
# Usage: libraries_test.sh PLUGIN
set -euo pipefail
plugin=$1
libraries=$(ldd "$plugin" | grep -oE 'libvtk[^ ]+' | sort -u)
if grep -q "not found" <(ldd "$plugin"); then
  echo "libraries of $plugin are missing:" >&2
  ldd "$plugin" | grep "not found" >&2
  exit 1
fi
count=$(grep -c -- '-pv5\.[0-9]*\.so' <<<"$libraries") || { echo "no ParaView library" >&2; exit 1; }
strangers=$(grep -vE -- '-pv5\.[0-9]*\.so|^libvtkFunctionalAttention' <<<"$libraries" || true)
if [ -n "$strangers" ]; then
  printf '%s links VTK libraries that are not ParaView'"'"'s:\n%s\n' "$plugin" "$strangers" >&2
  exit 1
fi
ldd "$plugin" | grep 'libtorch_cpu' > /dev/null || { echo "the plugin does not link LibTorch" >&2; exit 1; }
# What other users of LibTorch or of the stage in the process could take by mistake.
exported=$(nm -DC --defined-only "$(dirname "$plugin")/libvtkFunctionalAttention.so" | grep ' funcattn::' || true)
if [ -n "$exported" ]; then
  printf 'the plugin exports:\n%s\n' "$exported" >&2
  exit 1
fi
echo "$count VTK libraries, all ParaView's"
