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
