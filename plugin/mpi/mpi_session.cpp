#include "plugin/mpi/mpi_session.h"

#include <vtkMPIController.h>
#include <vtkNew.h>

#include "plugin/controller_group.h"

namespace funcattn {

struct MpiSession::Implementation {
  vtkNew<vtkMPIController> controller;
  std::unique_ptr<ProcessGroup> processes;
};

MpiSession::MpiSession(int* argc, char*** argv) {
  if (started_processes() < 2) return;
  implementation_ = std::make_unique<Implementation>();
  implementation_->controller->Initialize(argc, argv, 0);
  implementation_->processes = group_of(implementation_->controller);
}

MpiSession::~MpiSession() {
  // Waits for the others: the first one to end with a failure would make mpiexec end those that
  // still have something to say.
  if (implementation_) implementation_->controller->Finalize();
}

ProcessGroup* MpiSession::processes() const {
  return implementation_ ? implementation_->processes.get() : nullptr;
}

bool MpiSession::is_available() {
  return true;
}

}  // namespace funcattn
