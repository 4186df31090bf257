#pragma once

#include "core/process_group.h"
#include "operators/torch_compat.h"

namespace funcattn {

/// How far a prediction is from the truth on one sample.
struct FieldError {
  double relative_l2 = 0;  ///< |p - t| / |t| in the weighted L2 norm.
  double mse = 0;          ///< Weighted mean square over points and components.
  double rmse = 0;         ///< Its root, also where the square is beyond the range of double.
  double max_error = 0;    ///< Largest absolute error at any point of positive weight.
};

/// Norms of truths below this are taken as this, so that a zero field gives a number.
inline constexpr double relative_l2_floor = 1e-12;

/// @param prediction, truth [M,C], float64
/// @param weights [M], float64, >= 0; points of weight 0 do not count. Only ratios matter.
/// @param processes that hold the other points of the sample, which call it together
FieldError field_error(const Tensor& prediction, const Tensor& truth, const Tensor& weights,
                       ProcessGroup* processes = nullptr);

}  // namespace funcattn
