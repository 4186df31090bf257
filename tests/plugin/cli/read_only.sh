# Folders and files that may not be written, as a user who is not root: root may write anything.
. "$(dirname "$0")/checks.sh"

if [ "$(id -u)" = 0 ]; then
  user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  if ! "${user[@]}" test -x "$FUNCATTN" -a -r "$grid"; then
    echo "skipped: another user cannot reach the build" && exit 77
  fi
else
  user=()
fi
mkdir open closed
chmod 777 open
as_user() { (cd open && "${user[@]}" "$FUNCATTN" run "$@" "${operator[@]}" --threads 1); }

touch closed/old.vtu open/old.vtu
chmod 555 closed
chmod 444 closed/old.vtu open/old.vtu
for target in "$PWD/closed/new.vtu" "$PWD/closed/old.vtu"; do
  for dry in "" --dry-run; do
    expect 1 as_user "$grid" -o "$target" $dry
    expect_error "cannot write '$target': the folder '$PWD/closed' is write-protected"
  done
done
for dry in "" --dry-run; do
  expect 1 as_user "$grid" -o old.vtu $dry
  expect_error "cannot write 'old.vtu': the file is write-protected"
done
[ ! -s open/old.vtu ] || fail "a write-protected file was replaced"
expect 1 as_user "$grid" -o new.vtu --memory spilled --spill-folder "$PWD/closed"
expect_error "cannot create a temporary file in '$PWD/closed': Permission denied"

cp "$grid" open/secret.vtu
cp "$FIXTURES/surrogate.safetensors" open/secret.safetensors
chmod 000 open/secret.vtu open/secret.safetensors
expect 1 as_user "$PWD/open/secret.vtu" "$grid"
expect_error "secret.vtu.*Permission denied"
expect_error "1 of 2 files failed, 1 was written"
expect_file open/grid_predicted.vtu
mkdir open/locked && chmod 000 open/locked
expect 1 as_user "$PWD/open/locked"
expect_error "locked.*Permission denied"
expect_nothing_hidden
chmod 755 closed open/locked
