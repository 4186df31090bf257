#include "examples/darcy/darcy_domain.h"

#include <cmath>

namespace funcattn {

std::vector<Eigen::Vector2d> DarcyDomain::corners() const {
  if (!notched) return {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  return {{0, 0},
          {notch_place - 0.5 * notch_width, 0},
          {notch_place, notch_height},
          {notch_place + 0.5 * notch_width, 0},
          {1, 0},
          {1, 1},
          {0, 1}};
}

double DarcyDomain::area() const {
  return notched ? 1 - 0.5 * notch_width * notch_height : 1;
}

bool DarcyDomain::contains(const Eigen::Vector2d& point) const {
  if (point.x() <= 0 || point.x() >= 1 || point.y() <= 0 || point.y() >= 1) return false;
  if (!notched || point.y() >= notch_height) return true;
  const double half_width = 0.5 * notch_width * (1 - point.y() / notch_height);
  return std::abs(point.x() - notch_place) > half_width;
}

Eigen::Vector2d DarcyDomain::focus() const {
  return notched ? Eigen::Vector2d(notch_place, notch_height) : Eigen::Vector2d(0.5, 0.5);
}

Eigen::Matrix<double, Eigen::Dynamic, 2, Eigen::RowMajor> TriangleMesh::centres() const {
  Eigen::Matrix<double, Eigen::Dynamic, 2, Eigen::RowMajor> result(triangles.rows(), 2);
  for (Eigen::Index t = 0; t < triangles.rows(); ++t)
    result.row(t) =
        (points.row(triangles(t, 0)) + points.row(triangles(t, 1)) + points.row(triangles(t, 2))) /
        3;
  return result;
}

}  // namespace funcattn
