#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "operators/forms/layers.h"

// The network around the attention in `shared_basis`, `shared_basis_tied`, `segmentation` and
// `paper`: lifting, pre-norm residual blocks, and an output layer.

namespace funcattn {

/// The points at which an attention acts.
struct PointContext {
  const PointMeasure& measure;
  Tensor coordinates;                     ///< [B,N,D]
  AttentionObserver* observer = nullptr;  ///< May be null.
};

/// Self-attention over the points of each sample.
class PointAttention : public torch::nn::Module {
 public:
  /// @param x [B,N,width]
  /// @return [B,N,width]
  virtual Tensor forward(const Tensor& x, const PointContext& points) = 0;
};

/// x = x + attention(LN1(x)); x = x + MLP(LN2(x)); the last block may end in LN3 and a Linear.
class ResidualBlock : public torch::nn::Module {
 public:
  /// @param attention_name the name under which the attention's parameters are registered
  /// @param out_features of the final LayerNorm + Linear (`ln_3`, `mlp2`); 0: none
  ResidualBlock(Initialiser& initialiser, int width, int mlp_ratio,
                const std::string& attention_name, std::shared_ptr<PointAttention> attention,
                int out_features);
  Tensor forward(Tensor x, const PointContext& points);

 private:
  std::shared_ptr<LayerNorm> ln_1_, ln_2_, ln_3_;
  std::shared_ptr<PointAttention> attention_;
  std::shared_ptr<Mlp> mlp_;
  std::shared_ptr<Linear> mlp2_;
};

struct ResidualNetworkOptions {
  std::string attention_name = "Attn";
  int lift_width = 0;          ///< Hidden width of the pre-MLP.
  int lift_depth = 0;          ///< Residual layers in the pre-MLP.
  bool ends_in_output = true;  ///< The last block ends in LayerNorm + Linear to the outputs.
};

using MakeAttention = std::function<std::shared_ptr<PointAttention>()>;

/// Pre-MLP (`preprocess`) plus `placeholder`, then `blocks.i`.
class ResidualNetwork {
 public:
  /// Registers its parts in `owner`.
  ResidualNetwork(torch::nn::Module& owner, Initialiser& initialiser, const ModelConfig& config,
                  const ResidualNetworkOptions& options, const MakeAttention& make_attention);
  /// @param features [B,N,in_features], as point_features() gives them
  /// @param observer may be null
  Tensor forward(const Tensor& features, const PointMeasure& measure,
                 AttentionObserver* observer) const;

 private:
  Tensor placeholder_;
  int coordinate_dimension_;
  std::shared_ptr<Mlp> preprocess_;
  std::vector<std::shared_ptr<ResidualBlock>> blocks_;
};

/// A model of point features, a residual network, and what turns its last block into the outputs.
class ResidualModel : public Model {
 public:
  ResidualModel(const ModelConfig& config, Initialiser& initialiser);
  bool has_engine() const override {
    return config().attention == Attention::functional && !config().learned_frequencies;
  }
  Tensor predict(const PointSamples& source, const PointSamples& query) override;
  Tensor predict_observed(const PointSamples& source, const PointSamples& query,
                          AttentionObserver& observer) override;

 protected:
  /// @param x result of the last block
  virtual Tensor head(const Tensor& x) const { return x; }

  std::unique_ptr<ResidualNetwork> network_;

 private:
  Tensor features_of(const PointSamples& source) const;
  Tensor forward(const Tensor& features, const PointSamples& source,
                 AttentionObserver* observer) const;

  Tensor frequencies_;  ///< [D sinusoids]; undefined where they are not learned.
};

}  // namespace funcattn
