#pragma once

#include <vector>

#include "meshio/mesh.h"

namespace funcattn {

/// One entry per point or cell: whether it stays.
using KeepMask = std::vector<bool>;

/// The points that stay, with their arrays, and the cells all of whose points stay, in the old
/// order. Shares nothing that changes. Throws DataError for images and grids, which cannot have
/// holes, and for masks of another length.
Mesh keep_points(const Mesh& mesh, const KeepMask& kept);

/// All points, and the cells that stay, in the old order. Throws DataError as keep_points().
Mesh keep_cells(const Mesh& mesh, const KeepMask& kept);

/// The points that stay, with their arrays, as a cloud of vertices: cells and their arrays are left
/// out. An unstructured grid remains one, everything else becomes a vtkPolyData.
Mesh keep_points_as_cloud(const Mesh& mesh, const KeepMask& kept);

}  // namespace funcattn
