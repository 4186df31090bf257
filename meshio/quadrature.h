#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "core/process_group.h"
#include "meshio/mesh.h"

namespace funcattn {

/// How much of the domain each point (or cell) stands for.
enum class WeightKind {
  automatic,  ///< measure where the mesh has cells of positive measure, uniform otherwise
  uniform,    ///< 1 everywhere
  measure,    ///< length, area or volume of each cell, shared equally among its points; poly-lines
              ///< and strips count as their segments and triangles
  density,    ///< for point clouds: the space around each point, estimated from its neighbours
  array,      ///< a named array, >= 0
};

struct WeightChoice {
  WeightKind kind = WeightKind::automatic;
  std::string array;  ///< Name, for WeightKind::array.
};

/// What points whose coordinates are NaN or Inf do to weights that depend on places.
enum class NonFinitePlaces {
  refuse,         ///< DataError with their number and the first index, unless they are ghosts or
                  ///< hidden and no cell that counts uses them.
  weigh_nothing,  ///< They weigh 0, and so do the cells that use them.
};

/// "auto", "uniform", "measure", "density" or "array:NAME". Throws UsageError.
WeightChoice weight_choice_from_string(const std::string& text);
std::string to_string(const WeightChoice& choice);

/// Quadrature weights, >= 0, [count]. Ghost and hidden points or cells weigh 0, and so do, with
/// `measure`, points that no cell uses. Only the cells of the highest dimension in the mesh count
/// for `measure`; the weights then sum to the mesh's length, area or volume. Of a mesh in pieces,
/// with ghost layers or without, the weights of each place sum over the pieces to its weight in the
/// whole; for that, a ghost point on the seam keeps the shares of cells that are no ghosts, if the
/// piece flags cells at all. Throws DataError if no weight is positive, but where `places` took
/// them away; and if a named array holds negative or non-finite values.
Eigen::VectorXd quadrature_weights(const Mesh& mesh, Association association,
                                   const WeightChoice& choice,
                                   NonFinitePlaces places = NonFinitePlaces::refuse);

/// The same for meshes that cover one domain together (the leaves of a tree), one after the other:
/// the highest dimension is that of all, a mesh may weigh nothing, and pieces with ghost layers
/// weigh as the whole does. A point that several of them hold, or several pieces that a mesh was
/// joined from, counts once: with `measure` the shares of its cells add up, `uniform` and
/// `array` weights are divided among the copies. Throws DataError, also if there is no mesh.
Eigen::VectorXd quadrature_weights(const std::vector<Mesh>& meshes, Association association,
                                   const WeightChoice& choice,
                                   NonFinitePlaces places = NonFinitePlaces::refuse);

/// Weights of a mesh in pieces.
struct WeightsInPieces {
  Eigen::VectorXd weights;  ///< [entries]
  Eigen::VectorXd shares;   ///< As point_shares() gives them; empty where there is one piece.
};

/// As above for the pieces that this process holds of a mesh, none perhaps; all processes call it
/// together. Throws as above where it holds for all pieces together, and UsageError for `density`
/// in several processes, for it needs all points at once.
/// @param processes null: this one has all
WeightsInPieces quadrature_weights(const std::vector<Mesh>& meshes, Association association,
                                   const WeightChoice& choice, NonFinitePlaces places,
                                   ProcessGroup* processes);

}  // namespace funcattn
