#pragma once

#include <string>

#include "core/process_group.h"
#include "operators/classes.h"

namespace funcattn {

enum class Loss { mse, relative_l2, log_relative_l2, cross_entropy };

const char* to_string(Loss loss);
/// Throws UsageError with the known names.
Loss loss_from_string(const std::string& text);

/// Loss of fields over the points of positive weight, one number per sample, so that it does not
/// depend on how samples are put into batches. mse: weighted mean of squared differences over
/// points and channels. relative_l2: sqrt(sum w |p - t|^2) / max(sqrt(sum w |t|^2), floor *
/// sqrt(sum w)), whose gradient at an exact fit is 0, not NaN. log_relative_l2: log(relative_l2^2 +
/// 1e-12). Halving an error counts alike at every size of it, for targets that can be met to many
/// digits; negative where they are.
/// @param prediction, target [B,M,C]; what they hold at weight 0 (NaN included) is ignored
/// @param weights [B,M], >= 0
/// @param floor in the units of the target
/// @param processes that hold other points of the samples and call it together, null: none. All get
///   the losses of the whole samples, differentiable in the prediction here.
/// @return [B], float64 whatever the dtype of the input; NaN for a sample without any point of
///   positive weight. Throws UsageError where the shapes do not fit, and for cross_entropy.
Tensor sample_losses(Loss loss, const Tensor& prediction, const Tensor& target,
                     const Tensor& weights, double floor = 1e-8, ProcessGroup* processes = nullptr);

/// Cross-entropy of classes: per sample the weighted mean over its points of -log p, p the share
/// that softmax gives to the class of the point, over the points of positive weight whose class is
/// known; 0 for a sample that has none. With smoothing s the truth at a point is (1 - s) times its
/// class plus s / C times every class.
/// @param logits [B,M,C]; what they hold where a point does not count (NaN included) is ignored
/// @param classes [B,M], int64, 0 to C-1; negative: not known
/// @param weights [B,M], >= 0
/// @param smoothing from 0 up to, not including, 1
/// @return [B], float64. Throws UsageError where the shapes do not fit.
Tensor cross_entropies(const Tensor& logits, const Tensor& classes, const Tensor& weights,
                       double smoothing = 0);

/// Share of the points of positive weight, each counting alike, whose largest logit is that of
/// their class; points of class_unknown count as wrong, those of class_ignored not at all.
/// @return [B], float64; NaN for a sample without points that count
Tensor accuracies(const Tensor& logits, const Tensor& classes, const Tensor& weights);

}  // namespace funcattn
