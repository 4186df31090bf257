# Disks and files that are too small, streams that are closed: errors, and nothing half-written.
. "$(dirname "$0")/checks.sh"

limited() { (ulimit -f 1 && run "$@"); }
echo old >out.vtu
expect 1 limited "$grid" "${operator[@]}" -o out.vtu --compression none
expect_error "^funcattn run: .*cannot write 'out.vtu': .*(too large|space)"
[ "$(cat out.vtu)" = old ] || fail "the old file is gone"
expect_nothing_hidden

# A reader that went away stops no work.
mkdir predictions
find "$FIXTURES/meshes" -name 'step_*.vtu' | sort >files
run - "${operator[@]}" -o predictions <files 2>errors | head -c 1 >/dev/null
expect_file predictions/step_9.vtu
expect_file predictions/step_10.vtu
closed_output() { run "$grid" "${operator[@]}" -o closed.vtu >&-; }
expect 1 closed_output
expect_error "cannot write the results to standard output"
expect_file closed.vtu

closed_input() { run - "${operator[@]}" <&-; }
expect 1 closed_input
expect_error "the list on standard input lists no file"
closed_all() { run "$grid" "${operator[@]}" -o all.vtu <&- >&- 2>&-; }
expect 1 closed_all
expect_file all.vtu
cmp -s all.vtu closed.vtu || fail "results went into the mesh"
expect_nothing_hidden

no_memory_folder() { TMPDIR=/nope run "$grid" "${operator[@]}" --memory spilled; }
expect 1 no_memory_folder
expect_error "cannot create a temporary file in '/nope': .*; choose another folder for temporary files .--spill-folder"
expect_no_file grid_predicted.vtu
