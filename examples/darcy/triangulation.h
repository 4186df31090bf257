#pragma once

#include "core/random.h"
#include "examples/darcy/darcy_domain.h"

namespace funcattn {

enum class Spacing {
  uniform,
  graded,  ///< From 1/8 of the coarsest at the focus of the domain to the coarsest at distance 1/2.
};

/// A Delaunay mesh (vtkDelaunay2D) of about `points` points: the boundary divided evenly, and
/// inside points of a Poisson-disc process, no nearer to each other than the spacing at the place.
/// Throws UsageError for fewer than 20 points, NumericError if the triangles do not cover the
/// domain.
TriangleMesh triangulate(const DarcyDomain& domain, Spacing spacing, int points,
                         RandomGenerator& random);

/// The mesh of a notched square with its notch at another place: strips beside the notch stretched,
/// the one that holds it moved.
TriangleMesh move_notch(TriangleMesh mesh, const DarcyDomain& from, const DarcyDomain& to);

}  // namespace funcattn
