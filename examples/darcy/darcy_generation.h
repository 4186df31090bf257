#pragma once

#include <memory>

#include "examples/generate/generated_task.h"

namespace funcattn {

/// Pressure from permeability on unstructured meshes.
std::unique_ptr<GeneratedTask> make_darcy_generation();

}  // namespace funcattn
