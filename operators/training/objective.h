#pragma once

#include <vector>

#include "operators/operator.h"
#include "operators/training/loss.h"

namespace funcattn {

/// What training makes small: the loss of an operator's prediction against the targets.
///
/// relative_l2 (and its logarithm) is taken in physical units, with a floor of 1e-8 of the outputs'
/// scale; mse is divided by the square of the scale of each output, so that it is of order one in
/// any unit. All are computed in float64 from the prediction on, so that a large offset (a pressure
/// of 1e5 that varies by 1) costs no digits.
class Objective {
 public:
  /// `op` must outlive the objective.
  Objective(const Operator& op, Loss loss);

  /// Per-sample losses [B], float64, differentiable in the weights of the model.
  Tensor sample_losses(const Batch& batch) const;

  /// Mean loss over samples without recording gradients. Samples of equal size are evaluated
  /// together, a bounded number of points at a time; none is padded.
  double mean_loss(const std::vector<Sample>& samples) const;

 private:
  const Operator& op_;
  Loss loss_;
  double floor_ = 1e-8;
  Tensor inverse_scale_;  ///< [C_out]; undefined where every scale is 1.
};

}  // namespace funcattn
