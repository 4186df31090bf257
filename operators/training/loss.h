#pragma once

#include <string>

#include "operators/torch_compat.h"

namespace funcattn {

enum class Loss { mse, relative_l2 };

const char* to_string(Loss loss);
Loss loss_from_string(const std::string& text);

/// Loss over the points of positive weight, first per sample, then the mean over samples.
/// mse: weighted mean of squared differences over points and channels.
/// relative_l2: sqrt(sum w |p - t|^2) / max(sqrt(sum w |t|^2), floor * sqrt(sum w)), whose gradient
/// at an exact fit is 0, not NaN.
/// @param prediction, target [B,M,C]; what they hold at weight 0 (NaN included) is ignored
/// @param weights [B,M], >= 0
/// @return per-sample losses [B]
Tensor sample_losses(Loss loss, const Tensor& prediction, const Tensor& target,
                     const Tensor& weights, double floor = 1e-8);

}  // namespace funcattn
