#pragma once

#include <Eigen/Core>

#include "core/random.h"

namespace funcattn {

/// A Gaussian field on the unit square as a sum of cosines,
///   g(x, y) = sum_ij xi_ij s_ij cos(pi i x) cos(pi j y),  s_ij = (pi^2 (i^2 + j^2) + tau^2)^-1,
/// without the constant and scaled to a mean variance of 1: the measure N(0, (-Laplace + tau^2)^-2)
/// with normal derivative 0, cut off at `modes` waves each way. It has a value at every point.
class GaussianField {
 public:
  using Places = Eigen::Ref<const Eigen::Matrix<double, Eigen::Dynamic, 2, Eigen::RowMajor>>;

  GaussianField(double correlation_length, int modes, RandomGenerator& random);

  Eigen::VectorXd at(const Places& points) const;

 private:
  Eigen::MatrixXd coefficients_;  ///< [modes,modes]
};

}  // namespace funcattn
