#pragma once

#include "operators/point_samples.h"
#include "operators/symmetries.h"

namespace funcattn {

/// The coordinates after one of the maps of the group. @param coordinates [...,D], D >= 2
/// @param element 0 (the identity) to group.order() - 1 @return [...,D], a tensor of its own
Tensor mapped(const Tensor& coordinates, const SymmetryGroup& group, int element);

/// The points with mapped coordinates; all else is shared.
PointSamples mapped(const PointSamples& points, const SymmetryGroup& group, int element);

}  // namespace funcattn
