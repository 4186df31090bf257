# A failure of one process ends all, with its message, and leaves nothing behind.
. "$(dirname "$0")/checks.sh"
options=(--operator "$CASES/double.safetensors" --threads 1)
# expect_failure STATUS MESSAGE COMMAND...
expect_failure() {
  local status=$1 message=$2
  shift 2
  expect "$status" "$@"
  expect_error "$message"
  [ "$(grep -c '^funcattn' errors)" = 1 ] || fail "more than one process wrote its message"
  expect_no_file out.pvtu
  expect_no_file out
  expect_nothing_hidden
}
copy_pieces() { rm -rf in && mkdir in && cp -r "$CASES/turn1" "$CASES/turn1.pvtu" in; }

# The last piece is the last process's.
copy_pieces
rm in/turn1/turn1_3.vtu
expect_failure 1 "^funcattn run: .*in/turn1.pvtu.*: piece 3: .*turn1_3.vtu.*no such file" \
  ranks 3 run in/turn1.pvtu "${options[@]}" -o out.pvtu
copy_pieces
truncate -s 3000 in/turn1/turn1_2.vtu
expect_failure 1 "^funcattn run: .*: piece 2: " ranks 3 run in/turn1.pvtu "${options[@]}" -o out.pvtu

# Pieces whose arrays differ from those that the index declares.
copy_pieces
sed -i 's/Name="load"/Name="lead"/' in/turn1/turn1_1.vtu
expect_failure 1 "piece 1: .*turn1_1.vtu': it has no point array 'load', which the index declares" \
  ranks 2 run in/turn1.pvtu "${options[@]}" -o out.pvtu

# Different operator files under one name.
copy_pieces
mkdir a b
cp "$CASES/double.safetensors" a/op.safetensors
cp "$CASES/other.safetensors" b/op.safetensors
here=$PWD
expect_failure 1 "op.safetensors': process 1 has another operator file than process 0" \
  timeout 120 "$MPIEXEC" \
  -n 1 -wdir "$here/a" "$FUNCATTN" run "$here/in/turn1.pvtu" --operator op.safetensors -o "$here/out.pvtu" : \
  -n 1 -wdir "$here/b" "$FUNCATTN" run "$here/in/turn1.pvtu" --operator op.safetensors -o "$here/out.pvtu"

# One process cannot write.
expect_failure 1 "^funcattn run: .*cannot write '.*out" timeout 120 "$MPIEXEC" \
  -n 1 "$FUNCATTN" run "$here/in/turn1.pvtu" "${options[@]}" -o "$here/out.pvtu" : \
  -n 1 sh -c "ulimit -f 4; exec '$FUNCATTN' run '$here/in/turn1.pvtu' ${options[*]} -o '$here/out.pvtu'"
expect_failure 1 "the folder 'none' does not exist" \
  ranks 2 run in/turn1.pvtu "${options[@]}" -o none/out.pvtu

# Several files, each of which fails in another process: all are told of each.
copy_pieces
cp in/turn1.pvtu in/again.pvtu
rm in/turn1/turn1_3.vtu
mkdir both
expect 1 ranks 2 run in/turn1.pvtu in/again.pvtu "${options[@]}" -o both
expect_error "2 of 2 files failed, 0 were written"
rmdir both

# What is made for one process. The missing piece is the second process's error at the same time:
# the first one's counts for both, in the exit status as well.
expect_failure 2 "out.vtu.*file of pieces again; use the extension .pvtu" \
  ranks 2 run in/turn1.pvtu "${options[@]}" -o out.vtu
expect_failure 2 "'--resample' needs all of a mesh in one process" \
  ranks 2 run in/turn1.pvtu "${options[@]}" --resample x2 -o out.pvtu
expect_failure 2 "this command works in one process, but mpiexec started 2" \
  ranks 2 info "$CASES/double.safetensors"
expect_failure 2 "unknown option '--ouput'" ranks 2 run in/turn1.pvtu --ouput x

# A process is killed: the first one waits for names on its standard input, the others for it.
mkfifo names
"$MPIEXEC" -n 3 "$FUNCATTN" run - "${options[@]}" -o out.pvtu <names >results 2>errors &
mpiexec=$!
exec 5>names
started=
for _ in $(seq 100); do
  started=$(pgrep -P "$mpiexec" | wc -l)
  [ "$started" = 3 ] && break
  sleep 0.1
done
[ "$started" = 3 ] || fail "$started processes were started, expected 3"
sleep 3
kill -9 "$(pgrep -P "$mpiexec" | tail -1)"
for _ in $(seq 100); do
  kill -0 "$mpiexec" 2>/dev/null || break
  sleep 0.1
done
kill -0 "$mpiexec" 2>/dev/null && { kill -9 "$mpiexec"; fail "the others wait for the one that was killed"; }
wait "$mpiexec" && fail "mpiexec says that all is well"
expect_no_file out.pvtu
expect_nothing_hidden
