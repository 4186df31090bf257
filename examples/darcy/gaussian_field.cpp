#include "examples/darcy/gaussian_field.h"

#include <algorithm>
#include <cmath>

namespace funcattn {

namespace {

constexpr double pi = 3.14159265358979323846;

}  // namespace

GaussianField::GaussianField(double correlation_length, int modes, RandomGenerator& random)
    : coefficients_(modes, modes) {
  const double tau = 1 / correlation_length;
  double variance = 0;
  for (int i = 0; i < modes; ++i)
    for (int j = 0; j < modes; ++j) {
      const double deviation = i + j == 0 ? 0 : 1 / (pi * pi * (i * i + j * j) + tau * tau);
      coefficients_(i, j) = deviation * random.normal();
      // The mean square of a cosine is 1/2, that of 1 is 1.
      variance += deviation * deviation * (i == 0 ? 1 : 0.5) * (j == 0 ? 1 : 0.5);
    }
  coefficients_ /= std::sqrt(variance);
}

Eigen::VectorXd GaussianField::at(const Places& points) const {
  const Eigen::Index modes = coefficients_.rows();
  const auto waves = [&](int axis) {
    // cos((i + 1) t) = 2 cos t cos(i t) - cos((i - 1) t)
    const Eigen::ArrayXd first = (points.col(axis).array() * pi).cos();
    Eigen::ArrayXXd cosines(points.rows(), std::max<Eigen::Index>(modes, 2));
    cosines.col(0).setOnes();
    cosines.col(1) = first;
    for (Eigen::Index i = 2; i < modes; ++i)
      cosines.col(i) = 2 * first * cosines.col(i - 1) - cosines.col(i - 2);
    return Eigen::MatrixXd(cosines.leftCols(modes));
  };
  return (waves(0) * coefficients_).cwiseProduct(waves(1)).rowwise().sum();
}

}  // namespace funcattn
