#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "meshio/mesh.h"
#include "meshio/mesh_tree.h"

namespace funcattn::test {

/// Which piece each cell belongs to.
struct Cut {
  std::size_t pieces = 0;
  std::vector<std::size_t> owners;
};
Cut cut_in_turn(const Mesh& mesh, std::size_t pieces);    ///< Consecutive cells.
Cut cut_at_random(const Mesh& mesh, std::size_t pieces);  ///< Every cell by chance.

/// The mesh with a point array "id", the number of each point.
Mesh with_ids(const Mesh& mesh);

/// The pieces of an unstructured grid. With ghost layers, cells of other pieces are flagged, and so
/// are the points of which another piece is the owner: the first one that has a cell of its own
/// there. Without, points of the seams are simply in all pieces that use them.
std::vector<Mesh> pieces_of(const Mesh& mesh, const Cut& cut, int ghost_layers);

/// Some of the pieces, [begin, end), as a process holds them.
MeshTree tree_of(const std::vector<Mesh>& pieces, std::size_t begin, std::size_t end,
                 const std::string& origin);

}  // namespace funcattn::test
