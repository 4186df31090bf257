#include "operators/forms/shared_basis.h"

#include "operators/forms/token_attention.h"

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
  if (config.bases == Bases::shared) return;
  if (config.bases == Bases::separate)
    in_project_out = owner.register_module(
        "in_project_out", std::make_shared<Linear>(initialiser, config.width, config.width));
  slice_out = owner.register_module(
      slice_name + "_out",
      std::make_shared<Linear>(initialiser, config.width / config.heads, config.basis, true,
                               Linear::Start::orthonormal));
}

Tensor BasisProjection::basis(const Tensor& x) const {
  return basis(*in_project_x, *slice, x);
}

Tensor BasisProjection::reconstruction_basis(const Tensor& x, const Tensor& basis) const {
  if (!slice_out) return basis;
  return this->basis(in_project_out ? *in_project_out : *in_project_x, *slice_out, x);
}

Tensor BasisProjection::basis(const Linear& project, const Linear& to_logits,
                              const Tensor& x) const {
  // Heads stay next to the channels ([B,N,H,k]) until the softmax is done: no copy is needed.
  const Tensor features = project.forward(x);
  const Tensor logits = to_logits.forward(
      features.view({features.size(0), features.size(1), heads, features.size(2) / heads}));
  const Tensor tau = clamp_temperature ? temperature.clamp(0.1, 5.0) : temperature;
  return partition_of_unity(logits, tau.view({heads, 1})).transpose(1, 2);
}

Tensor BasisProjection::field(const Tensor& x) const {
  return split_heads(in_project_fx->forward(x), heads);
}

SharedBasisAttention::SharedBasisAttention(Initialiser& initialiser, const ModelConfig& config,
                                           std::shared_ptr<const BasisProjection> tied)
    : blend_(config.blend),
      mixing_(config.mixing),
      reference_points_(config.reference_points),
      relative_ridge_(config.relative_ridge) {
  const int channels = config.width / config.heads;
  projection_ =
      tied ? std::move(tied)
           : std::make_shared<const BasisProjection>(*this, initialiser, config, "slice1", true);
  if (!blend_) alpha_ = register_parameter("alpha", initialiser.constant({1}, 0.0));
  to_q_ = register_module("to_q", std::make_shared<Linear>(initialiser, channels, channels, false));
  to_k_ = register_module("to_k", std::make_shared<Linear>(initialiser, channels, channels, false));
  to_v_ = register_module("to_v", std::make_shared<Linear>(initialiser, channels, channels, false));
  to_out_ = register_module("to_out", std::make_shared<LinearStack>(
                                          initialiser, std::vector<int>{config.width, config.width},
                                          Activation::gelu, false));
}

Tensor SharedBasisAttention::forward(const Tensor& x, const PointContext& points) {
  const Tensor basis = projection_->basis(x);
  const Tensor coefficients =
      project(basis, projection_->field(x), points.measure, Coefficients::mean, reference_points_);
  const MixingMaps maps{to_q_->weight(), to_k_->weight(), to_v_->weight(),
                        blend_ ? fixed_alpha(*blend_, to_q_->weight()) : alpha_};
  const Tensor moved = mix_coefficients(mixing_, coefficients, maps, relative_ridge_);
  const Tensor reconstruction = projection_->reconstruction_basis(x, basis);
  if (points.observer) {
    AttentionRecord record = mixing_record(mixing_, coefficients, maps, relative_ridge_);
    record.source_basis = basis;
    record.query_basis = reconstruction;
    record.query_weights = record.source_weights = points.measure.relative;
    points.observer->observe(record);
  }
  return to_out_->forward(join_heads(reconstruct(reconstruction, moved)));
}

SharedBasisModel::SharedBasisModel(const ModelConfig& config, Initialiser& initialiser)
    : ResidualModel(config, initialiser) {
  ResidualNetworkOptions options;
  options.lift_width = 2 * config.width;
  network_ = std::make_unique<ResidualNetwork>(
      *this, initialiser, config, options, [&]() -> std::shared_ptr<PointAttention> {
        if (config.attention != Attention::functional)
          return make_token_attention(initialiser, config);
        return std::make_shared<SharedBasisAttention>(initialiser, config, nullptr);
      });
}

}  // namespace funcattn
