#include <algorithm>
#include <cstdlib>

#include "plugin/mpi/mpi_session.h"

namespace funcattn {

int started_processes() {
  // Open MPI; MPICH, Intel MPI and srun with PMI; MVAPICH.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"})
    if (const char* value = std::getenv(name)) return std::max(1, std::atoi(value));
  // srun with PMIx says it in the number of its tasks.
  const char* tasks = std::getenv("PMIX_RANK") ? std::getenv("SLURM_STEP_NUM_TASKS") : nullptr;
  return tasks ? std::max(1, std::atoi(tasks)) : 1;
}

}  // namespace funcattn
