#pragma once

#include <cstdint>
#include <memory>

#include "meshio/sampling.h"
#include "operators/training/augmentation.h"

namespace funcattn {

/// Leaves `count` points of a sample, drawn anew each time, each with the weights of the points of
/// positive weight that are nearer to it than to the others. Samples of at most as many points of
/// positive weight stay as they are.
///
/// Throws UsageError for a count < 1; applied to samples whose queries differ from their source
/// too.
std::shared_ptr<const Augmentation> make_point_subset(std::int64_t count, SamplingMethod method);

}  // namespace funcattn
