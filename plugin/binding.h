#pragma once

// Joins meshio and operators: internal to plugin/ and to the tools built on it (this header sees
// LibTorch; stage.h does not).

#include <string>
#include <vector>

#include "meshio/mesh.h"
#include "meshio/quadrature.h"
#include "operators/contract.h"
#include "operators/point_samples.h"

namespace funcattn {

/// A mesh as the operator of `contract` sees it: float64 tensors without batch axis, physical
/// units.
///
/// Where the contract has a source_flag, the source is the points whose flag is non-zero, each of
/// weight 1 (a quadrature rule for the mesh says nothing about scattered samples), and the query is
/// all points; otherwise source and query are all points with their quadrature weights. Query
/// weights are the quadrature weights. Targets are filled where `with_targets`.
/// Throws DataError for absent arrays, wrong component counts, and NaN or Inf in any used value at
/// a point of positive weight (array, count, first index).
Sample bind_sample(const Mesh& mesh, const Contract& contract, const WeightChoice& weights,
                   bool with_targets);

/// [n,C] tensor to a row-major matrix.
RowMatrix to_matrix(const Tensor& values);

/// What in the mesh lies outside what the operator was trained on: point count, bounding box.
std::vector<std::string> range_warnings(const Mesh& mesh, const Contract& contract);

}  // namespace funcattn
