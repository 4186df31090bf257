#include "plugin/binding.h"

#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkUnsignedCharArray.h>

#include <cmath>
#include <limits>

#include "core/error.h"
#include "tests/plugin/samples.h"
#include "tests/plugin/support.h"

namespace funcattn {
namespace {

using test::error_of;
using test::with_value;
using test::without_array;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Contract surrogate_contract(Association association = Association::point) {
  return test::make_surrogate(association).contract();
}

Sample bind(const Mesh& mesh, const Contract& contract, bool with_targets = false) {
  return bind_sample(mesh, contract, weight_choice_from_string(contract.weights), with_targets);
}

std::string bind_error(const Mesh& mesh, const Contract& contract, bool with_targets = false) {
  return error_of<DataError>([&] { (void)bind(mesh, contract, with_targets); });
}

TEST(Binding, PutsArraysSideBySideInPhysicalUnits) {
  const Mesh mesh = test::make_grid(4, 3);
  const Sample sample = bind(mesh, surrogate_contract());
  EXPECT_TRUE(sample.query_is_source);
  EXPECT_TRUE(sample.source.values.is_same(sample.query.values));
  const RowMatrix at = mesh.coordinates(Association::point);
  EXPECT_EQ(to_matrix(sample.source.coordinates), RowMatrix(at.leftCols(2)));
  const RowMatrix values = to_matrix(sample.source.values);
  ASSERT_EQ(values.cols(), 4);
  EXPECT_EQ(RowMatrix(values.leftCols(1)), mesh.array("load", Association::point).to_double());
  EXPECT_EQ(RowMatrix(values.rightCols(3)), mesh.array("force", Association::point).to_double());
  const Eigen::VectorXd weights =
      quadrature_weights(mesh, Association::point, {WeightKind::measure, ""});
  EXPECT_EQ(Eigen::VectorXd(to_matrix(sample.source.weights.unsqueeze(1)).col(0)), weights);
  EXPECT_EQ(sample.source.values.scalar_type(), torch::kFloat64);
}

TEST(Binding, FollowsTheOrderOfTheAxes) {
  Contract contract = surrogate_contract();
  contract.coordinates.axes = {1, 0};
  const Mesh mesh = test::make_grid(3, 3);
  const RowMatrix bound = to_matrix(bind(mesh, contract).query.coordinates);
  EXPECT_EQ(bound.col(0), mesh.coordinates(Association::point).col(1));
  EXPECT_EQ(bound.col(1), mesh.coordinates(Association::point).col(0));
}

TEST(Binding, TakesCellCentresAndCellMeasuresForCellData) {
  const Mesh mesh = test::make_grid(4, 3);
  const Sample sample = bind(mesh, surrogate_contract(Association::cell));
  const RowMatrix centres = mesh.coordinates(Association::cell);
  EXPECT_EQ(to_matrix(sample.query.coordinates), RowMatrix(centres.leftCols(2)));
  const Eigen::VectorXd measures =
      quadrature_weights(mesh, Association::cell, {WeightKind::measure, ""});
  EXPECT_EQ(Eigen::VectorXd(to_matrix(sample.query.weights.unsqueeze(1)).col(0)), measures);
  EXPECT_EQ(to_matrix(sample.source.values).col(0),
            mesh.array("load", Association::cell).to_double().col(0));
}

TEST(Binding, SourceIsWhereTheFlagIsSet) {
  const Mesh mesh = test::make_scattered_line(7, 3);
  const Sample sample = bind(mesh, test::make_regression().contract());
  EXPECT_FALSE(sample.query_is_source);
  EXPECT_FALSE(sample.query.values.defined());
  RowMatrix expected(3, 1);
  expected << 0, 0.5, 1;
  EXPECT_EQ(to_matrix(sample.source.coordinates), expected);
  EXPECT_EQ(to_matrix(sample.source.values)(1, 0), std::sin(3.0));
  EXPECT_TRUE(sample.source.weights.equal(torch::ones({3}, torch::kFloat64)));
  EXPECT_EQ(sample.query.coordinates.size(0), 7);
}

TEST(Binding, NeedsASourcePoint) {
  Mesh mesh = test::make_scattered_line(5, 4);
  mesh = with_value(mesh, "known", Association::point, 0, 0);
  mesh = with_value(mesh, "known", Association::point, 4, 0);
  EXPECT_EQ(bind_error(mesh, test::make_regression().contract()),
            "line.vtp: point array 'known' marks no source point: all of its 5 values are 0; set "
            "it to 1 where the input is known");
}

TEST(Binding, ChecksValuesOfSourcePointsOnly) {
  const Contract contract = test::make_regression().contract();
  const Mesh mesh = test::make_scattered_line(7, 3);
  EXPECT_EQ(bind_error(with_value(mesh, "y", Association::point, 3, nan), contract),
            "line.vtp: point array 'y' holds NaN or Inf at 1 of 7 entries, the first at index 3; "
            "repair these values, or let the NaN policy mask or drop such entries");
}

TEST(Binding, NamesArrayCountAndIndexOfNaN) {
  const Contract contract = surrogate_contract();
  Mesh mesh = test::make_grid(4, 3);
  mesh = with_value(mesh, "force", Association::point, 9, nan);
  mesh = with_value(mesh, "force", Association::point, 5, std::numeric_limits<double>::infinity());
  EXPECT_EQ(bind_error(mesh, contract),
            "grid.vtu: point array 'force' holds NaN or Inf at 2 of 12 entries, the first at "
            "index 5; repair these values, or let the NaN policy mask or drop such entries");
}

TEST(Binding, IgnoresNaNAtGhostPoints) {
  const Mesh mesh = with_value(test::make_grid(4, 3), "load", Association::point, 2, nan);
  vtkNew<vtkUnsignedCharArray> ghosts;
  ghosts->SetName(vtkDataSetAttributes::GhostArrayName());
  ghosts->SetNumberOfTuples(12);
  ghosts->Fill(0);
  ghosts->SetValue(2, vtkDataSetAttributes::DUPLICATEPOINT);
  mesh.vtk()->GetPointData()->AddArray(ghosts);
  const Sample sample = bind(mesh, surrogate_contract());
  EXPECT_EQ(sample.query.weights[2].item<double>(), 0);
  EXPECT_TRUE(std::isnan(sample.query.values[2][0].item<double>()));
}

TEST(Binding, RefusesOtherComponentCounts) {
  const Mesh mesh = without_array(test::make_grid(4, 3), "force", Association::point)
                        .with_array({"force", Association::point, 2, ""}, RowMatrix::Ones(12, 2));
  EXPECT_EQ(bind_error(mesh, surrogate_contract()),
            "grid.vtu: point array 'force' has 2 components, the operator expects 3; its inputs "
            "are (components in brackets) 'load' (1), 'force' (3)");
}

TEST(Binding, JoinsMeshesInTheirOrder) {
  const Contract contract = surrogate_contract();
  const std::vector<Mesh> meshes = {test::make_grid(4, 3), test::make_grid(3, 2)};
  const BoundMeshes bound = bind_meshes(meshes, contract, {}, NanPolicy::error);
  EXPECT_EQ(bound.counts, (std::vector<Eigen::Index>{12, 6}));
  const RowMatrix values = to_matrix(bound.sample.source.values);
  ASSERT_EQ(values.rows(), 18);
  EXPECT_EQ(values.topRows(12).leftCols(1),
            meshes[0].array("load", Association::point).to_double());
  EXPECT_EQ(values.bottomRows(6).rightCols(3),
            meshes[1].array("force", Association::point).to_double());
  EXPECT_EQ(to_matrix(bound.sample.source.coordinates).bottomRows(6),
            RowMatrix(meshes[1].coordinates(Association::point).leftCols(2)));
}

TEST(Binding, MaskedEntriesWeighNothing) {
  Mesh mesh = with_value(test::make_grid(4, 3), "force", Association::point, 9, nan);
  mesh = with_value(mesh, "load", Association::point, 2, nan);
  const BoundMeshes bound = bind_meshes({mesh}, surrogate_contract(), {}, NanPolicy::mask);
  EXPECT_EQ(bound.unusable_count(), 2);
  EXPECT_TRUE(bound.unusable[9]);
  EXPECT_TRUE(bound.unusable[2]);
  EXPECT_EQ(bound.sample.source.weights[9].item<double>(), 0);
  EXPECT_EQ(bound.sample.source.weights[2].item<double>(), 0);
  EXPECT_GT(bound.sample.source.weights[3].item<double>(), 0);
}

TEST(Binding, MaskedSourcePointsAreNoSource) {
  const Mesh mesh = with_value(test::make_scattered_line(7, 3), "y", Association::point, 3, nan);
  const BoundMeshes bound =
      bind_meshes({mesh}, test::make_regression().contract(), {}, NanPolicy::mask);
  EXPECT_EQ(bound.unusable_count(), 1);
  EXPECT_EQ(to_matrix(bound.sample.source.coordinates), (RowMatrix(2, 1) << 0, 1).finished());
}

TEST(Binding, NeedsAnEntryThatIsNotMasked) {
  Mesh mesh = test::make_grid(2, 2);
  for (Eigen::Index i = 0; i < 4; ++i) mesh = with_value(mesh, "load", Association::point, i, nan);
  EXPECT_EQ(
      error_of<DataError>(
          [&] { (void)bind_meshes({mesh}, surrogate_contract(), {}, NanPolicy::drop); }),
      "grid.vtu: nothing to compute from is left, since all that weighs anything holds NaN or "
      "Inf");
}

TEST(Binding, WeightsThatAreAllZeroAreRefusedWhateverIsNaN) {
  const auto weightless = [](const Mesh& mesh) {
    return mesh.with_array({"w", Association::point, 1, ""},
                           RowMatrix::Zero(mesh.count(Association::point), 1));
  };
  const Mesh grid = weightless(test::make_grid(4, 3));
  const Mesh line = weightless(test::make_scattered_line(7, 3));
  const WeightChoice choice = weight_choice_from_string("array:w");
  for (const NanPolicy policy : {NanPolicy::error, NanPolicy::mask, NanPolicy::drop}) {
    for (const Mesh& mesh : {grid, with_value(grid, "load", Association::point, 2, nan)})
      EXPECT_EQ(
          error_of<DataError>(
              [&] { (void)bind_meshes({mesh}, surrogate_contract(), choice, policy); }),
          "grid.vtu: no point has a positive weight (of 12); give one to those that take part")
          << to_string(policy);
    EXPECT_EQ(
        error_of<DataError>(
            [&] { (void)bind_meshes({line}, test::make_regression().contract(), choice, policy); }),
        line.origin() + ": no point has a positive weight (of 7); give one to those that take part")
        << to_string(policy);
  }
}

TEST(Binding, NeverTakesCellDataForPointData) {
  const Mesh mesh = without_array(test::make_grid(4, 3), "load", Association::point);
  const std::string message = bind_error(mesh, surrogate_contract());
  EXPECT_NE(message.find("there is no point array 'load'"), std::string::npos) << message;
  EXPECT_NE(message.find("exists only as a cell array"), std::string::npos) << message;
}

TEST(Binding, TargetsAreTheOutputsInTheirOrder) {
  const Contract contract = surrogate_contract();
  RowMatrix displacement(12, 3);
  for (Eigen::Index i = 0; i < displacement.size(); ++i)
    displacement.data()[i] = static_cast<double>(i);
  const Mesh without = test::make_grid(4, 3).with_array({"pressure", Association::point, 1, ""},
                                                        RowMatrix::Constant(12, 1, 7));
  const Mesh mesh = without.with_array({"displacement", Association::point, 3, ""}, displacement);
  const RowMatrix targets = to_matrix(bind(mesh, contract, true).targets);
  EXPECT_EQ(targets.rightCols(3), displacement);
  EXPECT_EQ(targets.col(0), Eigen::VectorXd::Constant(12, 7));
  EXPECT_FALSE(bind(mesh, contract).targets.defined());
  EXPECT_NE(bind_error(without, contract, true).find("there is no point array 'displacement'"),
            std::string::npos);
  EXPECT_EQ(bind_error(with_value(mesh, "pressure", Association::point, 11, nan), contract, true),
            "grid.vtu: point array 'pressure' holds NaN or Inf at 1 of 12 entries, the first at "
            "index 11; repair these values, or give such entries the weight 0 with an array of "
            "weights");
}

TEST(Binding, RefusesAMeshWithoutPoints) {
  EXPECT_EQ(bind_error(make_point_cloud(RowMatrix(0, 3), "empty.vtp"), surrogate_contract()),
            "empty.vtp: the mesh has no points; nothing can be computed from it");
}

std::vector<std::string> warnings_of(const Mesh& mesh, const Contract& contract) {
  const Tensor coordinates = to_tensor(
      RowMatrix(mesh.coordinates(Association::point).leftCols(contract.coordinates.dimension())));
  auto warnings = count_warnings(mesh.origin(), coordinates.size(0), contract);
  for (auto& warning : box_warnings(mesh.origin(), coordinates, contract))
    warnings.push_back(warning);
  return warnings;
}

TEST(RangeWarnings, SpeakOfPointCountAndBox) {
  const Contract contract = surrogate_contract();
  EXPECT_TRUE(warnings_of(test::make_grid(4, 3), contract).empty());
  EXPECT_EQ(warnings_of(test::make_grid(3, 3), contract),
            (std::vector<std::string>{"grid.vtu has 9 points, training had 10 to 100: they show "
                                      "less of the input than the operator learned from"}));
  // A finer mesh is what operators are for, but for the form whose sums grow.
  EXPECT_TRUE(warnings_of(test::make_grid(11, 10), contract).empty());
  EXPECT_EQ(count_warnings("grid.vtu", 110, contract, true),
            (std::vector<std::string>{"grid.vtu has 110 points, training had 10 to 100: the sums "
                                      "of this form grow with their number"}));

  RowMatrix coordinates = RowMatrix::Zero(20, 3);
  coordinates.col(0).setLinSpaced(0, 1.09);
  coordinates.col(1).setLinSpaced(-2, 1);
  EXPECT_EQ(warnings_of(make_point_cloud(coordinates, "cloud"), contract),
            (std::vector<std::string>{"cloud spans y = -2 to 1, training spanned 0 to 1: the "
                                      "prediction extrapolates"}));
}

TEST(RangeWarnings, SpeakOfAxesThatTheOperatorDoesNotSee) {
  Contract contract = surrogate_contract();  // x and y.
  const auto cloud = [](double height) {
    RowMatrix coordinates = RowMatrix::Zero(20, 3);
    coordinates.col(0).setLinSpaced(0, 2);
    coordinates.col(2).setLinSpaced(5, 5 + height);
    return make_point_cloud(coordinates, "cloud");
  };
  // In two parts, as the leaves of a tree or the pieces of a mesh are.
  EXPECT_EQ(unseen_axis_warnings("cloud", {cloud(0), cloud(0.5)}, contract),
            (std::vector<std::string>{"cloud spans z = 5 to 5.5, which the operator does not see: "
                                      "it was trained along x and y"}));
  EXPECT_TRUE(unseen_axis_warnings("cloud", {cloud(0.01)}, contract).empty());
  EXPECT_TRUE(
      unseen_axis_warnings("none", {make_point_cloud(RowMatrix(0, 3), "none")}, contract).empty());
  contract.coordinates.axes = {0, 1, 2};
  EXPECT_TRUE(unseen_axis_warnings("cloud", {cloud(0.5)}, contract).empty());
  contract.coordinates.axes = {};  // Values alone.
  EXPECT_TRUE(unseen_axis_warnings("cloud", {cloud(0.5)}, contract).empty());
}

TEST(RangeWarnings, AreSilentWhereTheRangeIsUnknown) {
  EXPECT_TRUE(
      warnings_of(test::make_scattered_line(3, 1), test::make_regression().contract()).empty());
}

}  // namespace
}  // namespace funcattn
