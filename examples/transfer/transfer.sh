#!/usr/bin/env bash
# Mesh to mesh: an operator whose coefficients are formed on one mesh (encode) gives values at the points
# of another one (decode). The form `paper` has a basis for each: queries meet keys and values of the
# source alone, whatever mesh the queries come from. Here the source is a uniform mesh of the notched
# square, the query a graded one of four times the points, with the same flow on both.
# Usage: transfer.sh FUNCATTN FOLDER
set -euo pipefail
funcattn=$1
mkdir -p "$2"
cd "$2"

"$funcattn" generate darcy --out flow --domain notch --train 60 --valid 6 --test 4 --points 300 \
  --resolutions 1 --graded-resolutions 4
"$funcattn" train --data flow --form paper --width 32 --heads 4 --basis 16 --blocks 2 --batch 4 \
  --epochs 10 --threads 1 --out transfer.safetensors

error_of() { grep -o '"relative_l2": *[-+.e0-9]*' "$1" | grep -o '[-+.e0-9]*$' | head -n 1; }
for source in flow/test/*.vtu; do
  name=$(basename "$source" .vtu)
  query=flow/test_graded_x4/$name.vtu
  "$funcattn" run "$source" --operator transfer.safetensors --query "$query" \
    --error-against pressure --threads 1 --json --output "transferred_$name.vtu" > "transferred_$name.json"
  "$funcattn" run "$query" --operator transfer.safetensors \
    --error-against pressure --threads 1 --json --output "direct_$name.vtu" > "direct_$name.json"
  echo "$name $(error_of "transferred_$name.json") $(error_of "direct_$name.json")"
done > errors

awk '{print $1 ": relative error " $2 " from the other mesh, " $3 " from its own"
      transferred += $2; direct += $3}
     END {print "mean " transferred / NR " and " direct / NR
          # A field transferred is as good as one computed there, and neither is what zero scores.
          exit !(NR == 4 && transferred < 1.1 * direct && direct < 0.5 * NR)}' errors ||
  { echo "the transferred fields are not as good as they should be" >&2; exit 1; }
