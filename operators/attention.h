#pragma once

#include <string>

#include "operators/torch_compat.h"

// The three steps of Functional Attention (arXiv 2605.31559): project fields on a learned basis,
// transport the coefficients by a regularised least-squares operator, reconstruct at the queries.
// Axes: B samples, H heads, N points, k basis functions, c channels of a head. All functions are
// differentiable, run on any device, and take float32 or float64.

namespace funcattn {

/// How the coefficients of a field in a basis are formed; `w` are the quadrature weights.
enum class Coefficients {
  mean,      ///< sum_i w_i B_ij F_i / (sum_i w_i B_ij + 1e-5), with w scaled to sum to n
  integral,  ///< B^T diag(w / sum w) F
  sum,       ///< B^T F over the points of positive weight; grows with n (published notebook form)
};

const char* to_string(Coefficients kind);
/// Throws UsageError naming the possible values.
Coefficients coefficients_from_string(const std::string& text);

/// Quadrature weights of a batch in the forms in which sums over points use them. Only the ratios
/// of the weights within a sample matter: they are divided by their maximum before anything is
/// added, in float64, so that neither huge nor tiny weights over- or underflow.
struct PointMeasure {
  Tensor relative;   ///< [B,N] float64: weight / largest weight of the sample, in [0, 1].
  Tensor share;      ///< [B,N]: weight / sum of the weights; 0 in a sample without any weight.
  Tensor present;    ///< [B,N] bool: weight > 0.
  Tensor count;      ///< [B] float64: points of positive weight, at least 1.
  bool all_present;  ///< No point of the batch has weight 0.

  /// @param weights [B,N], >= 0
  /// @param dtype of `share`: that of the features
  PointMeasure(const Tensor& weights, torch::Dtype dtype);
};

/// Basis functions as a soft partition of unity: softmax of logits / temperature over the last
/// axis, so that rows sum to 1. As the temperature falls to 0 the basis becomes piecewise constant
/// (the P0 element of the regions where each logit is largest).
/// @param logits [B,H,N,k]
/// @param temperature broadcastable to logits, > 0
Tensor partition_of_unity(const Tensor& logits, const Tensor& temperature);

/// B^T F, [B,H,k,c] in float64: products in the dtype of the input over at most 256 points, the
/// partial sums added in float64. Takes every point; NaN spreads.
/// @param basis [B,H,N,k]
/// @param field [B,H,N,c]
Tensor accumulate(const Tensor& basis, const Tensor& field);

/// Coefficients [B,H,k,c] of a field in a basis. Sums over the points accumulate in float64 partial
/// sums; points of weight 0 take no part even where they hold NaN. A sample without any point of
/// positive weight has coefficients 0.
/// @param basis [B,H,N,k]
/// @param field [B,H,N,c]
/// @param reference_points `mean`: the n to which the weights are scaled, which matters only
///   against the 1e-5; 0 is the number of points of positive weight, as published. With a constant
///   the result depends on the weighted points as a set alone: splitting a point in two of half
///   the weight changes nothing.
Tensor project(const Tensor& basis, const Tensor& field, const PointMeasure& measure,
               Coefficients kind, double reference_points = 0);

/// `mean` coefficients from sums over points whose weights sum to 1: products / (mass + 1e-5 / n).
/// @param products [B,H,k,c], mass [B,H,k,1]
/// @param reference_points n, > 0: a number or a tensor [B,1,1,1]
Tensor mean_coefficients(const Tensor& products, const Tensor& mass,
                         const Tensor& reference_points);
Tensor mean_coefficients(const Tensor& products, const Tensor& mass, double reference_points);

/// As above for weights [B,N], >= 0.
Tensor project(const Tensor& basis, const Tensor& field, const Tensor& weights, Coefficients kind,
               double reference_points = 0);

/// The matrix that regularises the least-squares system: gram_scale * Gram + ridge * I.
struct Regularisation {
  Tensor gram_scale;  ///< Broadcastable to [B,H,1,1]; 1 for a fixed ridge, 1 - a for the blend.
  Tensor ridge;       ///< Broadcastable to [B,H,1,1]; lambda, or a for the blend.
  /// Multiply the ridge by the mean diagonal of the Gram matrix of the keys (trace / k), so that
  /// the result does not depend on the scale of the keys. With all-zero keys the result is 0.
  bool relative = false;

  /// Gram + ridge * I.
  static Regularisation fixed(double ridge, bool relative = false);
  /// (1 - amount) * Gram + amount * I.
  static Regularisation blend(const Tensor& amount, bool relative = false);
};

/// Q K^T (s K K^T + r I_k)^-1 V, or its equal Q (s K^T K + r I_c)^-1 K^T V, whichever system is
/// smaller (paper, transport of coefficients; `relative` scales r the same way in both). The system
/// is formed and solved in float64, the product with the queries is taken in their dtype.
/// @param queries [B,H,m,c]: coefficients of the queries, or query features acting directly
/// @param keys [B,H,k,c]
/// @param values [B,H,k,v]
/// @return [B,H,m,v]
Tensor transport(const Tensor& queries, const Tensor& keys, const Tensor& values,
                 const Regularisation& regularisation);

/// The transport matrix itself, Q K^T (s K K^T + r I)^-1, [B,H,m,k].
Tensor transport_matrix(const Tensor& queries, const Tensor& keys,
                        const Regularisation& regularisation);

/// The system that transport() solves, in float64: s K K^T + r I_k, [B,H,k,k], or
/// s K^T K + r I_c, [B,H,c,c], whichever is smaller.
Tensor transport_system(const Tensor& keys, const Regularisation& regularisation);

/// Field values [B,H,N,v] from coefficients [B,H,k,v]: basis times coefficients.
Tensor reconstruct(const Tensor& basis, const Tensor& coefficients);

}  // namespace funcattn
