#pragma once

#include <Eigen/Core>
#include <vector>

namespace funcattn {

/// The unit square, whole or with a triangular notch cut from its lower side upwards.
struct DarcyDomain {
  bool notched = false;
  double notch_place = 0.5;  ///< x of the tip and of the middle of the base, in [0.2, 0.8].
  double notch_width = 0.2;  ///< Of the base, on y = 0.
  double notch_height = 0.5;

  /// Counter-clockwise.
  std::vector<Eigen::Vector2d> corners() const;
  double area() const;
  /// Whether a point of the square is in the interior.
  bool contains(const Eigen::Vector2d& point) const;
  /// Where graded meshes are finest: the tip of the notch, the centre of a whole square.
  Eigen::Vector2d focus() const;
};

/// A mesh of triangles, counter-clockwise, in the plane.
struct TriangleMesh {
  Eigen::Matrix<double, Eigen::Dynamic, 2, Eigen::RowMajor> points;
  Eigen::Matrix<int, Eigen::Dynamic, 3, Eigen::RowMajor> triangles;
  std::vector<bool> on_boundary;  ///< Per point.

  /// [triangles,2]
  Eigen::Matrix<double, Eigen::Dynamic, 2, Eigen::RowMajor> centres() const;
};

}  // namespace funcattn
