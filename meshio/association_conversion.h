#pragma once

#include <string>
#include <vector>

#include "meshio/mesh.h"

namespace funcattn {

/// `mesh` with the arrays `names` of its other association converted to `wanted` and added under
/// their names: to points as the mean of the cells around (vtkCellDataToPointData), to cells as the
/// mean of their points (vtkPointDataToCellData). Points that no cell uses become 0. Throws
/// DataError if an array is absent.
Mesh convert_arrays(const Mesh& mesh, const std::vector<std::string>& names, Association wanted);

}  // namespace funcattn
