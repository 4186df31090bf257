#pragma once

#include <functional>

#include "examples/darcy/darcy_domain.h"

namespace funcattn {

using PlaneFunction = std::function<double(const Eigen::Vector2d&)>;

/// -div(a grad u) = f with u = g on the boundary, by linear finite elements on triangles and sparse
/// Cholesky: u at the points, in float64. Where u is smooth, its error falls with the square of the
/// size of the triangles in L2 and linearly in the H1 seminorm.
/// @param permeability a > 0, one value per triangle (at its centre, for a smooth function)
/// @param source f, integrated by the midpoints of the edges
/// @param boundary g
/// Throws NumericError if a permeability is not positive and finite.
Eigen::VectorXd solve_darcy(const TriangleMesh& mesh, const Eigen::VectorXd& permeability,
                            const PlaneFunction& source, const PlaneFunction& boundary);

}  // namespace funcattn
