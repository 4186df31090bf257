#pragma once

#include <cstdint>

#include "meshio/mesh.h"

namespace funcattn {

/// A mesh with at least `target` points made of `mesh` by halving: triangles and tetrahedra by
/// VTK's linear subdivision (other polygons and solids are first cut into these), poly-lines by
/// their midpoints, as often as it takes. Point arrays are interpolated linearly (integers
/// rounded), cell arrays are those of the cell that a piece comes from; coordinates keep their type
/// and, at the points of `mesh`, their bits. A vtkPolyData or vtkUnstructuredGrid stays one. Throws
/// DataError for point clouds, for meshes whose cells differ in dimension, and for images and
/// grids, which resample_structured() serves.
Mesh refine(const Mesh& mesh, std::int64_t target);

}  // namespace funcattn
