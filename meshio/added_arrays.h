#pragma once

#include <vtkDataArray.h>
#include <vtkSmartPointer.h>

#include <vector>

#include "meshio/mesh.h"

namespace funcattn {

using VtkArrays = std::vector<vtkSmartPointer<vtkDataArray>>;

/// A mesh that shares everything with `mesh` and has these arrays as well, which take the place of
/// those of their names. Throws DataError if one has no name or not one tuple per point or cell.
Mesh with_arrays(const Mesh& mesh, const VtkArrays& arrays, Association association);

/// The same with arrays of the field data, of any length.
Mesh with_field_arrays(const Mesh& mesh, const VtkArrays& arrays);

}  // namespace funcattn
