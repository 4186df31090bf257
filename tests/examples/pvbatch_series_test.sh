#!/usr/bin/env bash
# The example predicts every step and draws the last; with a damaged operator it fails.
# Needs a screen: tests/support/on_a_screen.sh.
# Usage: pvbatch_series_test.sh SERIES_SH FUNCATTN PVBATCH PLUGIN OPERATOR WORK
set -euo pipefail
series=$1 funcattn=$2 pvbatch=$3 plugin=$4 operator=$5 work=$6
rm -rf "$work"
bash "$series" "$funcattn" "$pvbatch" "$plugin" "$operator" "$work" > "$work.log"
cat "$work.log"
grep -q '^gives y: point, 1 component$' "$work.log"
[ "$(grep -c '^step 0[.0-9]*: 210 points' "$work.log")" = 4 ]
grep -qE '^step 0\.3: 210 points, y from -3\.60[0-9] to 3\.60[0-9]$' "$work.log"
[ "$(find "$work/predicted" -name '*.vtp' | wc -l)" = 4 ]
grep -q 'timestep="0.3"' "$work/predicted/predicted.pvd"
[ "$(stat -c %s "$work/predicted/predicted.png")" -gt 10000 ]

rm -rf "$work"
cp "$operator" "$work.damaged.safetensors"
printf 'x' | dd of="$work.damaged.safetensors" bs=1 seek=5000 conv=notrunc status=none
if bash "$series" "$funcattn" "$pvbatch" "$plugin" "$work.damaged.safetensors" "$work" \
  > "$work.log" 2> "$work.err"; then exit 1; fi
grep -q checksum "$work.err"
[ ! -e "$work/predicted" ]
