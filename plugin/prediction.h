#pragma once

// Internal to the stage: what goes into the operator and what comes out. Sees LibTorch.

#include <string>
#include <vector>

#include "operators/operator.h"
#include "plugin/binding.h"
#include "plugin/stage.h"
#include "plugin/stage_meshes.h"

namespace funcattn {

/// Everything that an operator needs for one prediction. Tensors are float64 without batch axis.
struct BoundStage {
  PointSamples source;
  PointSamples query;
  bool query_is_source = true;
  /// Results that are the source points, in their order, where only some are; else empty.
  std::vector<std::int64_t> source_entries;
  bool source_is_apart = false;   ///< The source is another mesh than the one with the results.
  std::int64_t first_result = 0;  ///< Rows of the output before this one belong to joined sources.
  std::vector<Eigen::Index> counts;      ///< Results per part of the mesh that gets them.
  std::vector<bool> unusable;            ///< Results that are NaN because their inputs are.
  Eigen::VectorXd weights;               ///< Quadrature weights of the results; empty if unknown.
  bool has_interpolated_inputs = false;  ///< The query lacked some that it needs.
  std::vector<std::string> warnings;
};

/// Binds `source`, and `query` where the results belong elsewhere (else null). Throws as
/// OperatorStage::run() does. @param model whose kind alone counts: form, type of the numbers
BoundStage bind_stage(const Model& model, const Contract& contract, const StageMeshes& source,
                      const StageMeshes* query, const StageOptions& options);

/// Weights at a query only say how its errors are averaged (and, in `paper` with cross, how its own
/// coefficients are): a choice that names arrays or demands cells is meant for the source.
WeightChoice query_weight_choice(const WeightChoice& of_source);

/// Whether the inputs enter the features of a query.
bool query_needs_inputs(const Model& model);

/// With the batch axis that an operator takes.
PointSamples add_batch_axis(const PointSamples& samples);

/// [results, output components] in physical units; NaN where unusable. Throws NumericError if
/// another value is not finite. @param engine of the operator's model, null where that is on a GPU
/// @param origin for the message
RowMatrix predict(const Operator& op, const InferenceEngine* engine, const BoundStage& bound,
                  const std::string& origin, const StageOptions& options);

/// As predict(), with 0 in place of every prediction.
RowMatrix unpredicted(const Operator& op, const BoundStage& bound);

/// The operator on a GPU. Throws MemoryError where its memory does not suffice.
Operator copy_to_gpu(const Operator& op, const std::string& device);

}  // namespace funcattn
