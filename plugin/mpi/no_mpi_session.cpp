#include "core/error.h"
#include "plugin/mpi/mpi_session.h"

namespace funcattn {

struct MpiSession::Implementation {};

MpiSession::MpiSession(int*, char***) {
  if (started_processes() > 1)
    throw UsageError(
        "mpiexec started " + std::to_string(started_processes()) +
        " processes, but this funcattn was built without MPI and each would do all of the work; "
        "start it without mpiexec, or build it with VTK's module ParallelMPI and an MPI");
}

MpiSession::~MpiSession() = default;

ProcessGroup* MpiSession::processes() const {
  return nullptr;
}

bool MpiSession::is_available() {
  return false;
}

}  // namespace funcattn
