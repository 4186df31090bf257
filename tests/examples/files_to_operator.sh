#!/usr/bin/env bash
# generate -> train on the folder -> evaluate on the folder -> run, and a resumed run against an
# uninterrupted one. Usage: files_to_operator.sh FUNCATTN FOLDER
set -euo pipefail
funcattn=$1
rm -rf "$2"
mkdir -p "$2"
cd "$2"

fail() { echo "files_to_operator: $1" >&2; exit 1; }

"$funcattn" generate sine -o samples --train 12 --valid 2 --test 2 --resolutions 1 4 --quiet
options=(--data samples --form few_shot --width 16 --latent 2 --encoder-layers 3 --batch 4
  --ridge-scale relative --epochs 4 --threads 1 --quiet)
"$funcattn" train "${options[@]}" -o whole.safetensors

# What a run has left is replaced only where that is asked for; a side file counts as well.
before=$(sha256sum whole.safetensors whole.last.safetensors whole.state.safetensors)
if "$funcattn" train "${options[@]}" --seed 1 -o whole.safetensors 2> message; then
  fail "a trained operator was replaced without being asked"
fi
grep -q "'whole.safetensors' exists; give another --out" message || fail "unclear: $(cat message)"
cp whole.state.safetensors other.state.safetensors
if "$funcattn" train "${options[@]}" -o other.safetensors 2> message; then
  fail "the state of another run was replaced without being asked"
fi
grep -q "'other.state.safetensors' exists; give another --out" message || fail "unclear: $(cat message)"
[ "$before" = "$(sha256sum whole.safetensors whole.last.safetensors whole.state.safetensors)" ] ||
  fail "files of an earlier run were changed"
"$funcattn" train "${options[@]}" --seed 1 --overwrite -o other.safetensors
"$funcattn" info other.safetensors --json | grep '"seed": 1' > /dev/null || fail "--overwrite did not train"

# A run that was finished is said to be so, not written again.
before=$(sha256sum whole.safetensors whole.last.safetensors)
"$funcattn" train "${options[@]}" --resume -o whole.safetensors > told
"$funcattn" train "${options[@]}" --resume -o whole.safetensors --json | grep -q '"resumed_at": 12' ||
  fail "the JSON does not tell where the run was resumed"
grep -q "^whole.safetensors was finished before, nothing is written: loss" told || fail "unclear: $(cat told)"
[ "$before" = "$(sha256sum whole.safetensors whole.last.safetensors)" ] || fail "a finished run was written again"

# The step of the weights is an outcome: the best of one seed and the last of another are alike.
"$funcattn" evaluate --operator whole.safetensors other.last.safetensors --data samples --quiet > table
grep "Over seeds" table > /dev/null || fail "no spread over seeds: $(cat table)"

"$funcattn" evaluate --operator whole.safetensors --data samples --json --quiet > report.json
grep -q '"label": "test_x4"' report.json || fail "the denser test set is not in the report"
"$funcattn" run samples/test_x4/0000.vtp --operator whole.safetensors -o out.vtp --quiet
[ -s out.vtp ] || fail "no output mesh"

grep -q '"data": "samples/test_x4"' report.json || fail "the report does not tell its data"
grep -q '"weights": "[a-z]' report.json || fail "the report does not tell its weights"
"$funcattn" evaluate --operator whole.safetensors --data samples --error-weights uniform --json --quiet > uniform.json
grep -q '"error_weights": "uniform"' uniform.json || fail "the report does not tell the weights of its errors"

# Nothing of a data set is overwritten by its operator or mixed with an older, larger set.
refused() {
  local text=$1
  shift
  if "$funcattn" "$@" --quiet 2> message; then fail "accepted: $*"; fi
  grep -q "$text" message || fail "unclear: $(cat message)"
}
refused "would replace a sample" train "${options[@]}" -o samples/train/0000.vtp --overwrite
refused "marks source points" train --data samples --epochs 1 -o wrong_form.safetensors
refused "0011.vtp' would remain" generate sine -o samples --train 11 --overwrite
refused "samples/test_x4/000[01].vtp' would remain" \
  generate sine -o samples --train 12 --valid 2 --test 2 --resolutions 1 --overwrite

touch report_file
cp whole.safetensors kept.safetensors
refused "report_file' is a file; give it the name of a folder" \
  evaluate --operator whole.safetensors --data samples --report report_file
mkdir -p evaluated
cp whole.safetensors evaluated/report.json
refused "report would replace 'evaluated/report.json', which is evaluated; give another folder" \
  evaluate --operator evaluated/report.json --data samples --report evaluated
cmp evaluated/report.json kept.safetensors
refused "the test sets 'samples/test' and 'samples/test' have the same samples; leave one of them away" \
  evaluate --operator whole.safetensors --data samples samples/test

ls samples/test/*.vtp > same.lst
refused "the test sets 'samples/test' and 'same.lst' have the same samples; leave one of them away" \
  evaluate --operator whole.safetensors --data samples/test same.lst

# What dataset.json says of the samples is true, also where they are made anew and that fails.
grep -q '"train": "12"' samples/dataset.json || fail "dataset.json does not keep the options of generate"
"$funcattn" generate burgers -o again --train 1 --valid 0 --test 0 --points 32 --quiet
refused "not resolved" generate burgers -o again --train 1 --valid 0 --test 0 --viscosity 0.001 --overwrite
[ ! -e again/dataset.json ] || fail "dataset.json speaks of samples that were being replaced"

# The masked grid's notebook form on the same files: every point is a source.
"$funcattn" train --data samples --inputs y_context --targets y --form sum_coefficients --width 8 \
  --heads 2 --basis 4 --blocks 1 --epochs 1 --threads 1 --quiet -o notebook.safetensors
# On some of the points, with averaged weights; the operator tells on how many.
some=(--data samples --inputs y_context --targets y --form shared_basis --width 8 --heads 2 --basis 4
  --blocks 1 --epochs 2 --threads 1 --quiet)
"$funcattn" train "${some[@]}" --points 20 --ema 0.9 -o subset.safetensors
"$funcattn" info subset.safetensors | grep "points per sample  20 to 20" > /dev/null || fail "wrong points"
"$funcattn" run samples/test_x4/0000.vtp --operator subset.safetensors -o all.vtp --quiet
refused "symmetries are those of the first two coordinates, but the points have 1" \
  train "${some[@]}" --symmetries square -o never.safetensors
refused "its queries differ from its source" train --data samples --form few_shot --points 20 \
  --epochs 1 -o never.safetensors
[ ! -e never.safetensors ] || fail "an operator was written all the same"
# Another attention, which the engine does not compute, from training to a prediction.
"$funcattn" train "${some[@]}" --attention softmax --position-bias distance --memory-tokens 2 \
  --sinusoids 3 -o softmax.safetensors
"$funcattn" info softmax.safetensors | grep "attention *softmax" > /dev/null || fail "wrong attention"
"$funcattn" run samples/test_x4/0000.vtp --operator softmax.safetensors -o softmax.vtp --quiet
[ -s softmax.vtp ] || fail "no output mesh of softmax attention"
"$funcattn" inspect softmax.safetensors samples/test/0000.vtp | grep "received by" > /dev/null \
  || fail "inspect does not show where softmax attention falls"
"$funcattn" train "${some[@]}" --attention linear -o linear.safetensors
refused "attention linear has neither basis functions nor weights between points" \
  inspect linear.safetensors samples/test/0000.vtp
refused "causal is for softmax attention, but attention is functional" \
  train "${some[@]}" --causal -o never.safetensors
"$funcattn" train "${some[@]}" --bases separate -o separate.safetensors
"$funcattn" run samples/test_x4/0000.vtp --operator separate.safetensors -o separate.vtp --quiet
"$funcattn" info notebook.safetensors | grep sum_coefficients > /dev/null || fail "wrong form"

# What a second operator lacks is said before the first one is measured.
"$funcattn" train --data samples --inputs y_context --targets context --form shared_basis --width 8 --heads 2 \
  --basis 4 --blocks 1 --epochs 1 --threads 1 --quiet -o of_context.safetensors
mkdir -p without
for file in samples/test/*.vtp; do LC_ALL=C sed 's/"context"/"kontext"/' "$file" > "without/${file##*/}"; done
if "$funcattn" evaluate --operator notebook.safetensors of_context.safetensors --data without 2> message; then
  fail "an operator was measured without its array"
fi
grep -q "evaluating notebook" message && fail "the first operator was measured: $(cat message)"
tr -s '\n ' ' ' < message | grep -q "'of_context.safetensors' cannot be evaluated: .*context" ||
  fail "unclear: $(cat message)"

# A file without the array in the middle of a training set ends the run with its name.
mkdir -p broken/train
cp samples/train/*.vtp broken/train/
LC_ALL=C sed 's/y_context/z_context/' samples/train/0003.vtp > broken/train/0003.vtp
if "$funcattn" train --data broken --inputs y_context --source-flag context --targets y \
  --form few_shot --epochs 1 -o broken.safetensors --quiet 2> message; then
  fail "a training set with a missing array was accepted"
fi
grep -q 0003.vtp message || fail "the message does not name the file: $(cat message)"
[ ! -e broken.safetensors ] || fail "an operator was written all the same"
