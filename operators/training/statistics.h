#pragma once

#include <string>
#include <vector>

#include "core/process_group.h"
#include "operators/contract.h"
#include "operators/point_samples.h"

namespace funcattn {

/// Mean and standard deviation per channel over the points of positive weight of all samples, each
/// sample counting alike, in float64 by two passes; the result does not depend on the order of the
/// samples or points beyond rounding, nor on the number of threads at all. A constant channel
/// (standard deviation at most 1e-12 of the largest magnitude) has scale 1. Throws DataError,
/// naming the sample, on non-finite values, negative weights, a sample without points or with
/// another number of channels, and on an empty list; UsageError where the lists differ in length.
/// @param channels one [N,C] tensor per sample; what it holds at weight 0 is ignored
/// @param weights one [N] tensor per sample
/// @param pieces the processes that hold the other points of the samples and call it together;
/// null:
///   all points are here
Normalisation channel_statistics(const std::vector<std::string>& names,
                                 const std::vector<Tensor>& channels,
                                 const std::vector<Tensor>& weights,
                                 ProcessGroup* pieces = nullptr);

}  // namespace funcattn
