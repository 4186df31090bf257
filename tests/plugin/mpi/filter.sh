# The filter under a parallel controller predicts what it does in one process, and fails as one.
. "$(dirname "$0")/checks.sh"
in_pieces() { timeout 120 "$MPIEXEC" -n "$1" "$FILTER_IN_PIECES" "${@:2}"; }

expect 0 "$FUNCATTN" run "$CASES/whole.vtu" --operator "$CASES/double.safetensors" -o whole.vtu --threads 1
for case in "2 turn0" "3 random1"; do
  set -- $case
  expect 0 in_pieces "$1" "$CASES/double.safetensors" "$CASES/$2.pvtu" "out$1.pvtu"
  expect 0 "$PIECES_TOOL" compare whole.vtu "out$1.pvtu" 1e-10
done

# The last piece lacks an input: all say so, one aloud.
cp -r "$CASES/turn0" "$CASES/turn0.pvtu" .
sed -i 's/<PDataArray Name="load"[^>]*>//' turn0.pvtu
expect 1 in_pieces 2 "$CASES/double.safetensors" turn0.pvtu failed.pvtu
expect_result "last rank: .*'load'"
[ "$(grep -c "no .*'load'\|'load'.*not" errors)" = 1 ] || fail "not exactly one message"
expect_no_file failed.pvtu

# The reader of one process finds no file: nobody waits for it.
mkdir elsewhere
program=("$FILTER_IN_PIECES" "$CASES/double.safetensors" turn0.pvtu failed.pvtu)
expect 1 timeout 60 "$MPIEXEC" -n 1 -wdir "$PWD" "${program[@]}" : -n 1 -wdir "$PWD/elsewhere" "${program[@]}"
expect_result "last rank: .*the update of the input .vtkXMLPUnstructuredGridReader. failed"
expect_no_file failed.pvtu
