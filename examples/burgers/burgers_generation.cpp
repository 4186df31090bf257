#include "examples/burgers/burgers_generation.h"

#include <algorithm>

#include "core/error.h"
#include "examples/burgers/burgers_equation.h"

namespace funcattn {

namespace {

const char* const scattered = "scattered";

/// A poly-line on the x axis with the arrays of a sample.
Mesh burgers_mesh(const std::vector<double>& x, const std::vector<double>& initial,
                  const std::vector<double>& final) {
  const auto count = static_cast<Eigen::Index>(x.size());
  const auto column = [&](const std::vector<double>& values) {
    return RowMatrix(Eigen::Map<const RowMatrix>(values.data(), count, 1));
  };
  RowMatrix coordinates = RowMatrix::Zero(count, 3);
  coordinates.col(0) = column(x);
  return make_polyline(coordinates, "Burgers sample")
      .with_array({"u0", Association::point, 1, ""}, column(initial))
      .with_array({"u1", Association::point, 1, ""}, column(final))
      .with_array({"weight", Association::point, 1, ""}, column(circle_weights(x)));
}

std::vector<double> grid(int n) {
  std::vector<double> x(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = static_cast<double>(i) / n;
  return x;
}

/// Different places in [0, 1), ascending.
std::vector<double> random_places(int n, RandomGenerator& random) {
  std::vector<double> x;
  while (x.size() < static_cast<std::size_t>(n)) {
    x.push_back(random.uniform());
    if (x.size() < static_cast<std::size_t>(n)) continue;
    std::sort(x.begin(), x.end());
    x.erase(std::unique(x.begin(), x.end()), x.end());
  }
  return x;
}

class BurgersGeneration : public GeneratedTask {
 public:
  std::string name() const override { return "burgers"; }
  std::string title() const override {
    return "u_t + u u_x = nu u_xx of period 1: u(., 1) = u1 from u(., 0) = u0";
  }

  void describe(OptionTable& table) override {
    table.value("viscosity", solver_.viscosity, "nu").above(0);
    table
        .value("initial-amplitude", measure_.amplitude,
               "of the initial states, over the published one")
        .above(0);
    table
        .value("initial-length", measure_.correlation_length,
               "1 / tau in the measure N(0, tau^4 (-Laplace + tau^2)^-2) of the initial states")
        .above(0);
    table.flag("zero-mean", measure_.zero_mean,
               "initial states without their mean, which the flow would keep and travel with");
    table
        .value("scattered", scattered_points_,
               "points of a further test set, test_scattered/, at random places; 0: none")
        .at_least(0)
        .default_text("0");
    table.value("solver-points", solver_.points, "points of the solver's own grid").at_least(12);
    table.value("solver-steps", solver_.steps, "time steps").at_least(1);
  }

  int default_points() const override { return 256; }
  void validate(int points) const override {
    if (points < 2 || scattered_points_ == 1)
      throw UsageError("a sample of one point has no spacing; give 2 or more");
    solver_.validate();
  }

  Contract contract() const override {
    Contract contract;
    contract.inputs.push_back({{"u0", Association::point, 1, ""}, InputRole::value});
    contract.outputs.push_back({"u1", Association::point, 1, ""});
    contract.coordinates.axes = {0};
    contract.coordinates.center = {0.5};
    contract.coordinates.scale = 0.5;
    contract.weights = "array:weight";
    return contract;
  }
  std::string extension() const override { return ".vtp"; }

  std::vector<SampleSet> further_test_sets() const override {
    if (scattered_points_ == 0) return {};
    return {{"test_scattered", 1, scattered}};
  }

  std::vector<Mesh> draw(int points, const std::vector<SampleSet>& sets,
                         RandomGenerator& random) override {
    const PeriodicSeries initial = measure_.draw(random);
    const PeriodicSeries final = solver_.solve(initial);
    std::vector<Mesh> meshes;
    for (const SampleSet& set : sets) {
      if (set.variant == scattered) {
        // A generator of its own: with and without this set the same functions follow.
        RandomGenerator places(RandomGenerator(random).next());
        const std::vector<double> x = random_places(scattered_points_, places);
        meshes.push_back(burgers_mesh(x, initial.at(x), final.at(x)));
      } else {
        const int n = points * set.factor;
        meshes.push_back(burgers_mesh(grid(n), initial.on_grid(n), final.on_grid(n)));
      }
    }
    return meshes;
  }

 private:
  BurgersMeasure measure_;
  BurgersSolver solver_;
  int scattered_points_ = 0;
};

}  // namespace

std::vector<double> circle_weights(const std::vector<double>& x) {
  const std::size_t n = x.size();
  std::vector<double> weights(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double next = i + 1 < n ? x[i + 1] : x[0] + 1;
    const double before = i > 0 ? x[i - 1] : x[n - 1] - 1;
    weights[i] = 0.5 * (next - before);
  }
  return weights;
}

std::unique_ptr<GeneratedTask> make_burgers_generation() {
  return std::make_unique<BurgersGeneration>();
}

}  // namespace funcattn
