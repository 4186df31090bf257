#pragma once

// Joins meshio and operators: internal to plugin/ and to the tools built on it (this header sees
// LibTorch; stage.h does not).

#include <string>
#include <vector>

#include "meshio/mesh.h"
#include "meshio/mesh_tree.h"
#include "meshio/quadrature.h"
#include "operators/contract.h"
#include "operators/point_samples.h"
#include "plugin/nan_policy.h"

namespace funcattn {

/// What the policy means for weights.
NonFinitePlaces places_for(NanPolicy policy);

/// Meshes as one sample. An entry is a point, or a cell where the contract's arrays are cell
/// arrays; the entries of all meshes stand one after the other, in the order of the meshes.
struct BoundMeshes {
  Sample sample;
  std::vector<Eigen::Index> counts;  ///< Entries per mesh.
  std::vector<bool> unusable;        ///< Entries whose coordinates or inputs are not finite.
  std::vector<std::int64_t> source_entries;  ///< Those of the source; empty: all are.
  Eigen::Index unusable_count() const;
};

/// Meshes (one, or the leaves of a tree) as the operator of `contract` sees them: float64 tensors
/// without batch axis, physical units.
///
/// Where the contract has a source_flag, the source is the points whose flag is non-zero, each of
/// weight 1 (a quadrature rule for the mesh says nothing about scattered samples), and the query is
/// all points; otherwise source and query are all points with their quadrature weights. Query
/// weights are the quadrature weights. Unusable entries weigh 0 and are no source points. Targets
/// are filled where `with_targets`.
/// `parameters`: the components of the contract's parameters, as parameter_values() gives them.
/// `processes`: those that hold the other pieces of the sample, which call it together; there may
/// be no mesh here.
/// Throws DataError for absent arrays, wrong component counts, no entry of positive weight and,
/// with NanPolicy::error, for NaN or Inf in a used value at an entry of positive weight, or in a
/// place that the measure of a cell needs (array, count, first index).
BoundMeshes bind_meshes(const std::vector<Mesh>& meshes, const Contract& contract,
                        const WeightChoice& weights, NanPolicy nan, bool with_targets = false,
                        const std::vector<double>& parameters = {},
                        ProcessGroup* processes = nullptr);

/// One mesh, NanPolicy::error; parameters from its field data.
Sample bind_sample(const Mesh& mesh, const Contract& contract, const WeightChoice& weights,
                   bool with_targets);

/// The pieces that this process holds of a mesh, NanPolicy::error, with targets; parameters from
/// the field data of any piece. All processes call it together. The name is that of the tree.
Sample bind_pieces(const MeshTree& pieces, const Contract& contract, const WeightChoice& weights,
                   ProcessGroup& processes);

/// Places of other meshes at which an operator is to be evaluated: coordinates, and inputs where
/// `with_values`; `weights` as given. NaN is handled as by bind_meshes, every entry that
/// is no ghost counting as used. Throws DataError.
struct BoundQuery {
  PointSamples points;
  std::vector<Eigen::Index> counts;
  std::vector<bool> unusable;
};
BoundQuery bind_query(const std::vector<Mesh>& meshes, const Contract& contract, bool with_values,
                      const Eigen::VectorXd& weights, NanPolicy nan,
                      const std::vector<double>& parameters = {});

/// The true arrays of the meshes, [entries, target components]. Throws DataError for absent arrays,
/// wrong component counts and, at entries where `used` is positive, NaN, Inf and what is no class.
/// @param of_query whether the meshes have weights of their own, for the advice
Tensor bind_targets(const std::vector<Mesh>& meshes, const Contract& contract,
                    const Eigen::VectorXd& used, bool of_query = false);

/// [n,C] tensor to a row-major matrix.
RowMatrix to_matrix(const Tensor& values);
/// Row-major matrix to a float64 tensor [n,C].
Tensor to_tensor(const RowMatrix& values);

/// Whether there are fewer entries than in training: they show less of the input. More of them are
/// what an operator is for, but where its sums grow with their number. @param origin what to call
/// them.
std::vector<std::string> count_warnings(const std::string& origin, Eigen::Index count,
                                        const Contract& contract, bool sums_grow = false);

/// Axes along which the coordinates [n,D], of all processes, leave the bounding box of training.
std::vector<std::string> box_warnings(const std::string& origin, const Tensor& coordinates,
                                      const Contract& contract, ProcessGroup* processes = nullptr);

/// Axes along which the meshes, of all processes, are extended and that an operator with
/// coordinates was not trained along: a planar one does not see the height of a solid.
std::vector<std::string> unseen_axis_warnings(const std::string& origin,
                                              const std::vector<Mesh>& meshes,
                                              const Contract& contract,
                                              ProcessGroup* processes = nullptr);

}  // namespace funcattn
