#pragma once

#include <vector>

#include "operators/contract.h"
#include "operators/point_samples.h"

namespace funcattn {

/// Mean and standard deviation per channel over the points of positive weight of all samples, each
/// sample counting alike, in float64 by two passes; the result does not depend on the order of the
/// samples beyond rounding. A constant channel has scale 1. Throws DataError, naming the sample, on
/// non-finite values or a sample without points, and on an empty list.
/// @param channels one [N,C] tensor per sample; weights one [N] tensor per sample
Normalisation channel_statistics(const std::vector<std::string>& names,
                                 const std::vector<Tensor>& channels,
                                 const std::vector<Tensor>& weights);

}  // namespace funcattn
