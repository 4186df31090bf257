#include "operators/forms/sum_coefficients.h"

#include "operators/forms/mixing.h"

namespace funcattn {

namespace {
constexpr int encoder_layers = 4;
}

SumCoefficientsAttention::SumCoefficientsAttention(Initialiser& initialiser,
                                                   const ModelConfig& config)
    : regularisation_(Regularisation::fixed(config.ridge, config.relative_ridge)),
      heads_(config.heads) {
  const int joined = config.heads * config.width;
  const int functions = config.heads * config.basis;
  const auto linear = [&](const char* name, int in, int out) {
    return register_module(name, std::make_shared<Linear>(initialiser, in, out));
  };
  q_proj_ = linear("q_proj", config.width, joined);
  k_proj_ = linear("k_proj", config.width, joined);
  v_proj_ = linear("v_proj", config.width, joined);
  q_basis_proj_ = linear("q_basis_proj", joined, functions);
  k_basis_proj_ = linear("k_basis_proj", joined, functions);
  output_ = linear("output", joined, config.width);
}

Tensor SumCoefficientsAttention::forward(const Tensor& x, const PointMeasure& measure,
                                         AttentionObserver* observer) {
  const Tensor queries = q_proj_->forward(x);
  const auto joint_basis = [&](const Linear& map, const Tensor& features) {
    return split_heads(at::softmax(map.forward(features), -1), heads_);
  };
  const Tensor query_basis = joint_basis(*q_basis_proj_, queries);
  const Tensor value_basis = joint_basis(*k_basis_proj_, k_proj_->forward(x));
  const Tensor query_coefficients =
      project(query_basis, split_heads(queries, heads_), measure, Coefficients::sum);
  const Tensor value_coefficients =
      project(value_basis, split_heads(v_proj_->forward(x), heads_), measure, Coefficients::sum);
  // C Q with C = V Q^T (Q Q^T + lambda I)^-1: a transport whose queries are the values.
  const Tensor moved =
      transport(value_coefficients, query_coefficients, query_coefficients, regularisation_);
  if (observer) {
    AttentionRecord record = transport_record(value_coefficients, query_coefficients,
                                              query_coefficients, regularisation_);
    record.query_basis = query_basis;
    record.source_basis = value_basis;
    record.query_weights = record.source_weights = measure.relative;
    record.basis_sum = BasisSum::functions_of_heads;
    observer->observe(record);
  }
  return output_->forward(join_heads(reconstruct(query_basis, moved)));
}

SumCoefficientsBlock::SumCoefficientsBlock(Initialiser& initialiser, const ModelConfig& config) {
  const int hidden = config.ffn_width > 0 ? config.ffn_width : config.mlp_ratio * config.width;
  norm1_ = register_module("norm1", std::make_shared<LayerNorm>(initialiser, config.width));
  attn_ = register_module("attn", std::make_shared<SumCoefficientsAttention>(initialiser, config));
  norm2_ = register_module("norm2", std::make_shared<LayerNorm>(initialiser, config.width));
  ffn_ =
      register_module("ffn", std::make_shared<LinearStack>(
                                 initialiser, std::vector<int>{config.width, hidden, config.width},
                                 Activation::gelu, false));
}

Tensor SumCoefficientsBlock::forward(const Tensor& x, const PointMeasure& measure,
                                     AttentionObserver* observer) {
  const Tensor y = norm2_->forward(norm1_->forward(x) + attn_->forward(x, measure, observer));
  return ffn_->forward(y).add_(y);
}

SumCoefficientsModel::SumCoefficientsModel(const ModelConfig& config, Initialiser& initialiser)
    : Model(config) {
  std::vector<int> sizes(encoder_layers + 1, config.width);
  sizes.front() = config.in_features();
  encoder_ = register_module("shared_kq_encoder", std::make_shared<LinearStack>(
                                                      initialiser, sizes, Activation::gelu, true));
  const auto stack = register_module("transformer_stack", std::make_shared<torch::nn::Module>());
  for (int i = 0; i < config.blocks; ++i) {
    blocks_.push_back(stack->register_module(
        std::to_string(i), std::make_shared<SumCoefficientsBlock>(initialiser, config)));
  }
  output_proj_ = register_module(
      "output_proj", std::make_shared<Linear>(initialiser, config.width, config.out_features));
}

Tensor SumCoefficientsModel::predict(const PointSamples& source, const PointSamples&) {
  return forward(source, nullptr);
}

Tensor SumCoefficientsModel::predict_observed(const PointSamples& source, const PointSamples&,
                                              AttentionObserver& observer) {
  return forward(source, &observer);
}

Tensor SumCoefficientsModel::forward(const PointSamples& source,
                                     AttentionObserver* observer) const {
  const PointMeasure measure(source.weights, dtype());
  Tensor x = encoder_->forward(point_features(source, config(), dtype(), "source"));
  for (const auto& block : blocks_) x = block->forward(x, measure, observer);
  return output_proj_->forward(x);
}

}  // namespace funcattn
