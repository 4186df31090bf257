#pragma once

#include <memory>

#include "examples/generate/generated_task.h"

namespace funcattn {

/// f(x) = alpha sin(x - gamma) from a few known points.
std::unique_ptr<GeneratedTask> make_sine_generation();

}  // namespace funcattn
