# For the scripts of this folder: runs in an empty folder, with $FUNCATTN and $FIXTURES.
set -u
run() { "$FUNCATTN" run "$@" --threads 1; }
operator=(--operator "$FIXTURES/surrogate.safetensors")
grid=$FIXTURES/grid.vtu

. "$(dirname "${BASH_SOURCE[0]}")/expectations.sh"
