#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "core/random.h"

namespace funcattn {

/// f(x) = amplitude * sin(x - phase).
struct SineFunction {
  double amplitude = 1;
  double phase = 0;
  double operator()(double x) const { return amplitude * std::sin(x - phase); }
};

/// What the functions and their arguments are drawn from, uniformly. The defaults are the published
/// training distribution.
struct SineDomain {
  double amplitude_min = 0.1;
  double amplitude_max = 5.0;
  double phase_min = 0.0;
  double phase_max = 3.14159265358979323846;
  double x_min = -6.0;
  double x_max = 6.0;
  double length() const { return x_max - x_min; }
};

enum class SineProtocol {
  few_shot,     ///< K context points anywhere in the domain, the function wanted everywhere.
  masked_grid,  ///< A regular grid; the value is shown at K of its points, wanted at all.
};

const char* to_string(SineProtocol protocol);
/// Throws UsageError naming the two protocols.
SineProtocol sine_protocol_from_string(const std::string& text);

/// One function with the places where it is known and where it is wanted.
struct SineEpisode {
  SineFunction function;
  std::vector<double> context;  ///< x of the context points.
  std::vector<double> grid;     ///< x of the points, ascending.
};

/// How episodes are made. Points and context are given at density 1; a finer sampling halves the
/// spacing of the grid again and again and leaves function and context as they are.
struct SineSampling {
  SineProtocol protocol = SineProtocol::few_shot;
  SineDomain domain;
  int points = 0;   ///< Grid points on [-6, 6]; 0: 200 (few_shot) or 120 (masked_grid: step 0.1).
  int context = 4;  ///< K

  int base_points() const;
  /// Throws UsageError.
  void validate() const;
};

/// Grid at `factor` times the base density: (n - 1) * factor + 1 points, which include those of
/// factor 1. A domain of another length than [-6, 6] keeps the spacing.
std::vector<double> sine_grid(const SineSampling& sampling, int factor);

/// Draws a function and its context; the draw does not depend on `factor`.
SineEpisode draw_sine_episode(const SineSampling& sampling, int factor, RandomGenerator& random);

/// Weights of the trapezoidal rule for ascending points: half the distance between the neighbours.
/// A single point weighs 1.
std::vector<double> trapezoidal_weights(const std::vector<double>& x);

}  // namespace funcattn
