#include "examples/burgers/burgers_equation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/error.h"
#include "examples/burgers/burgers_generation.h"

namespace funcattn {
namespace {

constexpr double pi = 3.14159265358979323846;

double relative_difference(const PeriodicSeries& a, const PeriodicSeries& b) {
  const std::vector<double> x = a.on_grid(512), y = b.on_grid(512);
  double error = 0, size = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    error += (x[i] - y[i]) * (x[i] - y[i]);
    size += y[i] * y[i];
  }
  return std::sqrt(error / size);
}

// Cole and Hopf: u = -2 nu phi_x / phi with phi = 1 + a exp(-4 pi^2 nu t) cos(2 pi x), carried
// along by a mean flow.
double exact(double x, double t, double nu, double a, double mean) {
  const double decayed = a * std::exp(-4 * pi * pi * nu * t);
  const double place = 2 * pi * (x - mean * t);
  return mean + 4 * pi * nu * decayed * std::sin(place) / (1 + decayed * std::cos(place));
}

PeriodicSeries exact_series(double t, double nu, double a, double mean, int modes) {
  const int n = 4 * modes;
  std::vector<std::complex<double>> coefficients(static_cast<std::size_t>(modes) + 1);
  for (int k = 0; k <= modes; ++k)
    for (int i = 0; i < n; ++i)
      coefficients[static_cast<std::size_t>(k)] +=
          exact(static_cast<double>(i) / n, t, nu, a, mean) *
          std::polar(1.0 / n, -2 * pi * k * i / n);
  return PeriodicSeries(coefficients);
}

TEST(Burgers, SolvesTheColeHopfSolution) {
  for (const double nu : {0.1, 0.02}) {
    BurgersSolver solver;
    solver.viscosity = nu;
    solver.time = 0.5;
    const double a = 0.9;
    const PeriodicSeries initial = exact_series(0, nu, a, 0.7, 160);
    const std::vector<double> found = solver.solve(initial).on_grid(64);
    for (int i = 0; i < 64; ++i)
      EXPECT_NEAR(found[static_cast<std::size_t>(i)], exact(i / 64.0, 0.5, nu, a, 0.7), 1e-9) << nu;
  }
}

TEST(Burgers, TimeStepsAreOfFourthOrder) {
  BurgersSolver solver;
  solver.viscosity = 0.02;
  solver.points = 256;
  const PeriodicSeries initial({{0.3, 0}, {0, -0.5}, {0.1, 0.1}});
  solver.steps = 1600;
  const PeriodicSeries reference = solver.solve(initial);
  std::vector<double> errors;
  for (const int steps : {50, 100, 200}) {
    solver.steps = steps;
    errors.push_back(relative_difference(solver.solve(initial), reference));
  }
  EXPECT_NEAR(std::log2(errors[0] / errors[1]), 4, 0.3);
  EXPECT_NEAR(std::log2(errors[1] / errors[2]), 4, 0.3);
}

// What `generate` uses by default, on what it draws: half the step and twice the grid change
// nothing that matters beside an operator's error.
TEST(Burgers, TheDefaultsAreConvergedOnDrawnStates) {
  RandomGenerator random(5);
  for (int sample = 0; sample < 3; ++sample) {
    const PeriodicSeries initial = BurgersMeasure().draw(random);
    const BurgersSolver solver;
    const PeriodicSeries solution = solver.solve(initial);
    BurgersSolver half_step = solver;
    half_step.steps *= 2;
    EXPECT_LT(relative_difference(solution, half_step.solve(initial)), 1e-7);
    BurgersSolver twice_the_modes = solver;
    twice_the_modes.points *= 2;
    EXPECT_LT(relative_difference(solution, twice_the_modes.solve(initial)), 1e-9);
    EXPECT_NEAR(solution.coefficients()[0].real(), initial.coefficients()[0].real(), 1e-13)
        << "the mean is conserved";
  }
}

TEST(Burgers, RefusesWhatItCannotResolve) {
  BurgersSolver solver;
  solver.viscosity = 1e-3;
  solver.points = 64;
  try {
    solver.solve(PeriodicSeries({{0, 0}, {0, -1}}));
    FAIL() << "nothing was thrown";
  } catch (const NumericError& error) {
    EXPECT_NE(std::string(error.what()).find("not resolved on 64 points"), std::string::npos)
        << error.what();
  }
  solver.points = 4096;
  solver.viscosity = 1e-4;
  solver.steps = 5;
  try {
    solver.solve(PeriodicSeries({{0, 0}, {0, -100}}));
    FAIL() << "nothing was thrown";
  } catch (const NumericError& error) {
    EXPECT_NE(std::string(error.what()).find("smaller time steps (--solver-steps, now 5)"),
              std::string::npos)
        << error.what();
  }
  // Steps that are not small enough give finite numbers too, 1e12 times as large as the state.
  solver = {};
  solver.steps = 20;
  const PeriodicSeries large({{0, 0}, {0, -30}});
  try {
    solver.solve(large);
    FAIL() << "nothing was thrown";
  } catch (const NumericError& error) {
    EXPECT_NE(std::string(error.what()).find("the mean of u^2 grew from 1.8e+03 to "),
              std::string::npos)
        << error.what();
  }
  // Enough of them keep the largest value below that of the state.
  solver.steps = 8000;
  solver.points = 1024;
  const std::vector<double> values = solver.solve(large).on_grid(512);
  for (const double value : values) EXPECT_LE(std::abs(value), 60);
  solver.points = 13;
  EXPECT_THROW(solver.validate(), UsageError);
}

// E |c_k|^2 = 625 / (4 pi^2 k^2 + 25)^2, half of it in each part for k > 0.
TEST(Burgers, StatesHaveThePublishedCovariance) {
  RandomGenerator random(1);
  BurgersMeasure measure;
  measure.modes = 5;
  const int draws = 20000;
  std::vector<double> real(6), imaginary(6);
  for (int i = 0; i < draws; ++i) {
    const PeriodicSeries state = measure.draw(random);
    for (std::size_t k = 0; k < 6; ++k) {
      real[k] += std::norm(state.coefficients()[k].real()) / draws;
      imaginary[k] += std::norm(state.coefficients()[k].imag()) / draws;
    }
  }
  for (int k = 0; k < 6; ++k) {
    const auto at = static_cast<std::size_t>(k);
    const double expected = 625 / std::pow(4 * pi * pi * k * k + 25, 2);
    EXPECT_NEAR(real[at] / expected, k == 0 ? 1 : 0.5, 0.04) << k;
    EXPECT_NEAR(imaginary[at] / expected, k == 0 ? 0 : 0.5, 0.04) << k;
  }
}

TEST(Burgers, StatesOfZeroMeanAreTheOthersWithoutTheirs) {
  BurgersMeasure measure;
  RandomGenerator first(1), second(1);
  const PeriodicSeries whole = measure.draw(first);
  measure.zero_mean = true;
  const PeriodicSeries fluctuation = measure.draw(second);
  ASSERT_EQ(whole.coefficients().size(), fluctuation.coefficients().size());
  EXPECT_NE(whole.coefficients()[0], 0.0);
  EXPECT_EQ(fluctuation.coefficients()[0], 0.0);
  for (std::size_t k = 1; k < 6; ++k)
    EXPECT_EQ(whole.coefficients()[k], fluctuation.coefficients()[k]);
}

TEST(PeriodicSeries, GridsAndPlacesSeeOneFunction) {
  const PeriodicSeries series({{0.5, 3}, {1, -2}, {0, 0.25}, {-0.125, 0}});
  for (const int n : {1, 2, 3, 5, 8, 30}) {
    std::vector<double> x;
    for (int i = 0; i < n; ++i) x.push_back(static_cast<double>(i) / n);
    const std::vector<double> grid = series.on_grid(n), values = series.at(x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double t = 2 * pi * x[i];
      const double expected = 0.5 + 2 * (std::cos(t) + 2 * std::sin(t) - 0.25 * std::sin(2 * t) -
                                         0.125 * std::cos(3 * t));
      EXPECT_NEAR(grid[i], expected, 1e-13) << n;
      EXPECT_NEAR(values[i], expected, 1e-13) << n;
    }
  }
}

TEST(CircleWeights, AreTheTrapezoidalRuleAcrossTheSeam) {
  const std::vector<double> weights = circle_weights({0.1, 0.2, 0.6});
  EXPECT_NEAR(weights[0], 0.3, 1e-15);
  EXPECT_NEAR(weights[1], 0.25, 1e-15);
  EXPECT_NEAR(weights[2], 0.45, 1e-15);
}

RowMatrix values(const Mesh& mesh, const std::string& name) {
  return mesh.array(name, Association::point).to_double();
}

TEST(BurgersGeneration, ASampleIsTheSameAtEveryResolution) {
  const auto task = make_burgers_generation();
  RandomGenerator random(3), alone(3);
  const std::vector<Mesh> meshes =
      task->draw(16, {{"test", 1, ""}, {"test_x4", 4, ""}, {"test_x512", 512, ""}}, random);
  const RowMatrix expected = values(task->draw(16, {{"test", 1, ""}}, alone).front(), "u1");
  EXPECT_EQ(random.next(), alone.next()) << "the next sample does not depend on the sets";
  ASSERT_EQ(meshes[2].count(Association::point), 8192);
  for (const char* name : {"u0", "u1"})
    for (int i = 0; i < 16; ++i) {
      EXPECT_NEAR(values(meshes[0], name)(i, 0), values(meshes[1], name)(4 * i, 0), 1e-12);
      EXPECT_NEAR(values(meshes[0], name)(i, 0), values(meshes[2], name)(512 * i, 0), 1e-12);
    }
  EXPECT_EQ(values(meshes[0], "u1"), expected);
  EXPECT_NEAR(values(meshes[1], "weight").sum(), 1, 1e-12);
  EXPECT_EQ(meshes[0].coordinates(Association::point)(3, 0), 3.0 / 16);
}

}  // namespace
}  // namespace funcattn
