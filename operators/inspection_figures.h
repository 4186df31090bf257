#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace funcattn {

/// Which layers of an operator to look into, and how.
struct InspectionOptions {
  std::vector<int> blocks;        ///< Counted from 1; empty: all.
  double threshold = 0.5;         ///< A function with more than this at a point serves it.
  bool keep_basis = false;        ///< Hand on the bases at the points, the only large arrays.
  std::int64_t memory_limit = 0;  ///< Bytes that it may take; < 1: half of the machine's memory.
};

/// How the functions of one head share the points. Means over points are weighted by the quadrature
/// weights; points of weight 0 do not count. Where a basis is normalised over the points
/// (few_shot), figures are of its rows divided by their sums: how each point shares itself out.
/// Where functions are given and of either sign (attention fourier), B stands for their squares.
struct BasisFigures {
  double entropy = 0;  ///< Mean over points of -sum_j p_j log p_j / log k, p_j the share
                       ///< of function j: 0 one function a point, 1 all alike.
  double effective_functions = 0;  ///< exp of the mean entropy in nats: 1 to k.
  double row_sum = 0;              ///< Mean over points of sum_j B_ij: 1, or less where the softmax
                                   ///< runs over the functions of all heads.
  std::vector<double> coverage;    ///< [k] sum_i w_i B_ij / sum_i w_i; their sum is row_sum.
  std::vector<double> points_served;          ///< [k] sum_i B_ij.
  std::vector<std::int64_t> above_threshold;  ///< [k] points with B_ij > threshold.
};

/// How the attention of one head falls on the points, by the shares of the domain that they stand
/// for: attention that is alike everywhere gives each its share. Means over the queries are by
/// their quadrature weights. "Domain" is how much of it attention takes up, exp(-sum_j p_j log(p_j
/// / share_j)): 1 where it is alike everywhere, the share of a point where it is on that alone.
struct PointAttentionFigures {
  std::int64_t keys = 0;      ///< Points that take part, and persistent tokens.
  std::int64_t tokens = 0;    ///< Of these, persistent tokens.
  double domain = 0;          ///< Of a query, geometric mean.
  double effective_keys = 0;  ///< domain * keys
  /// 1 + log(domain) / log(keys): with equal weights the mean entropy of the attention of a query
  /// over log(keys), 1 where it is alike everywhere, 0 where it is on one key.
  double entropy = 0;
  double received_domain = 0;    ///< Of the mean attention of all queries.
  std::int64_t above_share = 0;  ///< Keys that receive more than their share of it.
  /// [101] received / share that 0, 1, ..., 100 per cent of the domain exceed: descending.
  std::vector<double> received;
};

/// What one head of one attention layer does with one sample.
struct HeadInspection {
  int block = 1;  ///< Counted from 1, as is head.
  int head = 1;
  /// Softmax attention between points, which has no basis and no transport: all else is empty.
  std::optional<PointAttentionFigures> points;
  BasisFigures basis;  ///< Of the functions in which coefficients of the source are taken.
  std::optional<BasisFigures> query_basis;  ///< Of those that reconstruct, where they differ.

  int rows = 0;     ///< Of the transport: functions at the queries, or features (few_shot).
  int columns = 0;  ///< Functions of the source.
  std::vector<double> transport;        ///< Row after row.
  std::vector<double> singular_values;  ///< Of the transport, descending.
  /// Largest over smallest eigenvalue of the regularised system that was solved; infinite where it
  /// is singular to working precision, NaN where none is solved.
  double condition_number = std::numeric_limits<double>::quiet_NaN();

  /// Where the transport is a softmax: mean over its rows of their entropy / log k, and the mean of
  /// its rows, the attention that each function receives. Otherwise NaN and empty.
  double attention_entropy = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> attention_coverage;
};

}  // namespace funcattn
