#pragma once

#include <memory>
#include <vector>

#include "operators/forms/few_shot_kernel.h"
#include "operators/forms/layers.h"

namespace funcattn {

/// (1 - r) Gram + r I as published, or a ridge relative to the keys' scale.
Regularisation few_shot_regularisation(double ridge, bool relative);

/// The authors' few-shot regression: a function is known at a few context points (the source) and
/// wanted at the queries, which act directly, without a basis of their own. Linear in the context
/// values, which never enter the encoder: value_features = out_features.
///
/// Every basis function is a softmax over the *context points*, in which a point's weight
/// multiplies its exponential; equal weights are the published form. Keys are basis-weighted means
/// of encoded context coordinates.
class FewShotModel : public Model {
 public:
  FewShotModel(const ModelConfig& config, Initialiser& initialiser);
  bool separates_query() const override { return true; }
  bool has_engine() const override { return true; }
  Tensor predict(const PointSamples& source, const PointSamples& query) override;
  Tensor predict_observed(const PointSamples& source, const PointSamples& query,
                          AttentionObserver& observer) override;

  /// predict() in tensor operations, which serve every device and size, on checked samples.
  /// @param observer may be null
  Tensor predict_by_operations(const PointSamples& source, const PointSamples& query,
                               AttentionObserver* observer = nullptr);
  /// predict() as one operation, on checked samples; undefined where that does not apply.
  Tensor predict_by_kernel(const PointSamples& source, const PointSamples& query);

 private:
  void check(const PointSamples& source, const PointSamples& query) const;
  /// What the encoder sees of coordinates [B,N,D]: themselves, or their sines and cosines.
  Tensor encoder_input(const Tensor& coordinates) const;

  Tensor frequencies_;  ///< [D,F] learned angular frequencies; undefined where there are none.
  std::shared_ptr<LinearStack> encoder_;
  std::shared_ptr<Linear> slice_;
  Tensor temperature_;  ///< [1,1,1], clamped to [0.1, 5].
  Regularisation regularisation_;
  std::vector<Tensor> kernel_parameters_;  ///< As few_shot_kernel() takes them.
};

}  // namespace funcattn
