#include "examples/burgers/periodic_series.h"

#include <cmath>
#include <unsupported/Eigen/FFT>
#include <utility>

#include "core/error.h"

namespace funcattn {

namespace {

constexpr double two_pi = 6.28318530717958647692;

}  // namespace

PeriodicSeries::PeriodicSeries(std::vector<std::complex<double>> coefficients)
    : coefficients_(std::move(coefficients)) {
  if (coefficients_.empty()) throw UsageError("a series needs at least the coefficient of mode 0");
  coefficients_.front().imag(0);
}

// On a grid of n points the mode k is the mode k mod n, so that one transform of length n gives the
// values whatever the number of modes.
std::vector<double> PeriodicSeries::on_grid(int n) const {
  if (n < 1) throw UsageError("a grid needs at least one point");
  if (n == 1) return at({0});  // Eigen's transform of one value is none.
  const auto size = static_cast<std::size_t>(n);
  std::vector<std::complex<double>> folded(size);
  folded[0] = coefficients_[0];
  for (std::size_t k = 1; k < coefficients_.size(); ++k) {
    folded[k % size] += coefficients_[k];
    folded[(size - k % size) % size] += std::conj(coefficients_[k]);
  }
  std::vector<std::complex<double>> values(size);
  Eigen::FFT<double> transform;
  transform.SetFlag(Eigen::FFT<double>::Unscaled);
  transform.inv(values, folded);
  std::vector<double> result(size);
  for (std::size_t i = 0; i < size; ++i) result[i] = values[i].real();
  return result;
}

std::vector<double> PeriodicSeries::at(const std::vector<double>& x) const {
  std::vector<double> result;
  result.reserve(x.size());
  for (const double place : x) {
    const std::complex<double> turn = std::polar(1.0, two_pi * (place - std::floor(place)));
    // Horner's rule from the highest mode.
    std::complex<double> sum = 0;
    for (std::size_t k = coefficients_.size(); k-- > 1;) sum = (sum + coefficients_[k]) * turn;
    result.push_back(coefficients_[0].real() + 2 * sum.real());
  }
  return result;
}

}  // namespace funcattn
