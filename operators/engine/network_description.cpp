#include "operators/engine/network_description.h"

#include <cmath>
#include <string>

namespace funcattn {

namespace {

const double log2_e = 1.0 / std::log(2.0);

/// Parameters by their published names; a part of a model is a prefix.
class Parameters {
 public:
  explicit Parameters(const torch::nn::Module& module) : all_(module.named_parameters()) {}
  Parameters at(const std::string& part) const { return Parameters(all_, prefix_ + part + "."); }
  Tensor operator[](const std::string& name) const { return all_[prefix_ + name]; }
  bool has(const std::string& name) const { return all_.contains(prefix_ + name); }

 private:
  using Dictionary = torch::OrderedDict<std::string, Tensor>;
  Parameters(Dictionary all, std::string prefix)
      : all_(std::move(all)), prefix_(std::move(prefix)) {}

  Dictionary all_;
  std::string prefix_;
};

DenseDescription dense(const Parameters& linear, std::optional<Activation> activation = {}) {
  DenseDescription layer;
  layer.weight = linear["weight"];
  layer.bias = linear["bias"];
  layer.activation = activation;
  return layer;
}

/// W LN(x) + b = (W diag(gain)) n(x) + (b + W shift).
void fold(const Parameters& norm, Tensor& weight, Tensor& bias) {
  bias = bias + at::matmul(weight, norm["bias"]);
  weight = weight * norm["weight"];
}

/// Layers 0, 2, 4, ... with the activation between them, and after the last where asked.
DenseStack stack(const Parameters& layers, Activation activation, bool activate_last) {
  DenseStack result;
  for (int i = 0; layers.has(std::to_string(i) + ".weight"); i += 2) {
    const bool is_last = !layers.has(std::to_string(i + 2) + ".weight");
    result.push_back(dense(layers.at(std::to_string(i)),
                           is_last && !activate_last ? std::nullopt : std::optional(activation)));
  }
  return result;
}

/// The Mlp of layers.h.
DenseStack mlp(const Parameters& parts) {
  DenseStack result = stack(parts.at("linear_pre"), Activation::gelu, true);
  for (int i = 0; parts.has("linears." + std::to_string(i) + ".0.weight"); ++i) {
    result.push_back(dense(parts.at("linears." + std::to_string(i) + ".0"), Activation::gelu));
    result.back().residual = true;
  }
  result.push_back(dense(parts.at("linear_post")));
  return result;
}

SharedBasisDescription shared_basis(const ModelConfig& config, const Parameters& attention,
                                    const Parameters& projection, const std::string& slice,
                                    bool clamp, const Parameters& norm) {
  SharedBasisDescription result;
  result.heads = config.heads;
  const Tensor temperature = projection["temperature"].view({config.heads});
  const Tensor factor = log2_e / (clamp ? temperature.clamp(0.1, 5.0) : temperature);
  const Tensor by_channel = factor.repeat_interleave(config.width / config.heads);
  const auto features = [&](const std::string& name, Tensor& weight, Tensor& bias) {
    weight = projection[name + ".weight"];
    bias = projection[name + ".bias"];
    fold(norm, weight, bias);
    weight = weight * by_channel.unsqueeze(1);
    bias = bias * by_channel;
  };
  const auto logits = [&](const std::string& name, Tensor& weight, Tensor& bias) {
    weight = projection[name + ".weight"];
    bias = factor.unsqueeze(1) * projection[name + ".bias"];
  };
  features("in_project_x", result.features_weight, result.features_bias);
  logits(slice, result.slice_weight, result.slice_bias);
  if (config.bases == Bases::separate)
    features("in_project_out", result.out_features_weight, result.out_features_bias);
  if (config.bases != Bases::shared)
    logits(slice + "_out", result.out_slice_weight, result.out_slice_bias);
  result.field_weight = projection["in_project_fx.weight"];
  result.field_bias = projection["in_project_fx.bias"];
  fold(norm, result.field_weight, result.field_bias);
  result.mixing = config.mixing;
  const Tensor to_q = attention["to_q.weight"];
  result.maps = {to_q, attention["to_k.weight"], attention["to_v.weight"],
                 config.blend ? fixed_alpha(*config.blend, to_q) : attention["alpha"]};
  result.relative_ridge = config.relative_ridge;
  result.reference_points = config.reference_points;
  result.out_weight = attention["to_out.0.weight"];
  result.out_bias = attention["to_out.0.bias"];
  return result;
}

PaperDescription paper(const ModelConfig& config, const Parameters& attention) {
  PaperDescription result;
  result.heads = config.heads;
  result.q_weight = attention["q.weight"];
  result.q_bias = attention["q.bias"];
  result.k_weight = attention["k.weight"];
  result.k_bias = attention["k.bias"];
  result.v_weight = attention["v.weight"];
  result.v_bias = attention["v.bias"];
  const double factor = log2_e / config.temperature;
  result.query_basis_weight = attention["basis_q.weight"] * factor;
  result.query_basis_bias = attention["basis_q.bias"] * factor;
  result.source_basis_weight = attention["basis_k.weight"] * factor;
  result.source_basis_bias = attention["basis_k.bias"] * factor;
  result.coefficients = config.coefficients;
  result.ridge = config.ridge;
  result.relative_ridge = config.relative_ridge;
  result.reference_points = config.reference_points;
  result.out_weight = attention["out.weight"];
  result.out_bias = attention["out.bias"];
  return result;
}

PaperDescription paper_after(const ModelConfig& config, const Parameters& attention,
                             const Parameters& norm) {
  PaperDescription result = paper(config, attention);
  fold(norm, result.q_weight, result.q_bias);
  fold(norm, result.k_weight, result.k_bias);
  fold(norm, result.v_weight, result.v_bias);
  fold(norm, result.query_basis_weight, result.query_basis_bias);
  fold(norm, result.source_basis_weight, result.source_basis_bias);
  return result;
}

/// The pre-MLP and pre-norm blocks of `shared_basis`, `shared_basis_tied`, `segmentation` and
/// `paper`.
/// @param attention makes a block's attention from its parameters and those of its LayerNorm
template <class MakeAttention>
NetworkDescription residual_network(const Parameters& root, const ModelConfig& config,
                                    const std::string& attention_name,
                                    const MakeAttention& attention) {
  NetworkDescription network;
  network.width = config.width;
  network.outputs = config.out_features;
  network.lift = mlp(root.at("preprocess"));
  network.lift.back().bias = network.lift.back().bias + root["placeholder"];
  for (int i = 0; i < config.blocks; ++i) {
    const Parameters parts = root.at("blocks." + std::to_string(i));
    BlockDescription block;
    block.attention = attention(parts.at(attention_name), parts.at("ln_1"));
    block.mlp = mlp(parts.at("mlp"));
    block.mlp.front().normalise = true;
    fold(parts.at("ln_2"), block.mlp.front().weight, block.mlp.front().bias);
    network.blocks.push_back(std::move(block));
    if (parts.has("mlp2.weight")) {
      network.head = {dense(parts.at("mlp2"))};
      network.head.front().normalise = true;
      fold(parts.at("ln_3"), network.head.front().weight, network.head.front().bias);
    }
  }
  return network;
}

NetworkDescription sum_coefficients(const Parameters& root, const ModelConfig& config) {
  NetworkDescription network;
  network.width = config.width;
  network.outputs = config.out_features;
  network.lift = stack(root.at("shared_kq_encoder"), Activation::gelu, true);
  for (int i = 0; i < config.blocks; ++i) {
    const Parameters parts = root.at("transformer_stack." + std::to_string(i));
    const Parameters attn = parts.at("attn");
    SumCoefficientsDescription attention;
    attention.heads = config.heads;
    attention.q_weight = attn["q_proj.weight"];
    attention.q_bias = attn["q_proj.bias"];
    attention.k_weight = attn["k_proj.weight"];
    attention.k_bias = attn["k_proj.bias"];
    attention.v_weight = attn["v_proj.weight"];
    attention.v_bias = attn["v_proj.bias"];
    attention.query_basis_weight = attn["q_basis_proj.weight"] * log2_e;
    attention.query_basis_bias = attn["q_basis_proj.bias"] * log2_e;
    attention.value_basis_weight = attn["k_basis_proj.weight"] * log2_e;
    attention.value_basis_bias = attn["k_basis_proj.bias"] * log2_e;
    attention.ridge = config.ridge;
    attention.relative_ridge = config.relative_ridge;
    attention.out_weight = attn["output.weight"];
    attention.out_bias = attn["output.bias"];
    BlockDescription block;
    block.shape = BlockShape::post_norm;
    block.attention = std::move(attention);
    block.mlp = stack(parts.at("ffn"), Activation::gelu, false);
    block.norm1_gain = parts["norm1.weight"];
    block.norm1_shift = parts["norm1.bias"];
    block.norm2_gain = parts["norm2.weight"];
    block.norm2_shift = parts["norm2.bias"];
    network.blocks.push_back(std::move(block));
  }
  network.head = {dense(root.at("output_proj"))};
  return network;
}

/// sin and cos of coordinates times frequencies, the features in the order of few_shot.
DenseDescription fourier_layer(const Tensor& frequencies) {
  const std::int64_t axes = frequencies.size(0);
  const std::int64_t waves = frequencies.size(1);
  const Tensor one_axis = at::eye(axes, frequencies.options()).repeat_interleave(waves, 0);
  const Tensor phase = one_axis * frequencies.reshape({-1, 1});
  DenseDescription layer;
  layer.weight = at::cat({phase, phase}, 0);
  // cos x = sin(x + pi/2)
  layer.bias = at::cat({at::zeros({axes * waves}, frequencies.options()),
                        at::full({axes * waves}, std::acos(0.0), frequencies.options())});
  layer.activation = Activation::sine;
  return layer;
}

NetworkDescription few_shot(const Parameters& root, const ModelConfig& config) {
  NetworkDescription network;
  network.width = config.latent_features();
  network.outputs = config.out_features;
  network.lift = stack(root.at("to_q"), config.activation, false);
  if (config.fourier_features > 0)
    network.lift.insert(network.lift.begin(), fourier_layer(root["frequencies"]));
  FewShotDescription attention;
  const Tensor factor = log2_e / root["temperature"].view({1}).clamp(0.1, 5.0);
  attention.slice_weight = root["slice.weight"] * factor;
  attention.slice_bias = root["slice.bias"] * factor;
  attention.values = config.value_features;
  attention.ridge = config.ridge;
  attention.relative_ridge = config.relative_ridge;
  network.blocks.resize(1);
  network.blocks.front().shape = BlockShape::bare;
  network.blocks.front().attention = std::move(attention);
  return network;
}

}  // namespace

NetworkDescription describe_network(const Model& model) {
  const ModelConfig& config = model.config();
  const Parameters root(model);
  switch (config.form) {
    case Form::shared_basis:
      return residual_network(root, config, "Attn", [&](const auto& attention, const auto& norm) {
        return shared_basis(config, attention, attention, "slice1", true, norm);
      });
    case Form::shared_basis_tied:
      return residual_network(root, config, "Attn", [&](const auto& attention, const auto& norm) {
        return shared_basis(config, attention, root, "in_project_slice", false, norm);
      });
    case Form::segmentation: {
      NetworkDescription network = residual_network(
          root.at("feature_extractor"), config, "SelfAttn",
          [&](const auto& attention, const auto& norm) {
            return shared_basis(config, attention, attention, "slice1", true, norm);
          });
      network.head = {dense(root.at("last_lin"))};
      return network;
    }
    case Form::paper: {
      if (config.blocks > 0)
        return residual_network(root, config, "Attn", [&](const auto& attention, const auto& norm) {
          return paper_after(config, attention, norm);
        });
      NetworkDescription network;
      network.width = config.width;
      network.outputs = config.out_features;
      network.blocks.resize(1);
      network.blocks.front().shape = BlockShape::bare;
      network.blocks.front().attention = paper(config, root);
      return network;
    }
    case Form::sum_coefficients:
      return sum_coefficients(root, config);
    case Form::few_shot:
      return few_shot(root, config);
  }
  return {};
}

}  // namespace funcattn
