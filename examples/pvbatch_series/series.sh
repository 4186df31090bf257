#!/usr/bin/env bash
# Samples of the sine task as a time series, predicted in pvbatch, with a screenshot of the last step.
# usage: series.sh FUNCATTN PVBATCH PLUGIN OPERATOR OUTPUT_FOLDER   (without a screen: under xvfb-run)
set -euo pipefail
funcattn=$1 pvbatch=$2 plugin=$3 operator=$4 out=$5
here=$(dirname "${BASH_SOURCE[0]}")

"$funcattn" generate sine --out "$out/samples" --train 0 --valid 0 --test 4 --seed 7 \
  --overwrite
{
  echo '<?xml version="1.0"?>'
  echo '<VTKFile type="Collection" version="0.1"><Collection>'
  for step in 0 1 2 3; do
    echo "<DataSet timestep=\"0.$step\" file=\"samples/test/000$step.vtp\"/>"
  done
  echo '</Collection></VTKFile>'
} > "$out/series.pvd"

"$pvbatch" "$here/predict_series.py" "$plugin" "$operator" "$out/series.pvd" "$out/predicted"
