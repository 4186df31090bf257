#pragma once

#include <complex>
#include <vector>

namespace funcattn {

/// A real function of period 1, band-limited:
///   f(x) = Re c_0 + 2 Re sum_{k = 1}^{K} c_k exp(2 pi i k x).
/// It has a value at every point, so that samplings of one function agree to rounding.
class PeriodicSeries {
 public:
  /// @param coefficients c_0 to c_K, at least one; the imaginary part of c_0 is ignored
  explicit PeriodicSeries(std::vector<std::complex<double>> coefficients);

  const std::vector<std::complex<double>>& coefficients() const { return coefficients_; }

  /// Values at i / n, i = 0 ... n - 1, for any n >= 1: modes that a grid of n points cannot hold
  /// are summed, not cut off.
  std::vector<double> on_grid(int n) const;

  /// Values at any points.
  std::vector<double> at(const std::vector<double>& x) const;

 private:
  std::vector<std::complex<double>> coefficients_;
};

}  // namespace funcattn
