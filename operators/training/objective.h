#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "operators/operator.h"
#include "operators/training/loss.h"

namespace funcattn {

/// Losses of samples, added up, and of classes how often they were right.
struct LossSum {
  double sum = 0;
  std::int64_t samples = 0;
  double right = 0;         ///< Sum of the accuracies of samples.
  std::int64_t judged = 0;  ///< Samples that have one.

  double mean() const { return sum / static_cast<double>(samples); }  ///< NaN without samples.
  std::optional<double> accuracy() const {
    return judged > 0 ? std::optional(right / static_cast<double>(judged)) : std::nullopt;
  }
  /// Adds the accuracies [B] that are no NaN.
  void judge(const Tensor& accuracies);
};

struct ObjectiveSettings {
  double label_smoothing = 0;  ///< Of cross_entropy, from 0 up to 1.
  /// Weight of the defect of the learned bases (OrthogonalityObserver) in what training makes
  /// small.
  double orthogonality = 0;
  /// The processes that hold pieces of each sample; null: samples are whole.
  ProcessGroup* pieces = nullptr;
};

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
  /// is one of fields, or the reverse, where there is a weight of orthogonality without bases, and
  /// for classes or such a weight with samples in pieces.
  Objective(const Operator& op, Loss loss, const ObjectiveSettings& settings = {});

  /// Per-sample losses [B], float64, differentiable in the weights of the model. Of samples in
  /// pieces all processes get the losses of the whole ones and, added up, their gradients; throws
  /// UsageError for models that do not learn from pieces, see predict_in_pieces_for_training().
  /// @param accuracy where not null, receives that of each sample [B] (accuracies()), the mean over
  ///   the outputs, if they are classes
  Tensor sample_losses(const Batch& batch, Tensor* accuracy = nullptr) const;

  /// The same with the penalty, where it has a weight. Its prediction is then by tensor operations,
  /// which keep the bases for the backward.
  Tensor training_losses(const Batch& batch, Tensor* accuracy = nullptr) const;

  /// Sum of the losses of samples without recording gradients. Samples of equal size are evaluated
  /// together, a bounded number of points at a time; none is padded.
  LossSum total_loss(const std::vector<Sample>& samples) const;
  /// The same divided by their number; NaN without any.
  double mean_loss(const std::vector<Sample>& samples) const { return total_loss(samples).mean(); }

 private:
  Tensor predict(const Batch& batch) const;
  Tensor predict_in_pieces(const Batch& batch) const;
  Tensor losses(const Tensor& normalised_prediction, const Batch& batch, Tensor* accuracy) const;
  Tensor class_losses(const Tensor& logits, const Batch& batch, Tensor* accuracy) const;

  const Operator& op_;
  Loss loss_;
  ObjectiveSettings settings_;
  double floor_ = 1e-8;
  Tensor inverse_scale_;  ///< [C_out]; undefined where every scale is 1.
};

}  // namespace funcattn
