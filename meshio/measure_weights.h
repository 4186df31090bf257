#pragma once

#include <Eigen/Core>
#include <set>

#include "meshio/mesh.h"

namespace funcattn {

/// Points whose coordinates are NaN or Inf.
using Places = std::set<Eigen::Index>;

/// Highest dimension of the cells, 0 where there are none or vertices only.
int highest_dimension(const Mesh& mesh);

/// Adds the measures of the cells of dimension `highest`, the mesh's highest one, to `weights`:
/// shared among the points of each cell, or those of the cells themselves. Cells at places that are
/// not finite measure 0, and these places are added to `spoilt_by`. Absent cells are left out.
/// Throws DataError where a cell is damaged or its measure is no number.
void add_measures(const Mesh& mesh, Association association, int highest,
                  Eigen::Ref<Eigen::VectorXd> weights, Places& spoilt_by);

}  // namespace funcattn
