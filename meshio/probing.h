#pragma once

#include <vector>

#include "meshio/mesh.h"

namespace funcattn {

/// `target` with arrays interpolated from `source` (vtkProbeFilter: by the shape functions of the
/// cell that holds a point; cell arrays are constant in a cell) at its points or cell centres, as
/// each array's association says. Where parts of the source overlap, the first one counts.
/// Throws DataError, with the count, for places outside all cells of the source, and if an array is
/// absent from a part of the source.
Mesh interpolate_arrays(const std::vector<Mesh>& source, const Mesh& target,
                        const std::vector<ArraySpec>& arrays);

}  // namespace funcattn
