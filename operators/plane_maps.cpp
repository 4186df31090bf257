#include "operators/plane_maps.h"

namespace funcattn {

// Bits of the element: reflect the first axis, the second, exchange them.
Tensor mapped(const Tensor& coordinates, const SymmetryGroup& group, int element) {
  Tensor result = coordinates.clone();
  const bool exchanges = (element & 4) != 0;
  for (std::int64_t axis = 0; axis < 2; ++axis) {
    const auto index = static_cast<std::size_t>(axis);
    const std::int64_t from = exchanges ? 1 - axis : axis;
    const double sign = ((element >> index) & 1) != 0 ? -1 : 1;
    const Tensor offset =
        coordinates.select(-1, from) - group.center[static_cast<std::size_t>(from)];
    result.select(-1, axis).copy_(sign * offset + group.center[index]);
  }
  return result;
}

PointSamples mapped(const PointSamples& points, const SymmetryGroup& group, int element) {
  PointSamples result = points;
  result.coordinates = mapped(points.coordinates, group, element);
  return result;
}

}  // namespace funcattn
