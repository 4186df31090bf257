# ParaView's plugin in pvbatch on several processes predicts what the command does in one.
. "$(dirname "$0")/checks.sh"
script=$(dirname "$0")/pvbatch.py
expect 0 "$FUNCATTN" run "$CASES/whole.vtu" --operator "$CASES/double.safetensors" -o whole.vtu --threads 1
for case in "2 turn0" "3 random1"; do
  set -- $case
  expect 0 timeout 200 "$MPIEXEC" -n "$1" "$PVBATCH" "$script" "$CASES/double.safetensors" \
    "$CASES/$2.pvtu" "out$1.pvtu"
  expect_result "points: [0-9]+"
  expect 0 "$PIECES_TOOL" compare whole.vtu "out$1.pvtu" 1e-10
done
