#pragma once

#include <memory>

#include "core/process_group.h"

namespace funcattn {

/// The part of a program in which MPI is in use, if mpiexec (or srun, ...) started it; otherwise
/// nothing happens. One per program, around all else.
class MpiSession {
 public:
  /// Throws UsageError if mpiexec started several processes and the library was built without MPI.
  MpiSession(int* argc, char*** argv);
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  /// All that were started together; null where this process is alone.
  ProcessGroup* processes() const;

  /// Whether the library was built with MPI.
  static bool is_available();

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// Processes that mpiexec says it started, 1 where it did not start this one.
int started_processes();

}  // namespace funcattn
