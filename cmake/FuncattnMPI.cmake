# MPI, through VTK, for the command on several processes. All else does without.
option(FUNCATTN_MPI "Build the command for several processes, where VTK and MPI are there" ON)
set(FUNCATTN_WITH_MPI OFF)
if(NOT FUNCATTN_MPI)
  set(FUNCATTN_MPI_STATUS "left out: FUNCATTN_MPI is OFF")
else()
  # A call of its own: what links all of VTK must not get MPI with it.
  set(libraries_without_mpi ${VTK_LIBRARIES})
  find_package(VTK ${VTK_VERSION} QUIET COMPONENTS ParallelMPI IOParallelXML)
  set(VTK_LIBRARIES ${libraries_without_mpi})
  find_program(FUNCATTN_MPIEXEC NAMES mpiexec.openmpi mpiexec)
  if(TARGET VTK::ParallelMPI)
    set(FUNCATTN_WITH_MPI ON)
    set(FUNCATTN_MPI_STATUS "VTK::ParallelMPI, ${FUNCATTN_MPIEXEC}")
  else()
    set(FUNCATTN_MPI_STATUS
        "left out: VTK's module ParallelMPI or MPI is not there (openmpi-bin, libopenmpi-dev)")
  endif()
endif()
