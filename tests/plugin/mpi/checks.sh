# For the scripts of this folder: runs in an empty folder, with $FUNCATTN, $PIECES_TOOL, $CASES (made
# by it) and $MPIEXEC.
set -u
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# More processes than cores, none of which waits for a network or keeps a core while it waits.
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_btl_vader_single_copy_mechanism=none
# ranks N ARGUMENTS...: the command on so many processes; ended where it hangs.
ranks() {
  local number=$1
  shift
  timeout 120 "$MPIEXEC" -n "$number" "$FUNCATTN" "$@"
}
. "$(dirname "${BASH_SOURCE[0]}")/../cli/expectations.sh"
