#include "operators/field_error.h"

#include <algorithm>
#include <cmath>

namespace funcattn {

FieldError field_error(const Tensor& prediction, const Tensor& truth, const Tensor& weights) {
  const Tensor present = weights > 0;
  const Tensor w = (weights / weights.sum()).masked_select(present);
  const Tensor error = (prediction - truth).index({present});
  const Tensor known = truth.index({present});
  // Scaled by the largest, since squares of numbers beyond 1e154 are infinite.
  const auto root_mean_square = [&](const Tensor& values) {
    const double largest = values.abs().max().item<double>();
    if (largest == 0 || !std::isfinite(largest)) return largest;
    return largest * std::sqrt((w.unsqueeze(1) * (values / largest).square()).sum().item<double>() /
                               static_cast<double>(values.size(1)));
  };
  const double rmse = root_mean_square(error);
  const double size = root_mean_square(known);
  return {rmse / std::max(size, relative_l2_floor), rmse * rmse, rmse,
          error.abs().max().item<double>()};
}

}  // namespace funcattn
