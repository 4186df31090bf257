#include "operators/field_error.h"

#include <algorithm>
#include <cmath>

namespace funcattn {

FieldError field_error(const Tensor& prediction, const Tensor& truth, const Tensor& weights) {
  const Tensor present = weights > 0;
  const Tensor w = (weights / weights.sum()).masked_select(present);
  const Tensor error = (prediction - truth).index({present});
  const Tensor known = truth.index({present});
  const auto weighted_mean_square = [&](const Tensor& values) {
    return (w.unsqueeze(1) * values.square()).sum().item<double>() /
           static_cast<double>(values.size(1));
  };
  const double mse = weighted_mean_square(error);
  const double size = std::sqrt(weighted_mean_square(known));
  return {std::sqrt(mse) / std::max(size, relative_l2_floor), mse,
          error.abs().max().item<double>()};
}

}  // namespace funcattn
