#include "operators/field_error.h"

#include <algorithm>
#include <cmath>

namespace funcattn {

FieldError field_error(const Tensor& prediction, const Tensor& truth, const Tensor& weights,
                       ProcessGroup* processes) {
  const Tensor present = weights > 0;
  const double sum = total_of_all(processes, weights.sum().item<double>());
  const Tensor w = (weights / sum).masked_select(present);
  const Tensor error = (prediction - truth).index({present});
  const Tensor known = truth.index({present});
  const auto largest_of = [&](const Tensor& values) {
    return largest_of_all(processes, values.numel() == 0 ? 0.0 : values.abs().max().item<double>());
  };
  // Scaled by the largest, since squares of numbers beyond 1e154 are infinite.
  const auto root_mean_square = [&](const Tensor& values, double largest) {
    if (largest == 0 || !std::isfinite(largest)) return largest;
    const double squares = (w.unsqueeze(1) * (values / largest).square()).sum().item<double>();
    return largest *
           std::sqrt(total_of_all(processes, squares) / static_cast<double>(values.size(1)));
  };
  const double max_error = largest_of(error);
  const double rmse = root_mean_square(error, max_error);
  const double size = root_mean_square(known, largest_of(known));
  return {rmse / std::max(size, relative_l2_floor), rmse * rmse, rmse, max_error};
}

}  // namespace funcattn
