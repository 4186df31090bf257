#include "operators/forms/layers.h"

#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace funcattn {

namespace {
constexpr double layer_norm_epsilon = 1e-5;
constexpr double pi = 3.14159265358979323846;
}  // namespace

Initialiser::Initialiser(torch::Dtype dtype, std::uint64_t seed)
    : dtype_(dtype), generator_(at::make_generator<at::CPUGeneratorImpl>(seed)) {}

Tensor Initialiser::uniform(at::IntArrayRef shape, double low, double high) {
  return at::empty(shape, torch::kFloat64).uniform_(low, high, generator_).to(dtype_);
}

Tensor Initialiser::orthonormal(std::int64_t rows, std::int64_t columns) {
  const bool tall = rows > columns;
  const Tensor draw = at::empty({std::max(rows, columns), std::min(rows, columns)}, torch::kFloat64)
                          .normal_(0.0, 1.0, generator_);
  const auto [q, r] = at::linalg_qr(draw);
  // The signs of R's diagonal make the factor unique, and Q uniformly distributed.
  const Tensor signed_q = q * r.diagonal().sign();
  return (tall ? signed_q : signed_q.t()).contiguous().to(dtype_);
}

Tensor Initialiser::constant(at::IntArrayRef shape, double value) const {
  return at::full(shape, value, at::TensorOptions().dtype(dtype_));
}

Tensor Initialiser::even(double first, double last, std::int64_t count) const {
  return at::linspace(first, last, count, at::TensorOptions().dtype(torch::kFloat64)).to(dtype_);
}

Linear::Linear(Initialiser& initialiser, int in, int out, bool with_bias, Start start) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(in));
  weight_ = register_parameter("weight", start == Start::orthonormal
                                             ? initialiser.orthonormal(out, in)
                                             : initialiser.uniform({out, in}, -bound, bound));
  if (with_bias) bias_ = register_parameter("bias", initialiser.uniform({out}, -bound, bound));
}

Tensor Linear::forward(const Tensor& x) const {
  // One product over all leading axes: LibTorch 1.13 fuses the bias for two axes only.
  std::vector<std::int64_t> sizes = x.sizes().vec();
  sizes.back() = weight_.size(0);
  return at::linear(x.reshape({-1, weight_.size(1)}), weight_, bias_).view(sizes);
}

LayerNorm::LayerNorm(Initialiser& initialiser, int width) {
  weight_ = register_parameter("weight", initialiser.constant({width}, 1.0));
  bias_ = register_parameter("bias", initialiser.constant({width}, 0.0));
}

Tensor LayerNorm::forward(const Tensor& x) const {
  return at::layer_norm(x, weight_.sizes(), weight_, bias_, layer_norm_epsilon);
}

Tensor activate(Activation activation, Tensor x) {
  switch (activation) {
    case Activation::relu:
      return x.relu_();
    case Activation::tanh:
      return x.tanh_();
    case Activation::sine:
      return at::GradMode::is_enabled() ? x.sin() : x.sin_();
    case Activation::gelu:
      return at::GradMode::is_enabled() ? at::gelu(x) : at::gelu_(x);
    case Activation::silu:
      return at::GradMode::is_enabled() ? at::silu(x) : at::silu_(x);
  }
  return x;
}

LinearStack::LinearStack(Initialiser& initialiser, const std::vector<int>& sizes,
                         Activation activation, bool activate_last)
    : activation_(activation), activate_last_(activate_last) {
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
    layers_.push_back(register_module(
        std::to_string(2 * i), std::make_shared<Linear>(initialiser, sizes[i], sizes[i + 1])));
  }
}

Tensor LinearStack::forward(Tensor x) const {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    x = layers_[i]->forward(x);
    if (activate_last_ || i + 1 < layers_.size()) x = activate(activation_, std::move(x));
  }
  return x;
}

Mlp::Mlp(Initialiser& initialiser, int in, int hidden, int out, int depth) {
  linear_pre_ = register_module(
      "linear_pre", std::make_shared<LinearStack>(initialiser, std::vector<int>{in, hidden},
                                                  Activation::gelu, true));
  if (depth > 0) {
    const auto list = register_module("linears", std::make_shared<torch::nn::Module>());
    for (int i = 0; i < depth; ++i) {
      linears_.push_back(list->register_module(
          std::to_string(i),
          std::make_shared<LinearStack>(initialiser, std::vector<int>{hidden, hidden},
                                        Activation::gelu, true)));
    }
  }
  linear_post_ = register_module("linear_post", std::make_shared<Linear>(initialiser, hidden, out));
}

Tensor Mlp::forward(const Tensor& x) const {
  Tensor hidden = linear_pre_->forward(x);
  for (const auto& layer : linears_) hidden = layer->forward(hidden) + hidden;
  return linear_post_->forward(hidden);
}

Tensor split_heads(const Tensor& x, int heads) {
  return x.view({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

Tensor join_heads(const Tensor& x) {
  return x.transpose(1, 2).flatten(2);
}

void check_points(const Tensor& x, const Tensor& weights, int features, torch::Dtype dtype,
                  const std::string& what) {
  if (!x.defined() || x.dim() != 3 || x.size(2) != features) {
    throw UsageError(what + ": expected shape [B,N," + std::to_string(features) + "], found " +
                     (x.defined() ? c10::str(x.sizes()) : "nothing"));
  }
  if (x.scalar_type() != dtype) {
    throw UsageError(what + ": expected dtype " + c10::str(dtype) +
                     " of the model's weights, found " + c10::str(x.scalar_type()));
  }
  if (weights.defined() &&
      (weights.dim() != 2 || weights.size(0) != x.size(0) || weights.size(1) != x.size(1))) {
    throw UsageError(what + ": shape " + c10::str(x.sizes()) +
                     " does not go with weights of shape " + c10::str(weights.sizes()) +
                     "; expected weights [B,N]");
  }
}

Tensor clear_absent(const Tensor& x, const Tensor& weights) {
  if (!weights.defined()) return x;
  const Tensor absent = weights.gt(0).logical_not_().unsqueeze(-1);
  if (!absent.any().item<bool>()) return x;
  return x.masked_fill(absent.logical_and(x.isfinite().logical_not_()), 0.0);
}

Tensor point_features(const PointSamples& samples, const ModelConfig& config, torch::Dtype dtype,
                      const std::string& what, const Tensor& frequencies) {
  Tensor features;
  if (config.coordinate_dimension > 0) {
    check_points(samples.coordinates, samples.weights, config.coordinate_dimension, dtype,
                 what + " coordinates");
    features = samples.coordinates;
    if (config.sinusoids > 0) {
      const Tensor harmonics =
          frequencies.defined()
              ? frequencies.view({config.coordinate_dimension, config.sinusoids})
              : at::arange(1, config.sinusoids + 1, features.options().requires_grad(false)) * pi;
      // Cleared before, or the gradients of the frequencies would be NaN.
      const Tensor x = frequencies.defined() ? clear_absent(samples.coordinates, samples.weights)
                                             : samples.coordinates;
      const Tensor phases = (x.unsqueeze(-1) * harmonics).flatten(2);
      features = at::cat({features, phases.sin(), phases.cos()}, 2);
    }
  }
  if (config.value_features > 0) {
    check_points(samples.values, samples.weights, config.value_features, dtype, what + " values");
    features = features.defined() ? at::cat({features, samples.values}, 2) : samples.values;
  }
  return clear_absent(features, samples.weights);
}

}  // namespace funcattn
