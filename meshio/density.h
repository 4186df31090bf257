#pragma once

#include "meshio/array_view.h"

namespace funcattn {

/// Dimension of the set that the points sample: 1 for points along a line or curve of small
/// extent, 2 for a plane or surface, 3 for a volume.
///
/// The correlation dimension at the scale of the neighbours: the median over points of
/// ln(k2 / k1) / ln(r(k2) / r(k1)), r(k) being the distance to the k-th neighbour, k1 = 4 and
/// k2 = 16 (fewer where there are fewer points), rounded and clamped to [1, 3]. A flat or straight
/// cloud is never given more dimensions than its extent has.
int cloud_dimension(const RowMatrix& points);

/// Weights of a point cloud, as quadrature for an unknown density: the volume (area, length) that a
/// point stands for is that of the ball in which it has k neighbours, over k:
///   w_i = V_d r_i(k)^d / k,
/// d the cloud's dimension, V_d the unit ball, r_i(k) the distance to the k-th other point that is
/// present, k = 8 (all others where there are fewer). Points that coincide with more than k others
/// share the smallest positive weight. At the border of the cloud, where the ball sticks out,
/// weights come out larger, at most by 2^d. One point weighs 1.
/// @param points [n,3]
/// @param present [n]; points of 0 weigh 0 and are nobody's neighbours
Eigen::VectorXd density_weights(const RowMatrix& points, const Eigen::VectorXd& present);

}  // namespace funcattn
