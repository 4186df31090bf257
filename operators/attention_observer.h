#pragma once

#include "operators/torch_compat.h"

namespace funcattn {

/// Over what the values of a basis sum to 1.
enum class BasisSum {
  functions,           ///< The functions of a head, at every point: a partition of unity.
  functions_of_heads,  ///< The functions of all heads together, at every point.
  points,              ///< The points, for every function: few_shot's groups.
  none,                ///< Nothing: given functions of either sign.
};

/// What one attention layer computed. Axes as in operators/attention.h: B samples, H heads, M query
/// and N source points, k functions. The layer's result before its output projection is
/// query_basis * (transport * coefficients).
struct AttentionRecord {
  Tensor query_basis;     ///< [B,H,M,k]; where queries act directly, their features [B,H,M,m].
  Tensor source_basis;    ///< [B,H,N,k]; the same tensor where one basis serves both.
  Tensor query_weights;   ///< [B,M] float64, relative; 0 where a point takes no part.
  Tensor source_weights;  ///< [B,N]
  Tensor coefficients;    ///< [B,H,k,v]: what the transport acts on.
  Tensor transport;       ///< [B,H,k,k] float64, [B,H,m,k] where queries act directly.
  Tensor system;          ///< [B,H,s,s] float64: the regularised system that was solved, if any.
  BasisSum basis_sum = BasisSum::functions;
  bool queries_act_directly = false;
  bool transport_is_attention = false;  ///< Rows of the transport are softmax weights.
};

/// What an attention between points did, in sums over the queries: its weights, query by key, are
/// too many to keep. N keys: the source points, and behind them persistent tokens where there are
/// any. Means over the queries are by their quadrature weights.
struct PointAttentionRecord {
  Tensor share;     ///< [B,N] float64: attention to each key where it is alike everywhere; 0 where
                    ///< a point takes no part.
  Tensor received;  ///< [B,H,N] float64: mean over the queries of the attention to each key.
  Tensor divergence;  ///< [B,H] float64: mean over the queries of sum_j p_j log(p_j / share_j).
  std::int64_t tokens = 0;  ///< The last of the keys that are no points.
};

/// Sees the attention layers of a model while it predicts (Model::predict_observed), in the order
/// of evaluation. Costs nothing where there is none.
class AttentionObserver {
 public:
  virtual ~AttentionObserver() = default;
  virtual void observe(const AttentionRecord& record) = 0;
  virtual void observe_points(const PointAttentionRecord&) {}
};

}  // namespace funcattn
