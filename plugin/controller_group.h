#pragma once

#include <memory>

#include "core/process_group.h"

class vtkMultiProcessController;

namespace funcattn {

/// The processes of a VTK controller as a group; null where the controller is null or has but one.
/// The controller must outlive it.
std::unique_ptr<ProcessGroup> group_of(vtkMultiProcessController* controller);

}  // namespace funcattn
