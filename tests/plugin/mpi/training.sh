# Training on several processes is that of one, and fails as one.
. "$(dirname "$0")/checks.sh"
expect 0 "$FUNCATTN" generate sine --out data --train 11 --valid 5 --test 1 --resolutions 1
options=(--data data --inputs y_context --targets y --form shared_basis --width 16 --heads 2 --basis 4
  --blocks 2 --batch 4 --steps 20 --log-every 1 --validate-every 4 --ema 0.9 --dtype float64 --threads 1)
run=(train "${options[@]}" --out)

# 11 samples in batches of 4, 4 and 3; of five processes some have none in a step.
expect 0 "$FUNCATTN" "${run[@]}" one.safetensors
for number in 2 3 5; do
  expect 0 ranks $number "${run[@]}" some$number.safetensors
  [ "$(grep -c '^wrote' results)" = 1 ] || fail "more than one process wrote results"
  expect_error "for 20 steps on $number processes of 1 thread"
  expect 0 "$PIECES_TOOL" trained one some$number 1e-8
done
expect 0 "$FUNCATTN" info some2.safetensors
expect_nothing_hidden

# Points and functions that are drawn anew in every step.
points=("${run[@]}" points1.safetensors --points 20 --point-choice random)
expect 0 "$FUNCATTN" "${points[@]}"
expect 0 ranks 3 "${points[@]/points1/points3}"
expect 0 "$PIECES_TOOL" trained points1 points3 1e-8
sine=(train --task sine --steps 10 --log-every 1 --dtype float64 --threads 1 --out)
expect 0 "$FUNCATTN" "${sine[@]}" sine1.safetensors
expect 0 ranks 3 "${sine[@]}" sine3.safetensors
# Weights on which nothing depends have gradients of rounding alone, and go where those point.
expect 0 "$PIECES_TOOL" logged sine1 sine3 1e-6

# In float32 the losses are those of one process to 1e-5.
single=("${options[@]/float64/float32}")
expect 0 "$FUNCATTN" train "${single[@]}" --out single1.safetensors
expect 0 ranks 2 train "${single[@]}" --out single2.safetensors
expect 0 "$PIECES_TOOL" logged single1 single2 1e-5

# Samples in pieces, with 0 to 2 layers of ghosts: the run is that of whole samples.
model=(--width 16 --heads 2 --basis 4 --blocks 2 --batch 2 --steps 12 --log-every 1
  --validate-every 4 --dtype float64 --threads 1)
in_pieces() { echo train --data "$CASES/pieces" --parallel domain; }
for weights in measure uniform; do
  for form in shared_basis paper; do
    fields=(--inputs load --targets force --weights $weights --form $form "${model[@]}")
    expect 0 "$FUNCATTN" train --data "$CASES/wholes" "${fields[@]}" --out whole.safetensors --overwrite
    expect 0 "$FUNCATTN" $(in_pieces) "${fields[@]}" --out alone.safetensors --overwrite
    expect 0 "$PIECES_TOOL" trained whole alone 1e-7
    for number in 2 4; do
      expect 0 ranks $number $(in_pieces) "${fields[@]}" --out pieces.safetensors --overwrite
      expect 0 "$PIECES_TOOL" trained whole pieces 1e-7
    done
  done
done
refused=(--inputs load --targets force "${model[@]}" --out refused.safetensors)
expect 2 ranks 2 $(in_pieces) "${refused[@]}" --attention softmax
expect_error "only the forms shared_basis, shared_basis_tied and paper with functional attention learn"
expect 2 ranks 2 $(in_pieces) "${refused[@]}" --points 20
expect_error "give one of them"

# Stopped by a signal to mpiexec, or to one process, and continued on another number of them.
long=("${options[@]/#20/4000}")
stopped_by() {
  local target=$1
  # In the background of a script, bash lets SIGINT be ignored.
  env --default-signal=INT "$MPIEXEC" -n 2 "$FUNCATTN" train "${long[@]}" --out stopped.safetensors \
    >results 2>errors &
  local mpiexec=$!
  for _ in $(seq 300); do
    [ -s stopped.log.jsonl ] && [ "$(wc -l <stopped.log.jsonl)" -ge 10 ] && break
    sleep 0.1
  done
  if [ "$target" = mpiexec ]; then kill -USR1 $mpiexec; else kill -INT "$(pgrep -P $mpiexec | tail -1)"; fi
  local status=0
  wait $mpiexec || status=$?
  [ $status = 1 ] || fail "exit status $status after a signal to $target"
  expect_error "stopped after step [0-9]+; the same command with --resume continues"
  expect_file stopped.state.safetensors
  expect_file stopped.last.safetensors
}
rm -f stopped.*
stopped_by process
rm -f stopped.*
stopped_by mpiexec
step=$(sed -n 's/.*stopped after step \([0-9]*\).*/\1/p' errors)
[ "$step" -lt 4000 ] || fail "the run was over before the signal"
tail -1 stopped.log.jsonl | grep -q "\"step\":$step[,}]" || fail "the log does not end at step $step"
expect 2 ranks 3 train "${options[@]}" --out stopped.safetensors --resume
expect_error "cannot resume .*steps was 4000, now 20"

# expect_failure STATUS MESSAGE COMMAND...
expect_failure() {
  local status=$1 message=$2
  shift 2
  rm -f out.*
  expect "$status" "$@"
  expect_error "$message"
  [ "$(grep -c '^funcattn train: ' errors)" = 1 ] || fail "not exactly one message"
  expect_no_file out.safetensors
  expect_no_file out.last.safetensors
  expect_no_file out.state.safetensors
  expect_nothing_hidden
}
# other_rank OPTIONS...: the second of two processes has these besides.
other_rank() {
  timeout 120 "$MPIEXEC" -n 1 "$FUNCATTN" "${run[@]}" out.safetensors : \
    -n 1 "$FUNCATTN" "${run[@]}" out.safetensors "$@"
}
expect_failure 2 "process 1 would train otherwise than process 0: optimiser.clip_norm is 0.5, not 1.0" \
  other_rank --clip 0.5
expect_failure 2 "process 1 would train otherwise than process 0: .* more; give all" other_rank --seed 5
# A validation sample of the second process alone.
cp -r data damaged
last=$(ls damaged/valid/*.vt* | tail -1)
truncate -s 300 "$last"
damaged=("${run[@]/#data/damaged}")
expect_failure 1 "^funcattn train: .*$(basename "$last")" ranks 2 "${damaged[@]}" out.safetensors
# The first process cannot write what a step needs more than the log.
expect_failure 1 "^funcattn train: .*cannot write" timeout 120 "$MPIEXEC" \
  -n 1 sh -c "ulimit -f 4; exec \"\$@\"" sh "$FUNCATTN" "${run[@]}" out.safetensors : \
  -n 1 "$FUNCATTN" "${run[@]}" out.safetensors
expect_failure 2 "--steps and --epochs are both given" ranks 2 "${run[@]}" out.safetensors --epochs 3
# What there is of an earlier run stays.
cp one.safetensors before.safetensors
expect 1 ranks 2 "${run[@]}" one.safetensors
expect_error "one.safetensors' exists; give another --out"
cmp -s one.safetensors before.safetensors || fail "the earlier operator was replaced"
expect 2 ranks 2 evaluate --operator one.safetensors --data data
expect_error "this command works in one process, but mpiexec started 2"
