# Predictions on several processes are those of one, whatever the partition.
. "$(dirname "$0")/checks.sh"

for precision in single double; do
  tolerance=1e-5
  [ $precision = double ] && tolerance=1e-10
  for weights in measure uniform; do
    options=(--operator "$CASES/$precision.safetensors" --weights $weights --threads 1)
    expect 0 "$FUNCATTN" run "$CASES/whole.vtu" "${options[@]}" -o whole.vtu
    # One process without mpiexec reads the pieces as one mesh, and may write another format.
    for out in out.pvtu out.vtu; do
      expect 0 "$FUNCATTN" run "$CASES/turn0.pvtu" "${options[@]}" -o $out
      expect 0 "$PIECES_TOOL" compare whole.vtu $out $tolerance
    done
    for case in "2 turn0" "3 random1"; do
      set -- $case
      expect 0 ranks "$1" run "$CASES/$2.pvtu" "${options[@]}" -o out.pvtu
      expect_result "^out.pvtu: [0-9]+ points, pressure_predicted, displacement_predicted"
      [ "$(wc -l <results)" = 1 ] || fail "more than one process wrote results"
      expect 0 "$PIECES_TOOL" compare whole.vtu out.pvtu $tolerance
    done
  done
done
expect_nothing_hidden

# More processes than pieces, and a mesh in one piece.
options=(--operator "$CASES/double.safetensors" --weights measure --threads 1)
expect 0 "$FUNCATTN" run "$CASES/whole.vtu" "${options[@]}" -o whole.vtu
expect 0 ranks 7 run "$CASES/turn2.pvtu" "${options[@]}" -o out.pvtu
expect 0 "$PIECES_TOOL" compare whole.vtu out.pvtu 1e-10
expect 0 ranks 2 run "$CASES/whole.vtu" "${options[@]}" -o one.vtu
expect 0 "$PIECES_TOOL" compare whole.vtu one.vtu 1e-10

# The result is in as many pieces as the input, and names of the list on standard input do.
[ "$(grep -c '<Piece ' out.pvtu)" = 4 ] || fail "the result is not in 4 pieces"
echo "$CASES/turn0.pvtu" | expect 0 ranks 2 run - "${options[@]}" -o listed.pvtu
expect 0 "$PIECES_TOOL" compare whole.vtu listed.pvtu 1e-10

# Sums in a fixed order: the same bits, without mpiexec too.
mkdir one two three
expect 0 "$FUNCATTN" run "$CASES/random1.pvtu" "${options[@]}" --fixed-order -o one/out.pvtu
for number in 2 3; do
  folder=$([ $number = 2 ] && echo two || echo three)
  expect 0 ranks $number run "$CASES/random1.pvtu" "${options[@]}" --fixed-order -o $folder/out.pvtu
  diff -r one $folder || fail "bits differ between 1 and $number processes"
done
expect 0 "$PIECES_TOOL" compare whole.vtu one/out.pvtu 1e-10
