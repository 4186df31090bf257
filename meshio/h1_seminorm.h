#pragma once

#include <optional>
#include <vector>

#include "meshio/mesh.h"

namespace funcattn {

/// sqrt(integral of |grad f|^2), in the order of `fields`, all components added up, over the cells
/// of the highest dimension in the mesh (length, area or volume; the gradient within a surface or
/// along a line). f is linear on the simplices that VTK cuts a cell into, and the integral exact
/// for that. Ghost cells do not count, nor do simplices with a point where one of the fields is not
/// finite. Nothing where no cell is left that has extent. Throws DataError for fields of other
/// lengths.
/// @param fields [points, components] each
std::optional<std::vector<double>> h1_seminorms(const Mesh& mesh,
                                                const std::vector<RowMatrix>& fields);

}  // namespace funcattn
