#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "operators/model.h"

// Layers that the forms share. Their parameters carry the names of the published weight files.

namespace funcattn {

/// Draws initial weights from its own generator, in float64 before the cast, so that models of both
/// dtypes with one seed agree and the global generator is not touched.
class Initialiser {
 public:
  Initialiser(torch::Dtype dtype, std::uint64_t seed);
  /// Uniform in [low, high).
  Tensor uniform(at::IntArrayRef shape, double low, double high);
  /// Orthonormal rows, or columns where there are more rows than columns.
  Tensor orthonormal(std::int64_t rows, std::int64_t columns);
  Tensor constant(at::IntArrayRef shape, double value) const;
  /// `count` values from `first` to `last`, evenly spaced.
  Tensor even(double first, double last, std::int64_t count) const;

 private:
  torch::Dtype dtype_;
  at::Generator generator_;
};

/// x W^T + b over the last axis: parameters `weight` [out,in] and `bias` [out], uniform in
/// +-1/sqrt(in) at first.
class Linear : public torch::nn::Module {
 public:
  enum class Start { uniform, orthonormal };
  Linear(Initialiser& initialiser, int in, int out, bool with_bias = true,
         Start start = Start::uniform);
  Tensor forward(const Tensor& x) const;
  const Tensor& weight() const { return weight_; }

 private:
  Tensor weight_;
  Tensor bias_;
};

/// Layer normalisation over the last axis: parameters `weight` and `bias`.
class LayerNorm : public torch::nn::Module {
 public:
  LayerNorm(Initialiser& initialiser, int width);
  Tensor forward(const Tensor& x) const;

 private:
  Tensor weight_;
  Tensor bias_;
};

/// The activation; may overwrite `x`, which must not be needed otherwise.
Tensor activate(Activation activation, Tensor x);

/// Linear layers with an activation between them, and after the last where asked. The layers are
/// named 0, 2, 4, ..., the activations taking the numbers between.
class LinearStack : public torch::nn::Module {
 public:
  /// @param sizes features before the first layer and after each
  LinearStack(Initialiser& initialiser, const std::vector<int>& sizes, Activation activation,
              bool activate_last);
  Tensor forward(Tensor x) const;

 private:
  std::vector<std::shared_ptr<Linear>> layers_;
  Activation activation_;
  bool activate_last_;
};

/// GELU(Linear), `depth` residual layers h = GELU(Linear(h)) + h, and a Linear: `linear_pre.0`,
/// `linears.i.0`, `linear_post`.
class Mlp : public torch::nn::Module {
 public:
  Mlp(Initialiser& initialiser, int in, int hidden, int out, int depth = 0);
  Tensor forward(const Tensor& x) const;

 private:
  std::shared_ptr<LinearStack> linear_pre_;
  std::vector<std::shared_ptr<LinearStack>> linears_;
  std::shared_ptr<Linear> linear_post_;
};

/// [B,N,H c] to [B,H,N,c], a view: head h owns channels [h c, (h+1) c).
Tensor split_heads(const Tensor& x, int heads);
/// [B,H,N,c] to [B,N,H c].
Tensor join_heads(const Tensor& x);

/// Features of the points, [B,N,in_features]: coordinates, their sines and cosines where there are
/// any (by coordinate, then by frequency), and values side by side. What is not finite at
/// points of weight 0 is replaced by 0, so that it reaches neither a sum nor a gradient. Throws
/// UsageError where shapes or dtypes do not fit.
/// @param what names the samples in messages: "source" or "query"
/// @param frequencies [D sinusoids], by coordinate; undefined: pi m, m = 1 ... sinusoids
Tensor point_features(const PointSamples& samples, const ModelConfig& config, torch::Dtype dtype,
                      const std::string& what, const Tensor& frequencies = {});

/// Replaces what is not finite at points of weight 0 by 0.
/// @param x [B,N,C]
Tensor clear_absent(const Tensor& x, const Tensor& weights);

/// Throws UsageError unless `x` is [B,N,features] of that dtype, with B and N of `weights`.
void check_points(const Tensor& x, const Tensor& weights, int features, torch::Dtype dtype,
                  const std::string& what);

}  // namespace funcattn
