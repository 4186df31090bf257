#pragma once

#include <cstdint>
#include <memory>

#include "operators/forms/residual_network.h"

// Attentions from which Functional Attention is told apart: they stand in the blocks of
// `shared_basis` in its place. Sums over points are quadratures: a point counts by its weight.

namespace funcattn {

/// One side of an attention.
struct TokenSet {
  const Tensor& x;            ///< [B,N,width]
  const Tensor& coordinates;  ///< [B,N,D]
  const PointMeasure& measure;
};

/// What the queries take from the source; both may be the same set.
class TokenAttention : public PointAttention {
 public:
  /// @param observer may be null; softmax and fourier attention show it something
  /// @return [B,M,width]
  virtual Tensor attend(const TokenSet& query, const TokenSet& source,
                        AttentionObserver* observer) = 0;
  /// Self-attention.
  Tensor forward(const Tensor& x, const PointContext& points) final {
    const TokenSet tokens{x, points.coordinates, points.measure};
    return attend(tokens, tokens, points.observer);
  }
};

/// One with q, k and v of each head and a projection of the joined heads, all width x width.
class ProjectedAttention : public TokenAttention {
 public:
  ProjectedAttention(Initialiser& initialiser, const ModelConfig& config);

 protected:
  /// [B,H,N,width / H]
  Tensor heads_of(const Linear& map, const Tensor& x) const;
  /// @param heads [B,H,M,width / H] @return [B,M,width]
  Tensor joined(const Tensor& heads) const;

  std::shared_ptr<Linear> q_, k_, v_, out_;
  int heads_;
};

/// Numbers of logits that SoftmaxAttention holds at a time, beyond one query.
constexpr std::int64_t softmax_logits_at_a_time = std::int64_t{1} << 18;
/// Numbers of attention weights of a batch up to which it keeps them for the gradients; of more it
/// computes them twice.
constexpr std::int64_t softmax_weights_kept = std::int64_t{1} << 24;

/// Softmax over the source points, their weights as factors of the exponentials: a weight stands
/// for as many equal points. Parameters `q`, `k`, `v`, `out` as in the paper's form; `memory_keys`,
/// `memory_values` [H,m,c]: persistent tokens, each with the weight of one of `reference_points`
/// points (Sukhbaatar et al. 2019); `position_slope` [H]: the logits fall by softplus(slope) times
/// the distance (Press et al. 2021); or `position_bias`: a network of the difference of
/// coordinates. Queries are taken in groups, so that logits need memory for one group at a time,
/// also in training. Second derivatives are not available beyond `softmax_weights_kept`.
class SoftmaxAttention : public ProjectedAttention {
 public:
  SoftmaxAttention(Initialiser& initialiser, const ModelConfig& config);
  Tensor attend(const TokenSet& query, const TokenSet& source,
                AttentionObserver* observer) override;

 private:
  std::shared_ptr<LinearStack> learned_bias_;
  Tensor slope_, memory_keys_, memory_values_;
  bool causal_;
  double reference_points_;
};

/// Q (LN(K)^T W LN(V)), W the weights scaled to sum to 1 (the Galerkin attention of Cao 2021).
class LinearAttention : public ProjectedAttention {
 public:
  LinearAttention(Initialiser& initialiser, const ModelConfig& config);
  Tensor attend(const TokenSet& query, const TokenSet& source,
                AttentionObserver* observer) override;

 private:
  std::shared_ptr<LayerNorm> k_norm_, v_norm_;
};

/// Q (K^T W K + ridge I)^-1 K^T W V: regression in the space of features instead of that of basis
/// functions.
class RidgeAttention : public ProjectedAttention {
 public:
  RidgeAttention(Initialiser& initialiser, const ModelConfig& config);
  Tensor attend(const TokenSet& query, const TokenSet& source,
                AttentionObserver* observer) override;

 private:
  double ridge_;
  bool relative_ridge_;
};

/// A network of two layers at every point: nothing is mixed.
class PointwiseAttention : public TokenAttention {
 public:
  PointwiseAttention(Initialiser& initialiser, const ModelConfig& config);
  Tensor attend(const TokenSet& query, const TokenSet& source,
                AttentionObserver* observer) override;

 private:
  std::shared_ptr<LinearStack> mlp_;
};

/// The first `functions` products of cosines cos(pi m (x + 1) / 2), m = 0, 1, ..., of the
/// coordinates, by the length of (m_1, ..., m_D), scaled to norm 1 in the mean over the cube [-1,
/// 1]^D.
/// @param coordinates [B,N,D] @return [B,N,functions]
Tensor cosine_basis(const Tensor& coordinates, int functions);

/// Functional Attention in a basis that is not learned, cosine_basis() with `basis` functions for
/// every head: coefficients `integral`, transport with a fixed ridge as in the paper's form.
class FourierAttention : public ProjectedAttention {
 public:
  FourierAttention(Initialiser& initialiser, const ModelConfig& config);
  Tensor attend(const TokenSet& query, const TokenSet& source,
                AttentionObserver* observer) override;

 private:
  Regularisation regularisation_;
  int functions_;
};

/// That of config.attention, which is not `functional`.
std::shared_ptr<TokenAttention> make_token_attention(Initialiser& initialiser,
                                                     const ModelConfig& config);

}  // namespace funcattn
