#pragma once

#include <string>

#include "operators/torch_compat.h"

namespace funcattn {

enum class Loss { mse, relative_l2, log_relative_l2 };

const char* to_string(Loss loss);
/// Throws UsageError with the known names.
Loss loss_from_string(const std::string& text);

/// Loss over the points of positive weight, one number per sample, so that it does not depend on
/// how samples are put into batches.
/// mse: weighted mean of squared differences over points and channels.
/// relative_l2: sqrt(sum w |p - t|^2) / max(sqrt(sum w |t|^2), floor * sqrt(sum w)), whose gradient
/// at an exact fit is 0, not NaN.
/// log_relative_l2: log(relative_l2^2 + 1e-12). Halving an error counts alike at every size of it,
/// for targets that can be met to many digits; negative where they are.
/// @param prediction, target [B,M,C]; what they hold at weight 0 (NaN included) is ignored
/// @param weights [B,M], >= 0
/// @param floor in the units of the target
/// @return [B], float64 whatever the dtype of the input; NaN for a sample without any point of
///   positive weight. Throws UsageError where the shapes do not fit.
Tensor sample_losses(Loss loss, const Tensor& prediction, const Tensor& target,
                     const Tensor& weights, double floor = 1e-8);

}  // namespace funcattn
