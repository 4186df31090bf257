#pragma once

// Samples of two meshes, for training and its measurement. Internal to plugin/ and to the tools
// built on it; sees LibTorch.

#include <cstdint>
#include <string>

#include "meshio/mesh.h"
#include "operators/contract.h"
#include "operators/model.h"
#include "operators/point_samples.h"

namespace funcattn {

/// What is said of the mesh that has the results.
struct QuerySettings {
  std::string weights;  ///< Of its points in losses and errors; empty: as the stage measures errors
                        ///< (query_weight_choice()).
  bool interpolate_inputs = false;  ///< Inputs that it lacks come from the source.
};

/// A sample whose inputs, with weights and parameters, are those of one mesh, and whose targets
/// those of another.
struct PairSample {
  /// For models that separate the query, source and query. For the others the query's points stand
  /// behind those of the source, with weight 0 there; `query` is all of them, where those of the
  /// source have weight 0 and target 0 in turn. The query's weights are `weights`, but in `paper`
  /// with cross, where they are part of what is computed, those of a run.
  Sample sample;
  std::int64_t first_result = 0;  ///< Rows of the query before this one belong to the source.
  Tensor weights;                 ///< [M] of the results, by QuerySettings::weights.
  bool has_interpolated_inputs = false;  ///< The query lacked some that it needs.
  /// "B and its source A have no place in common; ...", where the boxes of the two meshes along the
  /// contract's axes do not meet; else empty.
  std::string apart;

  /// Places, weights and targets of the results alone; without source and values.
  Sample results() const;
};

/// What OperatorStage::run(source, query) would evaluate, NanPolicy::error, with the targets of
/// `query`. @param model whose kind alone counts. Throws as that, bind_targets() and
/// quadrature_weights() do.
PairSample bind_pair(const Mesh& source, const Mesh& query, const Model& model,
                     const Contract& contract, const QuerySettings& settings);

/// [M] quadrature weights of the points (or cells) of the mesh that has the results, such as
/// PairSample::weights.
Tensor result_weights(const Mesh& mesh, const Contract& contract, const QuerySettings& settings);

}  // namespace funcattn
