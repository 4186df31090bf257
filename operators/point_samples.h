#pragma once

#include <string>
#include <vector>

#include "operators/torch_compat.h"

namespace funcattn {

/// Values of functions at points, for a batch of B samples padded to N points each.
///
/// A point of weight 0 is not there: it is padding, a ghost or masked, whatever its coordinates and
/// values hold (NaN included), and it changes no result of any other point. Weights are quadrature
/// weights; only their ratios within a sample matter.
struct PointSamples {
  Tensor coordinates;  ///< [B,N,D]
  Tensor values;       ///< [B,N,C]; C may be 0. Undefined where nothing is known at the points.
  Tensor weights;      ///< [B,N], >= 0

  // Of a sample in pieces, for the engine alone.
  /// [B,N], how much of a point an entry is: 1/m where m pieces hold the point, 0 for those that
  /// only another piece counts. Undefined: 1 everywhere.
  Tensor shares{};
  /// Points of each piece, one after the other, alike in all samples; empty: one piece.
  std::vector<std::int64_t> pieces{};
};

/// One training or evaluation sample without the batch axis: tensors are [N,...].
struct Sample {
  std::string name;     ///< File or generator name, for messages.
  PointSamples source;  ///< What is known, and where.
  PointSamples query;   ///< Where the result is wanted. Shares the tensors of `source` where equal.
  bool query_is_source = true;
  Tensor targets;  ///< [M,C_out] true values at the queries.
};

/// Samples padded to a common size with weight 0.
struct Batch {
  std::vector<std::string> names;  ///< One per sample.
  PointSamples source;
  PointSamples query;
  bool query_is_source = true;
  Tensor targets;  ///< [B,M,C_out]; padding holds 0.
};

/// Pads with weight 0 (coordinates, values and targets of padding are 0). Samples must agree in
/// dtype, D, C and `query_is_source`; throws DataError naming the sample that does not.
Batch collate(const std::vector<Sample>& samples);

}  // namespace funcattn
