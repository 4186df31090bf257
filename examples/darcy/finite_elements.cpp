#include "examples/darcy/finite_elements.h"

#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>

#include "core/error.h"
#include "core/text.h"

namespace funcattn {

Eigen::VectorXd solve_darcy(const TriangleMesh& mesh, const Eigen::VectorXd& permeability,
                            const PlaneFunction& source, const PlaneFunction& boundary) {
  using Eigen::Vector2d;
  const Eigen::Index count = mesh.points.rows();
  Eigen::VectorXd solution = Eigen::VectorXd::Zero(count);
  std::vector<int> unknown(static_cast<std::size_t>(count), -1);
  int unknowns = 0;
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (mesh.on_boundary[at])
      solution[i] = boundary(mesh.points.row(i).transpose());
    else
      unknown[at] = unknowns++;
  }

  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(static_cast<std::size_t>(mesh.triangles.rows()) * 6);
  Eigen::VectorXd load = Eigen::VectorXd::Zero(unknowns);
  for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
    const double a = permeability[t];
    if (!(a > 0) || !std::isfinite(a))
      throw NumericError("the permeability of triangle " + std::to_string(t) + " is " +
                         format_number(a) + "; positive numbers are expected");
    Vector2d corner[3], opposite[3];
    for (int i = 0; i < 3; ++i) corner[i] = mesh.points.row(mesh.triangles(t, i)).transpose();
    for (int i = 0; i < 3; ++i) opposite[i] = corner[(i + 2) % 3] - corner[(i + 1) % 3];
    const double twice_area = opposite[1].x() * opposite[2].y() - opposite[1].y() * opposite[2].x();
    // Hat functions have the gradients of the opposite edges, turned and over twice the area.
    for (int i = 0; i < 3; ++i) {
      const int row = unknown[static_cast<std::size_t>(mesh.triangles(t, i))];
      if (row < 0) continue;
      const Vector2d one = 0.5 * (corner[i] + corner[(i + 1) % 3]);
      const Vector2d two = 0.5 * (corner[i] + corner[(i + 2) % 3]);
      load[row] += twice_area / 12 * (source(one) + source(two));
      for (int j = 0; j < 3; ++j) {
        const double stiffness = a * opposite[i].dot(opposite[j]) / (2 * twice_area);
        const int column = unknown[static_cast<std::size_t>(mesh.triangles(t, j))];
        if (column < 0)
          load[row] -= stiffness * solution[mesh.triangles(t, j)];
        else if (column <= row)
          entries.emplace_back(row, column, stiffness);
      }
    }
  }
  if (unknowns == 0) return solution;
  Eigen::SparseMatrix<double> matrix(unknowns, unknowns);
  matrix.setFromTriplets(entries.begin(), entries.end());
  const Eigen::SimplicialLLT<Eigen::SparseMatrix<double>, Eigen::Lower> factor(matrix);
  if (factor.info() != Eigen::Success)
    throw NumericError("the stiffness matrix of a mesh of " + std::to_string(count) +
                       " points is not positive definite; give another seed");
  const Eigen::VectorXd inner = factor.solve(load);
  for (Eigen::Index i = 0; i < count; ++i)
    if (unknown[static_cast<std::size_t>(i)] >= 0)
      solution[i] = inner[unknown[static_cast<std::size_t>(i)]];
  return solution;
}

}  // namespace funcattn
