#pragma once

#include <memory>

#include "examples/generate/generated_task.h"

namespace funcattn {

/// The solution of Burgers' equation at time 1 from its initial state.
std::unique_ptr<GeneratedTask> make_burgers_generation();

/// Weights of the trapezoidal rule on the circle for ascending places in [0, 1): half the distance
/// between the neighbours, across the seam too. They sum to 1.
std::vector<double> circle_weights(const std::vector<double>& x);

}  // namespace funcattn
