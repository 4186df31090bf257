#pragma once

#include <memory>
#include <vector>

#include "operators/forms/layers.h"

namespace funcattn {

/// The notebook's attention: heads of full width, softmax jointly over the functions of all heads,
/// coefficients that are plain sums, and an operator from query to value coefficients. The keys
/// enter through their basis only.
class SumCoefficientsAttention : public torch::nn::Module {
 public:
  SumCoefficientsAttention(Initialiser& initialiser, const ModelConfig& config);
  /// @param observer may be null
  Tensor forward(const Tensor& x, const PointMeasure& measure, AttentionObserver* observer);

 private:
  std::shared_ptr<Linear> q_proj_, k_proj_, v_proj_, q_basis_proj_, k_basis_proj_, output_;
  Regularisation regularisation_;
  int heads_;
};

/// a = LN1(x) + attention(x); y = LN2(a); y + FFN(y).
class SumCoefficientsBlock : public torch::nn::Module {
 public:
  SumCoefficientsBlock(Initialiser& initialiser, const ModelConfig& config);
  Tensor forward(const Tensor& x, const PointMeasure& measure, AttentionObserver* observer);

 private:
  std::shared_ptr<LayerNorm> norm1_, norm2_;
  std::shared_ptr<SumCoefficientsAttention> attn_;
  std::shared_ptr<LinearStack> ffn_;
};

/// The notebook implementation. Its coefficients grow with the number of points: kept to reproduce
/// published results, not for use across resolutions. Weights only tell which points are there.
class SumCoefficientsModel : public Model {
 public:
  SumCoefficientsModel(const ModelConfig& config, Initialiser& initialiser);
  bool has_engine() const override { return true; }
  Tensor predict(const PointSamples& source, const PointSamples& query) override;
  Tensor predict_observed(const PointSamples& source, const PointSamples& query,
                          AttentionObserver& observer) override;

 private:
  Tensor forward(const PointSamples& source, AttentionObserver* observer) const;

  std::shared_ptr<LinearStack> encoder_;
  std::vector<std::shared_ptr<SumCoefficientsBlock>> blocks_;
  std::shared_ptr<Linear> output_proj_;
};

}  // namespace funcattn
