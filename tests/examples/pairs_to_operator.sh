#!/usr/bin/env bash
# Training on pairs of meshes: inputs on one, targets on another. Usage: pairs_to_operator.sh FUNCATTN FOLDER
set -euo pipefail
funcattn=$1
rm -rf "$2"
mkdir -p "$2"
cd "$2"

fail() { echo "pairs_to_operator: $1" >&2; exit 1; }
refused() {
  local text=$1
  shift
  if "$funcattn" "$@" --quiet 2> message; then fail "accepted: $*"; fi
  grep -q -- "$text" message || fail "unclear: $(cat message)"
}

# The same problems on two kinds of meshes.
"$funcattn" generate darcy --out coarse --domain notch --train 6 --valid 2 --test 2 --points 60 \
  --reference-points 600 --resolutions 1 4 --quiet
"$funcattn" generate darcy --out fine --domain notch --train 6 --valid 2 --test 2 --points 100 \
  --mesh graded --reference-points 600 --resolutions 1 4 --quiet
model=(--width 8 --heads 2 --basis 4 --blocks 2 --batch 4 --threads 1 --quiet)
pairs=(--data coarse --query-data fine "${model[@]}")

# What is trained is what a run with the query evaluates, and so is what evaluate measures.
for kind in "--form paper" "--attention softmax" "--form few_shot --inputs pressure --targets pressure"; do
  rm -f one.*
  # shellcheck disable=SC2086
  "$funcattn" train "${pairs[@]}" $kind --epochs 2 --out one.safetensors 2> warnings
  "$funcattn" evaluate --operator one.safetensors --data coarse/test --query-data fine/test_x4 --threads 1 \
    --quiet --json --fields fields > report.json
  for sample in 0000 0001; do
    "$funcattn" run "coarse/test/$sample.vtu" --operator one.safetensors --query "fine/test_x4/$sample.vtu" \
      --error-against pressure --threads 1 --quiet --json -o "$sample.vtu" > "$sample.json"
  done
  grep -q '"error_weights": "auto"' report.json || fail "the report does not tell the weights of its errors"
  error_of() { grep -m 1 -o '"relative_l2": *[-+.e0-9]*' "$1" | grep -o '[-+.e0-9]*$'; }
  awk -v a="$(error_of 0000.json)" -v b="$(error_of 0001.json)" -v mean="$(error_of report.json)" \
    'BEGIN {d = (a + b) / 2 - mean; exit !(a > 0 && d * d < 1e-20 * mean * mean)}' ||
    fail "evaluate and run do not agree with $kind"
  LC_ALL=C grep -q 'Name="pressure_error"' fields/one/"test to test_x4"/0001.vtu || fail "no errors of $kind"
  rm -r fields
done

# A mesh paired with itself is a sample of one mesh.
self=("${model[@]}" --dtype float64 --epochs 3 --log-every 1)
"$funcattn" train --data coarse "${self[@]}" --out single.safetensors
"$funcattn" train --data coarse --query-data coarse "${self[@]}" --out paired.safetensors
number_of() { grep -o "\"$1\":[-+.e0-9]*" "$2" | cut -d : -f 2; }
for what in loss grad_norm validation; do
  paste <(number_of $what single.log.jsonl) <(number_of $what paired.log.jsonl) > both
  awk 'BEGIN {n = 0} {n += NF == 2; d = ($1 - $2) / $1; if (!(d * d < 1e-18)) bad = 1}
       END {exit !(n >= 3 && !bad)}' both || fail "$what differs: $(cat both)"
done

# Stopped and resumed, a run is the one that was never stopped.
long=("${model[@]}" --epochs 100 --symmetries square --validate-every 1 --log-every 1)
"$funcattn" train --data coarse --query-data fine "${long[@]}" --out whole.safetensors
"$funcattn" train --data coarse --query-data fine "${long[@]}" --out stopped.safetensors > /dev/null 2>&1 &
process=$!
while [ ! -s stopped.state.safetensors ] && kill -0 "$process" 2> /dev/null; do sleep 0.02; done
kill -TERM "$process" 2> /dev/null || true
wait "$process" || true
refused "the contract follows from the data: give the data and options of that run" \
  train --data coarse --query-data coarse "${long[@]}" --resume --out stopped.safetensors
cp -r fine moved
"$funcattn" train --data ./coarse --query-data moved "${long[@]}" --resume --out stopped.safetensors
for run in whole stopped; do sed 's/"seconds".*//' $run.log.jsonl > $run.lines; done
cmp whole.lines stopped.lines || fail "the resumed run is another one"
[ "$(wc -l < whole.lines)" = 200 ] || fail "steps are missing"

# What has no effect is said.
"$funcattn" train "${pairs[@]}" --interpolate-inputs --epochs 1 --out idle.safetensors 2> message
grep -q "interpolate-inputs has no effect" message || fail "silent: $(cat message)"
"$funcattn" evaluate --operator idle.safetensors --data coarse/test --query-data fine/test \
  --interpolate-inputs --threads 1 > /dev/null 2> message
grep -q "interpolate-inputs has no effect" message || fail "silent: $(cat message)"

# What does not belong together is named.
mv fine/train/0003.vtu kept.vtu
refused "'coarse/train/0003.vtu' has no query in 'fine'" train "${pairs[@]}" --epochs 1 --out never.safetensors
mv kept.vtu fine/train/0003.vtu
cp fine/valid/0001.vtu fine/valid/0002.vtu
refused "'fine/valid/0002.vtu' has no source in 'coarse'" train "${pairs[@]}" --epochs 1 --out never.safetensors
rm fine/valid/0002.vtu
rm fine/test/0001.vtu
refused "'coarse/test/0001.vtu' has no query in 'fine/test'" evaluate --operator one.safetensors \
  --data coarse/test --query-data fine/test
refused "would replace a sample" train "${pairs[@]}" --epochs 1 --overwrite --out fine/train/0000.vtu

# Nothing that names samples is replaced, and no result takes the place of a sample or of another.
ls coarse/train/*.vtu > sources.lst
ls fine/train/*.vtu > queries.lst
cp queries.lst kept.lst
cp coarse/dataset.json kept.json
refused "'queries.lst', which describes the training data" train --data sources.lst --query-data queries.lst \
  --inputs permeability --targets pressure --epochs 1 --overwrite --out queries.lst
cmp queries.lst kept.lst
refused "'coarse/dataset.json', which describes" train "${pairs[@]}" --epochs 1 --overwrite \
  --out coarse/dataset.json
cmp coarse/dataset.json kept.json
mkdir -p fields/one/test
mv coarse/test/0000.vtu fields/one/test/0000.vtu
printf '%s\n' fields/one/test/0000.vtu coarse/test/0000.vtu > one_place.lst
cp fields/one/test/0000.vtu kept.vtu
cp kept.vtu coarse/test/0000.vtu
refused "would replace a sample; give another --fields" evaluate --operator one.safetensors \
  --data fields/one/test --fields fields
cmp fields/one/test/0000.vtu kept.vtu
refused "--fields would write the results of 'fields/one/test/0000.vtu' and of 'coarse/test/0000.vtu' both to" \
  evaluate --operator one.safetensors --data one_place.lst --fields twice
[ ! -e twice ] || fail "results were written before they were refused"
LC_ALL=C sed -i 's/permeability/permittivity/' fine/train/*.vtu
refused "fine/train/0000.vtu: the query mesh has no point array 'permeability'" \
  train "${pairs[@]}" --epochs 1 --out never.safetensors
[ ! -e never.safetensors ] || fail "an operator was written all the same"
"$funcattn" train "${pairs[@]}" --epochs 1 --interpolate-inputs --out interpolated.safetensors
