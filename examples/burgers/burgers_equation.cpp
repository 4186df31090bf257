#include "examples/burgers/burgers_equation.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <unsupported/Eigen/FFT>
#include <utility>

#include "core/error.h"
#include "core/text.h"

namespace funcattn {

namespace {

constexpr double two_pi = 6.28318530717958647692;

/// Coefficients c_0 ... c_K of a real function, as a column.
using Spectrum = Eigen::ArrayXcd;

/// By which the energy may grow in a step: rounding, and the error of a step that is small enough.
constexpr double largest_growth = 1e-4;

/// The mean of u^2, which transport conserves, without aliasing in its truncated form too, and
/// diffusion lets fall.
double energy_of(const Spectrum& u) {
  return 2 * u.abs2().sum() - std::norm(u[0]);
}

/// -1/2 (u^2)_x of a band-limited function, without aliasing.
class Transport {
 public:
  Transport(int points, Eigen::Index modes) : points_(points), derivative_(modes) {
    transform_.SetFlag(Eigen::FFT<double>::HalfSpectrum);
    transform_.SetFlag(Eigen::FFT<double>::Unscaled);
    for (Eigen::Index k = 0; k < modes; ++k)
      derivative_[k] = {0, -0.5 * two_pi * static_cast<double>(k) / points};
    half_ = Eigen::VectorXcd::Zero(points / 2 + 1);
    values_.resize(points);
  }

  Spectrum operator()(const Spectrum& u) {
    half_.setZero();
    half_.head(u.size()) = u.matrix();
    transform_.inv(values_.data(), half_.data(), points_);
    values_ = values_.array().square();
    transform_.fwd(half_.data(), values_.data(), points_);
    return derivative_ * half_.head(u.size()).array();
  }

 private:
  int points_;
  Spectrum derivative_;
  Eigen::FFT<double> transform_;
  Eigen::VectorXcd half_;
  Eigen::VectorXd values_;
};

}  // namespace

PeriodicSeries BurgersMeasure::draw(RandomGenerator& random) const {
  const double tau = 1 / correlation_length;
  std::vector<std::complex<double>> coefficients;
  coefficients.reserve(static_cast<std::size_t>(modes) + 1);
  for (int k = 0; k <= modes; ++k) {
    const double wave = two_pi * k;
    const double deviation = amplitude * tau * tau / (wave * wave + tau * tau);
    // sqrt(2) (xi cos + eta sin) has the coefficient (xi - i eta) / sqrt(2).
    const double real = random.normal();
    if (k == 0)
      coefficients.emplace_back(zero_mean ? 0.0 : deviation * real, 0);
    else
      coefficients.emplace_back(deviation * real / std::sqrt(2.0),
                                -deviation * random.normal() / std::sqrt(2.0));
  }
  return PeriodicSeries(std::move(coefficients));
}

void BurgersSolver::validate() const {
  if (!(viscosity > 0) || !(time > 0))
    throw UsageError("viscosity and time must be above 0; found " + format_number(viscosity) +
                     " and " + format_number(time));
  if (points < 12 || points % 2 != 0)
    throw UsageError("the solver's grid has " + std::to_string(points) +
                     " points; give an even number of at least 12");
  if (steps < 1) throw UsageError("the solver needs at least one time step");
}

PeriodicSeries BurgersSolver::solve(const PeriodicSeries& initial) const {
  validate();
  // Products of modes below n / 3 fall back onto modes that are not kept.
  const Eigen::Index modes = (points - 1) / 3 + 1;
  const double step = time / steps;
  Spectrum u = Spectrum::Zero(modes);
  Eigen::ArrayXd half(modes);  // exp(-nu k^2 step / 2)
  for (Eigen::Index k = 0; k < modes; ++k) {
    if (k < static_cast<Eigen::Index>(initial.coefficients().size()))
      u[k] = initial.coefficients()[static_cast<std::size_t>(k)];
    const double wave = two_pi * static_cast<double>(k);
    half[k] = std::exp(-viscosity * wave * wave * step / 2);
  }
  const Eigen::ArrayXd whole = half.square();
  Transport transport(points, modes);
  double energy = energy_of(u);
  for (int i = 0; i < steps; ++i) {
    const Spectrum a = transport(u);
    const Spectrum b = transport(half * (u + (step / 2) * a));
    const Spectrum c = transport(half * u + (step / 2) * b);
    const Spectrum d = transport(whole * u + step * (half * c));
    u = whole * u + (step / 6) * (whole * a + 2 * (half * (b + c)) + d);
    const double before = std::exchange(energy, energy_of(u));
    if (!(energy <= before * (1 + largest_growth)))  // Not finite neither.
      throw NumericError(
          "Burgers' equation was not solved: the mean of u^2 grew from " +
          format_significant(before, 3) + " to " + format_significant(energy, 3) + " in step " +
          std::to_string(i + 1) +
          ", while viscosity lets it fall; give smaller time steps (--solver-steps, now " +
          std::to_string(steps) + ")");
  }
  const double largest = std::max(u.abs().maxCoeff(), 1e-300);
  const double tail = u.tail(std::max<Eigen::Index>(1, modes / 8)).abs().maxCoeff();
  if (tail > 1e-8 * largest)
    throw NumericError("Burgers' equation is not resolved on " + std::to_string(points) +
                       " points: the highest modes hold " + format_significant(tail / largest, 2) +
                       " of the largest, at most 1e-8 is expected; give more (--solver-points) or "
                       "more viscosity");
  return PeriodicSeries(std::vector<std::complex<double>>(u.data(), u.data() + u.size()));
}

}  // namespace funcattn
