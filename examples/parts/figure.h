#pragma once

#include <Eigen/Core>
#include <vector>

#include "core/random.h"
#include "meshio/mesh.h"

namespace funcattn {

/// Solids that a figure is made of; the number of each is its class.
enum class FigurePart { body, head, limb, ring };
inline constexpr int figure_parts = 4;

/// A body with a head, four limbs and a ring on its back, of random shape and direction: the union
/// of a rounded box, a ball, capsules and a torus inside of [-1,1]^3.
class Figure {
 public:
  explicit Figure(RandomGenerator& random);

  /// Distance to the nearest of the solids, negative inside of it.
  double distance(const Eigen::Vector3d& place) const { return nearest(place).second; }
  /// Whose surface is nearest.
  FigurePart part(const Eigen::Vector3d& place) const { return nearest(place).first; }
  /// Outward, of length 1.
  Eigen::Vector3d normal(const Eigen::Vector3d& place) const;

  /// The closed surface, of about `points` points (vtkFlyingEdges3D), without arrays.
  Mesh surface(int points) const;

 private:
  std::pair<FigurePart, double> nearest(const Eigen::Vector3d& place) const;
  Mesh contour(int cells) const;

  struct Capsule {
    Eigen::Vector3d from, to;
    double radius;
  };

  double cosine_, sine_;  ///< Of the rotation about z.
  Eigen::Vector3d body_;  ///< Half the edges of the box.
  Eigen::Vector3d head_;  ///< Centre.
  double head_radius_;
  std::vector<Capsule> limbs_;
  Eigen::Vector3d ring_;  ///< Centre; its axis is y.
  double ring_radius_;
};

}  // namespace funcattn
