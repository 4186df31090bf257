#include "operators/forms/residual_network.h"

#include "core/error.h"
#include "operators/engine/training_function.h"

namespace funcattn {

namespace {
constexpr double pi = 3.14159265358979323846;
}

ResidualBlock::ResidualBlock(Initialiser& initialiser, int width, int mlp_ratio,
                             const std::string& attention_name,
                             std::shared_ptr<PointAttention> attention, int out_features) {
  ln_1_ = register_module("ln_1", std::make_shared<LayerNorm>(initialiser, width));
  attention_ = register_module(attention_name, std::move(attention));
  ln_2_ = register_module("ln_2", std::make_shared<LayerNorm>(initialiser, width));
  mlp_ =
      register_module("mlp", std::make_shared<Mlp>(initialiser, width, width * mlp_ratio, width));
  if (out_features > 0) {
    ln_3_ = register_module("ln_3", std::make_shared<LayerNorm>(initialiser, width));
    mlp2_ = register_module("mlp2", std::make_shared<Linear>(initialiser, width, out_features));
  }
}

Tensor ResidualBlock::forward(Tensor x, const PointContext& points) {
  x = attention_->forward(ln_1_->forward(x), points).add_(x);
  x = mlp_->forward(ln_2_->forward(x)).add_(x);
  return mlp2_ ? mlp2_->forward(ln_3_->forward(x)) : x;
}

ResidualNetwork::ResidualNetwork(torch::nn::Module& owner, Initialiser& initialiser,
                                 const ModelConfig& config, const ResidualNetworkOptions& options,
                                 const MakeAttention& make_attention)
    : coordinate_dimension_(config.coordinate_dimension) {
  placeholder_ = owner.register_parameter(
      "placeholder", initialiser.uniform({config.width}, 0.0, 1.0 / config.width));
  preprocess_ = owner.register_module(
      "preprocess", std::make_shared<Mlp>(initialiser, config.in_features(), options.lift_width,
                                          config.width, options.lift_depth));
  const auto list = owner.register_module("blocks", std::make_shared<torch::nn::Module>());
  for (int i = 0; i < config.blocks; ++i) {
    const bool is_output = options.ends_in_output && i + 1 == config.blocks;
    blocks_.push_back(list->register_module(
        std::to_string(i), std::make_shared<ResidualBlock>(
                               initialiser, config.width, config.mlp_ratio, options.attention_name,
                               make_attention(), is_output ? config.out_features : 0)));
  }
}

Tensor ResidualNetwork::forward(const Tensor& features, const PointMeasure& measure,
                                AttentionObserver* observer) const {
  Tensor x = preprocess_->forward(features) + placeholder_;
  const PointContext points{measure, features.narrow(2, 0, coordinate_dimension_), observer};
  for (const auto& block : blocks_) x = block->forward(x, points);
  return x;
}

ResidualModel::ResidualModel(const ModelConfig& config, Initialiser& initialiser) : Model(config) {
  // One axis: weight decay, which is for matrices, leaves them alone.
  if (config.learned_frequencies)
    frequencies_ = register_parameter("frequencies",
                                      initialiser.even(pi, pi * config.sinusoids, config.sinusoids)
                                          .repeat({config.coordinate_dimension}));
}

Tensor ResidualModel::predict(const PointSamples& source, const PointSamples&) {
  const Tensor at_points = features_of(source);
  if (has_engine()) {
    const Tensor by_panels = predict_for_training(*this, at_points, source.weights);
    if (by_panels.defined()) return by_panels;
  }
  return forward(at_points, source, nullptr);
}

Tensor ResidualModel::predict_observed(const PointSamples& source, const PointSamples&,
                                       AttentionObserver& observer) {
  const Attention attention = config().attention;
  if (attention != Attention::functional && attention != Attention::fourier &&
      attention != Attention::softmax)
    throw UsageError(std::string("attention ") + to_string(attention) +
                     " has neither basis functions nor weights between points to look into; give "
                     "an operator with functional, fourier or softmax attention");
  return forward(features_of(source), source, &observer);
}

Tensor ResidualModel::features_of(const PointSamples& source) const {
  return point_features(source, config(), dtype(), "source", frequencies_);
}

Tensor ResidualModel::forward(const Tensor& features, const PointSamples& source,
                              AttentionObserver* observer) const {
  return head(network_->forward(features, PointMeasure(source.weights, dtype()), observer));
}

}  // namespace funcattn
