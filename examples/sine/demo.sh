#!/usr/bin/env bash
# The sine operator end to end: data, training, zero-shot evaluation, a run on a VTK file.
# Called by ./dev demo. Results go to demo/ and are reused; remove that folder to start anew.
set -euo pipefail
funcattn=$1/bin/funcattn
out=demo
threads=${FUNCATTN_THREADS:-$(nproc)}
mkdir -p "$out"

step() { printf '\n== %s\n' "$1" >&2; }

step "1/4 sine samples as VTK files: $out/samples"
if [ -e "$out/samples/dataset.json" ]; then
  echo "reusing $out/samples" >&2
else
  "$funcattn" generate sine --out "$out/samples" --train 100 --valid 20 --test 20 \
    --resolutions 1 4 32 --context 10 --overwrite
fi

step "2/4 training the few-shot operator: $out/sine.safetensors"
if [ -e "$out/.trained" ]; then
  echo "reusing $out/sine.safetensors" >&2
else
  # Small tensors here and in the evaluation: a second thread costs more than it brings.
  "$funcattn" train --task sine --out "$out/sine.safetensors" --threads 1 --overwrite
  touch "$out/.trained"
fi

step "3/4 zero-shot evaluation, finer and out of distribution: $out/report"
"$funcattn" evaluate --operator "$out/sine.safetensors" --task sine \
  --resample 1 2 4 8 16 32 --ood alpha x --context 4 5 10 20 40 \
  --report "$out/report" --threads 1 > "$out/evaluation.txt"

step "4/4 the operator as a stage: samples/test_x32/0000.vtp -> $out/predicted.vtp"
"$funcattn" run "$out/samples/test_x32/0000.vtp" --operator "$out/sine.safetensors" \
  --output "$out/predicted.vtp" --threads "$threads"

echo
cat "$out/evaluation.txt"
cat <<EOF

report   $out/report/report.txt and report.json
picture  $out/report/report.png
output   $out/predicted.vtp (open it in ParaView: y beside y_predicted)
operator $out/sine.safetensors
EOF
