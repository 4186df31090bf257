#pragma once

#include <memory>

#include "examples/generate/generated_task.h"

namespace funcattn {

/// Which part of a figure a point of its surface belongs to.
std::unique_ptr<GeneratedTask> make_parts_generation();

}  // namespace funcattn
