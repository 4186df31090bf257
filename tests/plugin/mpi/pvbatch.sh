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

# The reader of one process finds no file: nobody waits for it. ParaView itself carries on.
cp -r "$CASES/turn0" "$CASES/turn0.pvtu" .
mkdir elsewhere
batch=("$PVBATCH" "$(realpath "$script")" "$CASES/double.safetensors" turn0.pvtu failed.pvtu)
expect 0 timeout 100 "$MPIEXEC" -n 1 -wdir "$PWD" "${batch[@]}" : -n 1 -wdir "$PWD/elsewhere" "${batch[@]}"
expect_result "points: 0"
expect_error "the update of the input \(.*\) failed"
