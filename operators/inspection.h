#pragma once

#include <functional>

#include "operators/inspection_figures.h"
#include "operators/model.h"

namespace funcattn {

/// One attention layer of a model at one sample: H heads, M query and N source points, k functions.
struct BlockInspection {
  int block = 1;  ///< Counted from 1.
  /// [H,M,k] functions that reconstruct at the queries, with InspectionOptions::keep_basis; their
  /// features [H,M,m] where queries act directly. dtype of the model, as are:
  Tensor query_basis;
  Tensor source_basis;  ///< [H,N,k], the same tensor where one basis serves both.
  Tensor coefficients;  ///< [H,k,v] of the values; the transport acts on them.
  Tensor transport;     ///< [H,k,k] or [H,m,k], float64.
  /// [H,N] float64: mean over the queries of the attention to each point over its share of the
  /// domain, NaN where a point takes no part; softmax attention between points, with `keep_basis`.
  Tensor received;
  bool queries_act_directly = false;
  std::vector<HeadInspection> heads;
};

/// Predicts as Model::predict does, bit for bit what its tensor operations give, and hands what
/// each chosen attention layer computed to `visit`, block by block: nothing of a block is kept
/// after the call. Records no gradients.
/// @param source, query one sample, B = 1
/// @return [1,M,out_features]
/// Throws UsageError for a block that the model has not, more than one sample or a model of a class
/// of its own; DataError where `options.memory_limit` would not suffice.
Tensor inspect(Model& model, const PointSamples& source, const PointSamples& query,
               const InspectionOptions& options,
               const std::function<void(const BlockInspection&)>& visit);

/// Attention layers that inspect() counts.
int attention_blocks(const ModelConfig& config);

/// Throws UsageError for a block that a model of this configuration has not.
void check_blocks(const ModelConfig& config, const InspectionOptions& options);

/// About what inspect() takes at most for so many points, in bytes, the weights of the model not
/// counted; with `keep_basis` also what keeping and writing the bases of all chosen blocks takes.
/// @param query_points 0 where the queries are the source
double inspection_bytes(const ModelConfig& config, const InspectionOptions& options,
                        std::int64_t source_points, std::int64_t query_points,
                        std::size_t bytes_per_number);

}  // namespace funcattn
