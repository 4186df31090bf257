#pragma once

// Small operators and meshes that the tests of the stage and of the command share.

#include "meshio/mesh.h"
#include "operators/operator.h"

namespace funcattn::test {

/// shared_basis, x and y as coordinates, inputs "load" (1) and "force" (3), outputs "pressure" (1)
/// and "displacement" (3); weights "measure", trained on 10 to 100 points in [0,1]^2.
Operator make_surrogate(Association association = Association::point,
                        torch::Dtype dtype = torch::kFloat64);

/// The surrogate with eight blocks, whose weights are as large as training makes them: so that
/// every layer bears on the result.
Operator make_deep(torch::Dtype dtype);

/// The surrogate whose force is a parameter, in N, trained from (0, -1, 2) to (1, 0, 2).
Operator make_parametric(Association association = Association::point);

/// few_shot on x, value "y", flag "known", output "y".
Operator make_regression();

/// Triangulated grid of columns x rows points in the unit square, distorted, with the inputs of
/// the surrogate at the points and, named alike but with other values, at the cells.
Mesh make_grid(int columns, int rows);

/// Points on a line from 0 to 1 with "y" = sin(6 x) where "known" (every `stride`-th point) is 1,
/// and NaN elsewhere.
Mesh make_scattered_line(int points, int stride);

/// A mesh like `mesh` whose array holds `value` in row `index`.
Mesh with_value(const Mesh& mesh, const std::string& array, Association association,
                Eigen::Index index, double value);

/// A mesh like `mesh` without the array.
Mesh without_array(const Mesh& mesh, const std::string& array, Association association);

}  // namespace funcattn::test
