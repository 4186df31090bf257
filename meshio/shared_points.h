#pragma once

#include <Eigen/Core>
#include <vector>

#include "core/process_group.h"
#include "meshio/mesh.h"

namespace funcattn {

/// How much of a point each entry of the meshes is, where these and those of the other processes
/// are pieces of one mesh, or were joined from some (joined_pieces.h): 1, or 1/m where m pieces
/// hold a point of exactly this place. Entries that weigh something count before those that do not,
/// and ghosts without weight are 0, so that the sum over all pieces is the number of points of the
/// whole. Cells are in one piece each. Called by all processes together.
/// @param weights [entries], >= 0
/// @param group null: this one has all pieces
/// @return [entries]
Eigen::VectorXd point_shares(const std::vector<Mesh>& meshes, Association association,
                             const Eigen::VectorXd& weights, ProcessGroup* group);

/// Whether the meshes have points in more than one piece, so that some may be shared.
bool has_pieces(const std::vector<Mesh>& meshes);

}  // namespace funcattn
