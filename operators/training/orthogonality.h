#pragma once

#include "operators/attention_observer.h"
#include "operators/model.h"

namespace funcattn {

/// How far basis functions are from being orthogonal: ||G - I||_F^2 / k^2, mean over the heads,
/// with G_jl = <B_j, B_l> / (|B_j| |B_l|) and <f, g> = sum_i w_i f_i g_i. From 0, orthogonal, to 1
/// - 1/k, all alike. Points of weight 0 take no part; a function that is 0 at all others is
/// orthogonal to any. Differentiable.
/// @param basis [B,H,N,k], weights [B,N]
/// @return [B] float64
Tensor orthogonality_defect(const Tensor& basis, const Tensor& weights);

/// Adds up the defect of a model's layers: that of a layer is the mean over its bases, that of the
/// model the mean over its layers.
class OrthogonalityObserver final : public AttentionObserver {
 public:
  void observe(const AttentionRecord& record) override;
  /// [B]; at least one layer must have been seen.
  Tensor defect() const;

 private:
  Tensor sum_;
  int layers_ = 0;
};

/// Throws UsageError where a penalty of such a `weight` (0: none) has no learned basis to act on.
void check_orthogonality(double weight, const ModelConfig& config);

}  // namespace funcattn
