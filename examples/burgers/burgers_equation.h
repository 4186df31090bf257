#pragma once

#include "core/random.h"
#include "examples/burgers/periodic_series.h"

namespace funcattn {

/// Gaussian measure N(0, a^2 tau^4 (-Laplace + tau^2 I)^-2) of functions of period 1. The defaults
/// are the published N(0, 625 (-Laplace + 25 I)^-2).
struct BurgersMeasure {
  double amplitude = 1;             ///< a: standard deviation of the mean of a function.
  double correlation_length = 0.2;  ///< 1 / tau
  bool zero_mean = false;           ///< Without the constant mode; the others stay as they are.
  int modes = 4096;                 ///< K; more are cut off.

  PeriodicSeries draw(RandomGenerator& random) const;
};

/// How u_t + u u_x = nu u_xx with period 1 is solved.
struct BurgersSolver {
  double viscosity = 0.1;
  double time = 1;
  int points = 512;  ///< Of the grid on which products are taken: n / 3 modes are kept.
  int steps = 500;

  /// Throws UsageError.
  void validate() const;

  /// u(., time) in float64 from u(., 0) = `initial`. Fourier pseudo-spectral, products without
  /// aliasing by the 2/3 rule; diffusion exactly by an integrating factor, fourth-order Runge-Kutta
  /// in time. Throws NumericError where the time steps are too large, so that the mean of u^2
  /// grows, or the grid is too coarse for the result: its highest modes hold more than 1e-8 of the
  /// largest.
  PeriodicSeries solve(const PeriodicSeries& initial) const;
};

}  // namespace funcattn
