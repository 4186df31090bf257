#!/usr/bin/env bash
# A loop in the shell around the stage: files that something else writes are taken one by one, and the
# loop ends at the first that fails or whose error is too large.
# Usage: loop.sh FUNCATTN OPERATOR FOLDER   (FOLDER receives the samples and the results)
set -euo pipefail
funcattn=$1 operator=$2 folder=$3

"$funcattn" generate sine --out "$folder/samples" --train 0 --valid 0 --test 6
mkdir -p "$folder/results"
for sample in "$folder"/samples/test/*.vtp; do
  result=$folder/results/$(basename "$sample")
  "$funcattn" run "$sample" --operator "$operator" --output "$result" \
    --threads 1 --error-against y --json > "$result.json"
  error=$(grep -o '"relative_l2": *[-+.e0-9]*' "$result.json" | grep -o '[-+.e0-9]*$' | head -n 1)
  echo "$result: relative error $error"
  awk -v error="$error" 'BEGIN {exit !(error > 0 && error < 0.01)}' ||
    { echo "$result: the error is above 0.01" >&2; exit 1; }
done
