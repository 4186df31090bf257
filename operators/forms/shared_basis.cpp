#include "operators/forms/shared_basis.h"

#include "operators/engine/training_function.h"

namespace funcattn {

BasisProjection::BasisProjection(torch::nn::Module& owner, Initialiser& initialiser,
                                 const ModelConfig& config, const std::string& slice_name,
                                 bool clamp)
    : heads(config.heads), clamp_temperature(clamp) {
  temperature = owner.register_parameter(
      "temperature", initialiser.constant({1, config.heads, 1, 1}, config.temperature));
  in_project_x = owner.register_module(
      "in_project_x", std::make_shared<Linear>(initialiser, config.width, config.width));
  in_project_fx = owner.register_module(
      "in_project_fx", std::make_shared<Linear>(initialiser, config.width, config.width));
  // Orthonormal rows: basis functions that start alike would learn alike.
  slice = owner.register_module(
      slice_name, std::make_shared<Linear>(initialiser, config.width / config.heads, config.basis,
                                           true, Linear::Start::orthonormal));
}

Tensor BasisProjection::basis(const Tensor& x) const {
  // Heads stay next to the channels ([B,N,H,k]) until the softmax is done: no copy is needed.
  const Tensor features = in_project_x->forward(x);
  const Tensor logits = slice->forward(
      features.view({features.size(0), features.size(1), heads, features.size(2) / heads}));
  const Tensor tau = clamp_temperature ? temperature.clamp(0.1, 5.0) : temperature;
  return partition_of_unity(logits, tau.view({heads, 1})).transpose(1, 2);
}

Tensor BasisProjection::field(const Tensor& x) const {
  return split_heads(in_project_fx->forward(x), heads);
}

SharedBasisAttention::SharedBasisAttention(Initialiser& initialiser, const ModelConfig& config,
                                           std::shared_ptr<const BasisProjection> tied)
    : mixing_(config.mixing),
      reference_points_(config.reference_points),
      relative_ridge_(config.relative_ridge) {
  const int channels = config.width / config.heads;
  projection_ =
      tied ? std::move(tied)
           : std::make_shared<const BasisProjection>(*this, initialiser, config, "slice1", true);
  alpha_ = register_parameter("alpha", initialiser.constant({1}, 0.0));
  to_q_ = register_module("to_q", std::make_shared<Linear>(initialiser, channels, channels, false));
  to_k_ = register_module("to_k", std::make_shared<Linear>(initialiser, channels, channels, false));
  to_v_ = register_module("to_v", std::make_shared<Linear>(initialiser, channels, channels, false));
  to_out_ = register_module("to_out", std::make_shared<LinearStack>(
                                          initialiser, std::vector<int>{config.width, config.width},
                                          Activation::gelu, false));
}

Tensor SharedBasisAttention::forward(const Tensor& x, const PointMeasure& measure) {
  const Tensor basis = projection_->basis(x);
  const Tensor coefficients =
      project(basis, projection_->field(x), measure, Coefficients::mean, reference_points_);
  const Tensor moved = mix_coefficients(mixing_, coefficients,
                                        {to_q_->weight(), to_k_->weight(), to_v_->weight(), alpha_},
                                        relative_ridge_);
  return to_out_->forward(join_heads(reconstruct(basis, moved)));
}

SharedBasisModel::SharedBasisModel(const ModelConfig& config, Initialiser& initialiser)
    : Model(config) {
  ResidualNetworkOptions options;
  options.lift_width = 2 * config.width;
  network_ = std::make_unique<ResidualNetwork>(*this, initialiser, config, options, [&] {
    return std::make_shared<SharedBasisAttention>(initialiser, config, nullptr);
  });
}

Tensor SharedBasisModel::predict(const PointSamples& source, const PointSamples&) {
  const Tensor features = point_features(source, config(), dtype(), "source");
  const Tensor by_panels = predict_for_training(*this, features, source.weights);
  if (by_panels.defined()) return by_panels;
  return network_->forward(features, PointMeasure(source.weights, dtype()));
}

}  // namespace funcattn
