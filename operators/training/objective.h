#pragma once

#include <optional>
#include <vector>

#include "operators/operator.h"
#include "operators/training/loss.h"

namespace funcattn {

/// What training makes small: the loss of an operator's prediction against the targets.
///
/// relative_l2 (and its logarithm) is taken in physical units, with a floor of 1e-8 of the outputs'
/// scale; mse is divided by the square of the scale of each output, so that it is of order one in
/// any unit. All are computed in float64 from the prediction on, so that a large offset (a pressure
/// of 1e5 that varies by 1) costs no digits. cross_entropy is that of classes, the mean over the
/// outputs where there are several.
class Objective {
 public:
  /// `op` must outlive the objective. Throws UsageError where its outputs are classes and the loss
  /// is one of fields, or the reverse.
  /// @param label_smoothing of cross_entropy, from 0 up to 1
  Objective(const Operator& op, Loss loss, double label_smoothing = 0);

  /// Per-sample losses [B], float64, differentiable in the weights of the model.
  /// @param accuracy where not null, receives that of each sample [B] (accuracies()), the mean over
  ///   the outputs, if they are classes
  Tensor sample_losses(const Batch& batch, Tensor* accuracy = nullptr) const;

  /// Mean loss over samples without recording gradients. Samples of equal size are evaluated
  /// together, a bounded number of points at a time; none is padded.
  /// @param accuracy where not null, receives the mean over the samples with points that count, if
  ///   the outputs are classes and there are such samples
  double mean_loss(const std::vector<Sample>& samples,
                   std::optional<double>* accuracy = nullptr) const;

 private:
  Tensor class_losses(const Tensor& logits, const Batch& batch, Tensor* accuracy) const;

  const Operator& op_;
  Loss loss_;
  double label_smoothing_;
  double floor_ = 1e-8;
  Tensor inverse_scale_;  ///< [C_out]; undefined where every scale is 1.
};

/// Adds those of `values` [B] that are no NaN, and counts them.
void add_present(const Tensor& values, double& sum, std::int64_t& count);

}  // namespace funcattn
