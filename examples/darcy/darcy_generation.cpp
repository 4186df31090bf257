#include "examples/darcy/darcy_generation.h"

#include <vtkCellArray.h>
#include <vtkDoubleArray.h>
#include <vtkNew.h>
#include <vtkPoints.h>
#include <vtkUnstructuredGrid.h>

#include <algorithm>
#include <map>

#include "core/error.h"
#include "core/text.h"
#include "examples/darcy/finite_elements.h"
#include "examples/darcy/gaussian_field.h"
#include "examples/darcy/triangulation.h"
#include "meshio/probing.h"

namespace funcattn {

namespace {

const char* const graded = "graded";
constexpr int field_modes = 32;

Mesh to_mesh(const TriangleMesh& triangles, const std::string& origin) {
  vtkNew<vtkDoubleArray> coordinates;
  coordinates->SetNumberOfComponents(3);
  coordinates->SetNumberOfTuples(triangles.points.rows());
  for (Eigen::Index i = 0; i < triangles.points.rows(); ++i)
    coordinates->SetTuple3(i, triangles.points(i, 0), triangles.points(i, 1), 0);
  vtkNew<vtkPoints> points;
  points->SetData(coordinates);
  vtkNew<vtkCellArray> cells;
  for (Eigen::Index t = 0; t < triangles.triangles.rows(); ++t) {
    const vtkIdType ids[] = {triangles.triangles(t, 0), triangles.triangles(t, 1),
                             triangles.triangles(t, 2)};
    cells->InsertNextCell(3, ids);
  }
  vtkNew<vtkUnstructuredGrid> grid;
  grid->SetPoints(points);
  grid->SetCells(VTK_TRIANGLE, cells);
  return Mesh(grid.GetPointer(), origin);
}

class DarcyGeneration : public GeneratedTask {
 public:
  std::string name() const override { return "darcy"; }
  std::string title() const override {
    return "-div(permeability grad pressure) = 1, pressure 0 on the boundary, " + permeability_;
  }

  void describe(OptionTable& table) override {
    table.value("domain", domain_, "square, or notch: the square with a triangular notch")
        .choices({"square", "notch"});
    table.list("notch-range", notch_range_, "least and greatest x of the notch's tip")
        .at_least(0.2)
        .at_most(0.8);
    table.value("mesh", mesh_, "spacing of the points, uniform or finest at the notch")
        .choices({"uniform", "graded"});
    table
        .list("graded-resolutions", graded_resolutions_,
              "further test sets with graded meshes, by points over --points: test_graded_x4/")
        .at_least(1)
        .default_text("none");
    table
        .value("permeability", permeability_,
               "exp(deviation x g) or one of two values by the sign of g")
        .choices({"lognormal", "two-phase"});
    table.value("log-deviation", log_deviation_, "of the logarithm, lognormal").above(0);
    table.list("phases", phases_, "where g > 0 and elsewhere, two-phase").above(0);
    table.value("correlation-length", correlation_length_, "1 / tau of the Gaussian field g")
        .above(0);
    table.value("association", association_, "where the arrays sit").choices({"point", "cell"});
    table
        .value("solution", solution_,
               "reference: of one fine mesh, interpolated; own: on each sample's own mesh")
        .choices({"reference", "own"});
    table.value("reference-points", reference_points_, "of the fine mesh")
        .at_least(0)
        .default_text("16 times --points");
  }

  int default_points() const override { return 800; }

  void validate(int points) const override {
    if (points < 20)
      throw UsageError("a mesh of the square needs at least 20 points; give more --points");
    if (notch_range_.size() != 2 || notch_range_[0] > notch_range_[1])
      throw UsageError("--notch-range takes two ascending numbers");
    if (phases_.size() != 2) throw UsageError("--phases takes two permeabilities");
    const DarcyGeneration defaults;
    if (permeability_ == "lognormal" && phases_ != defaults.phases_)
      throw UsageError("--phases has no effect with --permeability lognormal");
    if (permeability_ == "two-phase" && log_deviation_ != defaults.log_deviation_)
      throw UsageError("--log-deviation has no effect with --permeability two-phase");
    if (domain_ == "square" && notch_range_ != defaults.notch_range_)
      throw UsageError("--notch-range has no effect with --domain square");
    if (solution_ == "own" && reference_points_ > 0)
      throw UsageError("--reference-points has no effect with --solution own");
    if (reference_points_ > 0 && reference_points_ < 20)
      throw UsageError(
          "a mesh of the square needs at least 20 points; give more --reference-points");
  }

  Contract contract() const override {
    Contract contract;
    contract.inputs.push_back({{"permeability", where(), 1, ""}, InputRole::value});
    contract.outputs.push_back({"pressure", where(), 1, ""});
    contract.coordinates.axes = {0, 1};
    contract.coordinates.center = {0.5, 0.5};
    contract.coordinates.scale = 0.5;
    contract.weights = "measure";
    return contract;
  }
  std::string extension() const override { return ".vtu"; }

  std::vector<SampleSet> further_test_sets() const override {
    std::vector<SampleSet> sets;
    for (const int factor : graded_resolutions_)
      sets.push_back(
          {factor == 1 ? "test_graded" : "test_graded_x" + std::to_string(factor), factor, graded});
    return sets;
  }

  std::vector<Mesh> draw(int points, const std::vector<SampleSet>& sets,
                         RandomGenerator& random) override {
    DarcyDomain domain;
    domain.notched = domain_ == "notch";
    if (domain.notched) domain.notch_place = random.uniform(notch_range_[0], notch_range_[1]);
    const GaussianField field(correlation_length_, field_modes, random);
    // Meshes have generators of their own: neither the functions nor the other meshes depend on
    // which sets are asked for.
    const std::uint64_t mesh_seed = random.next();

    std::vector<Mesh> reference;
    if (solution_ == "reference") {
      const TriangleMesh triangles = reference_mesh(domain, points);
      reference.push_back(
          to_mesh(triangles, "the reference mesh")
              .with_array({"pressure", Association::point, 1, ""}, solve(triangles, field)));
    }
    std::vector<Mesh> meshes;
    for (const SampleSet& set : sets) {
      const bool is_graded = set.variant == graded || mesh_ == "graded";
      RandomGenerator places(mesh_seed + 2 * static_cast<std::uint64_t>(set.factor) + is_graded);
      meshes.push_back(sample(triangulate(domain, is_graded ? Spacing::graded : Spacing::uniform,
                                          points * set.factor, places),
                              field, reference));
    }
    return meshes;
  }

 private:
  Association where() const {
    return association_ == "cell" ? Association::cell : Association::point;
  }

  Eigen::VectorXd permeability(const GaussianField& field,
                               const GaussianField::Places& places) const {
    const Eigen::ArrayXd g = field.at(places).array();
    if (permeability_ == "lognormal") return (log_deviation_ * g).exp();
    return (g > 0).select(Eigen::ArrayXd::Constant(g.size(), phases_[0]), phases_[1]);
  }

  Eigen::VectorXd solve(const TriangleMesh& mesh, const GaussianField& field) const {
    return solve_darcy(
        mesh, permeability(field, mesh.centres()), [](const Eigen::Vector2d&) { return 1.0; },
        [](const Eigen::Vector2d&) { return 0.0; });
  }

  /// One mesh for all samples, its notch moved to the place of the sample's.
  TriangleMesh reference_mesh(const DarcyDomain& domain, int points) {
    DarcyDomain standard;
    standard.notched = domain.notched;
    if (reference_.triangles.rows() == 0) {
      RandomGenerator random(0);
      reference_ = triangulate(standard, domain.notched ? Spacing::graded : Spacing::uniform,
                               reference_points_ > 0 ? reference_points_ : 16 * points, random);
    }
    return domain.notched ? move_notch(reference_, standard, domain) : reference_;
  }

  Mesh sample(const TriangleMesh& triangles, const GaussianField& field,
              const std::vector<Mesh>& reference) const {
    const bool cells = where() == Association::cell;
    const auto centres = triangles.centres();
    const Mesh mesh = to_mesh(triangles, "Darcy sample")
                          .with_array({"permeability", where(), 1, ""},
                                      permeability(field, cells ? centres : triangles.points));
    const ArraySpec pressure{"pressure", where(), 1, ""};
    if (reference.empty()) {
      const Eigen::VectorXd at_points = solve(triangles, field);
      if (!cells) return mesh.with_array(pressure, at_points);
      Eigen::VectorXd at_centres(triangles.triangles.rows());
      for (Eigen::Index t = 0; t < at_centres.size(); ++t)
        at_centres[t] =
            (at_points[triangles.triangles(t, 0)] + at_points[triangles.triangles(t, 1)] +
             at_points[triangles.triangles(t, 2)]) /
            3;
      return mesh.with_array(pressure, at_centres);
    }
    // The linear function on the reference mesh. Rounding puts points of the boundary outside of
    // its triangles; there the pressure is 0.
    std::vector<Eigen::Index> inner;
    for (Eigen::Index i = 0; i < mesh.count(where()); ++i)
      if (cells || !triangles.on_boundary[static_cast<std::size_t>(i)]) inner.push_back(i);
    const Mesh places =
        make_point_cloud(mesh.coordinates(where())(inner, Eigen::all), mesh.origin());
    const RowMatrix found =
        interpolate_arrays(reference, places, {{"pressure", Association::point, 1, ""}})
            .array("pressure", Association::point)
            .to_double();
    RowMatrix values = RowMatrix::Zero(mesh.count(where()), 1);
    values(inner, Eigen::all) = found;
    return mesh.with_array(pressure, values);
  }

  std::string domain_ = "square";
  std::vector<double> notch_range_ = {0.4, 0.6};
  std::string mesh_ = "uniform";
  std::vector<int> graded_resolutions_;
  std::string permeability_ = "lognormal";
  double log_deviation_ = 1;
  std::vector<double> phases_ = {12, 3};
  double correlation_length_ = 1.0 / 3;
  std::string association_ = "point";
  std::string solution_ = "reference";
  int reference_points_ = 0;
  TriangleMesh reference_;  ///< Made for the first sample.
};

}  // namespace

std::unique_ptr<GeneratedTask> make_darcy_generation() {
  return std::make_unique<DarcyGeneration>();
}

}  // namespace funcattn
