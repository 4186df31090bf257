#!/usr/bin/env bash
# The loop takes every file, and ends with a failure at the first that the stage refuses.
# Usage: shell_loop_test.sh LOOP FUNCATTN OPERATOR WORK
set -euo pipefail
loop=$1 funcattn=$2 operator=$3 work=$4
rm -rf "$work"
bash "$loop" "$funcattn" "$operator" "$work" | tee "$work.log"
[ "$(grep -c 'relative error' "$work.log")" = 6 ]
[ "$(find "$work/results" -name '*.vtp' | wc -l)" = 6 ]

rm -rf "$work"
cp "$operator" "$work.damaged.safetensors"
printf 'x' | dd of="$work.damaged.safetensors" bs=1 seek=5000 conv=notrunc status=none
if bash "$loop" "$funcattn" "$work.damaged.safetensors" "$work" 2> "$work.err"; then exit 1; fi
grep -q checksum "$work.err"
[ "$(find "$work/results" -name '*.vtp' | wc -l)" = 0 ]
