# What the test scripts of the command expect of it.

fail() {
  echo "line ${BASH_LINENO[1]}: $*" >&2
  [ -e errors ] && cat errors >&2
  exit 1
}

# expect STATUS COMMAND...: its messages are in the file "errors", its results in "results".
expect() {
  local status=$1 found=0
  shift
  "$@" >results 2>errors || found=$?
  [ "$found" = "$status" ] || fail "exit status $found, expected $status: $*"
}

expect_error() { grep -qE -- "$1" errors || fail "the messages do not match: $1"; }
expect_result() { grep -qE -- "$1" results || { cat results >&2; fail "the results do not match: $1"; }; }
expect_file() { [ -s "$1" ] || fail "there is no $1"; }
expect_no_file() { [ ! -e "$1" ] || fail "there is a $1"; }
expect_nothing_hidden() {
  local hidden
  hidden=$(find "${1:-.}" -name '.*' ! -name '.' ! -name '..')
  [ -z "$hidden" ] || fail "left over: $hidden"
}
