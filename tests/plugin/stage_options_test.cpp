// What StageOptions ask for beyond a plain prediction: NaN, queries, conversion, errors.

#include <vtkCellData.h>
#include <vtkIdList.h>
#include <vtkImageData.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkUnsignedCharArray.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/error.h"
#include "meshio/association_conversion.h"
#include "meshio/quadrature.h"
#include "meshio/subset.h"
#include "operators/operator_file.h"
#include "plugin/stage.h"
#include "tests/plugin/samples.h"
#include "tests/plugin/support.h"

namespace funcattn {
namespace {

using test::error_of;
using test::with_value;
using test::without_array;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

RowMatrix values(const Mesh& mesh, const std::string& name,
                 Association association = Association::point) {
  return mesh.array(name, association).to_double();
}

double distance(const RowMatrix& a, const RowMatrix& b) {
  return (a - b).cwiseAbs().maxCoeff();
}

/// A copy of `mesh` (a point set) with one coordinate of a point replaced.
Mesh with_place(const Mesh& mesh, vtkIdType point, double x) {
  auto copy =
      vtkSmartPointer<vtkPointSet>::Take(vtkPointSet::SafeDownCast(mesh.vtk()->NewInstance()));
  copy->DeepCopy(mesh.vtk());
  double place[3];
  copy->GetPoint(point, place);
  place[0] = x;
  copy->GetPoints()->SetPoint(point, place);
  return {copy, mesh.origin()};
}

/// A copy of `mesh` that marks points as owned by another piece, and the cells around them.
Mesh with_ghosts(const Mesh& mesh, const std::set<vtkIdType>& points) {
  const auto copy = vtkSmartPointer<vtkDataSet>::Take(mesh.vtk()->NewInstance());
  copy->ShallowCopy(mesh.vtk());
  vtkNew<vtkUnsignedCharArray> of_points, of_cells;
  for (vtkIdType i = 0; i < copy->GetNumberOfPoints(); ++i)
    of_points->InsertNextValue(points.count(i) ? vtkDataSetAttributes::DUPLICATEPOINT : 0);
  vtkNew<vtkIdList> corners;
  for (vtkIdType cell = 0; cell < copy->GetNumberOfCells(); ++cell) {
    copy->GetCellPoints(cell, corners);
    const bool is_ghost = std::any_of(corners->begin(), corners->end(),
                                      [&](vtkIdType id) { return points.count(id) > 0; });
    of_cells->InsertNextValue(is_ghost ? vtkDataSetAttributes::DUPLICATECELL : 0);
  }
  of_points->SetName(vtkDataSetAttributes::GhostArrayName());
  of_cells->SetName(vtkDataSetAttributes::GhostArrayName());
  copy->GetPointData()->AddArray(of_points);
  copy->GetCellData()->AddArray(of_cells);
  return {copy, mesh.origin()};
}

class StageOptionsTest : public ::testing::Test {
 protected:
  OperatorStage stage_of(const Operator& op) const {
    save_operator(folder_ / "op.safetensors", op);
    return OperatorStage(folder_ / "op.safetensors");
  }

  test::TemporaryFolder folder_;
  Mesh grid_ = test::make_grid(6, 5);
};

// --- NaN

TEST_F(StageOptionsTest, MaskedPointsTakeNoPartAndGetNaN) {
  const OperatorStage stage = stage_of(test::make_surrogate());
  const Mesh damaged = with_value(grid_, "load", Association::point, 8, nan);
  StageOptions options;
  options.nan = NanPolicy::mask;
  const StageResult result = stage.run(damaged, options);
  const RowMatrix pressure = values(result.mesh, "pressure_predicted");
  EXPECT_TRUE(std::isnan(pressure(8, 0)));
  EXPECT_EQ(pressure.array().isNaN().count(), 1);
  EXPECT_EQ(result.unusable, 1);
  EXPECT_EQ(
      result.warnings,
      (std::vector<std::string>{"grid.vtu: 1 of 30 points hold NaN or Inf and take no part"}));
  EXPECT_EQ(result.mesh.count(Association::cell), grid_.count(Association::cell));

  // The same as a mesh in which that point weighs nothing.
  Eigen::VectorXd weights = quadrature_weights(grid_, Association::point, {});
  weights[8] = 0;
  const Mesh weighted = grid_.with_array({"w", Association::point, 1, ""}, RowMatrix(weights));
  StageOptions by_array;
  by_array.weights = "array:w";
  const RowMatrix expected = values(stage.run(weighted, by_array).mesh, "pressure_predicted");
  EXPECT_LT(distance(pressure.topRows(8), expected.topRows(8)), 1e-12);
  EXPECT_LT(distance(pressure.bottomRows(21), expected.bottomRows(21)), 1e-12);
}

TEST_F(StageOptionsTest, MoreThreadsThanAnyMachineHasAreRefused) {
  StageOptions options;
  options.threads = 50000;
  const OperatorStage stage = stage_of(test::make_surrogate());
  EXPECT_EQ(error_of<UsageError>([&] { (void)stage.run(grid_, options); }),
            "threads: 50000 are more than 1024");
}

TEST_F(StageOptionsTest, DroppedPointsAreGoneWithTheirCells) {
  const OperatorStage stage = stage_of(test::make_surrogate());
  const Mesh damaged = with_value(grid_, "load", Association::point, 8, nan);
  StageOptions options;
  options.nan = NanPolicy::mask;
  const RowMatrix masked = values(stage.run(damaged, options).mesh, "displacement_predicted");
  options.nan = NanPolicy::drop;
  const Mesh dropped = stage.run(damaged, options).mesh;
  ASSERT_EQ(dropped.count(Association::point), 29);
  EXPECT_EQ(dropped.count(Association::cell), 40 - 6);  // Six triangles meet at an inner point.
  EXPECT_TRUE(values(dropped, "load").allFinite());
  EXPECT_EQ(values(dropped, "displacement_predicted").topRows(8), masked.topRows(8));
  EXPECT_EQ(values(dropped, "displacement_predicted").bottomRows(21), masked.bottomRows(21));
  EXPECT_EQ(dropped.coordinates(Association::point).row(8),
            damaged.coordinates(Association::point).row(9));
}

TEST_F(StageOptionsTest, DroppedCellsLeaveThePoints) {
  const OperatorStage stage = stage_of(test::make_surrogate(Association::cell));
  const Mesh damaged = with_value(grid_, "load", Association::cell, 3, nan);
  StageOptions options;
  options.nan = NanPolicy::drop;
  const Mesh dropped = stage.run(damaged, options).mesh;
  EXPECT_EQ(dropped.count(Association::point), 30);
  ASSERT_EQ(dropped.count(Association::cell), 39);
  EXPECT_EQ(values(dropped, "load", Association::cell).bottomRows(36),
            values(grid_, "load", Association::cell).bottomRows(36));
}

TEST_F(StageOptionsTest, ImagesCannotLosePoints) {
  vtkNew<vtkImageData> image;
  image->SetDimensions(4, 3, 1);
  RowMatrix load = RowMatrix::Ones(12, 1);
  load(5, 0) = nan;
  const Mesh mesh = Mesh(image.GetPointer(), "a.vti")
                        .with_array({"load", Association::point, 1, ""}, load)
                        .with_array({"force", Association::point, 3, ""}, RowMatrix::Ones(12, 3));
  const OperatorStage stage = stage_of(test::make_surrogate());
  StageOptions options;
  options.nan = NanPolicy::drop;
  EXPECT_EQ(error_of<DataError>([&] { (void)stage.run(mesh, options); }),
            "a.vti is a vtkImageData, out of which no point can be dropped; mask them instead");
  options.nan = NanPolicy::mask;
  EXPECT_TRUE(std::isnan(values(stage.run(mesh, options).mesh, "pressure_predicted")(5, 0)));
}

// Cells around a point without a place weigh nothing, so that what is left is the mesh without it.
TEST_F(StageOptionsTest, PointsWithoutAPlaceAreMasked) {
  for (const auto association : {Association::point, Association::cell}) {
    const OperatorStage stage = stage_of(test::make_surrogate(association));
    const Mesh damaged = with_place(grid_, 8, nan);
    EXPECT_EQ(error_of<DataError>([&] { (void)stage.run(damaged); }),
              "grid.vtu: the coordinates of the points hold NaN or Inf at 1 of 30 entries, the "
              "first at index 8; repair these values, or let the NaN policy mask or drop such "
              "entries");
    StageOptions options;
    options.nan = NanPolicy::mask;
    const StageResult masked = stage.run(damaged, options);
    const RowMatrix found = values(masked.mesh, "pressure_predicted", association);
    options.nan = NanPolicy::drop;
    const StageResult dropped = stage.run(damaged, options);
    const RowMatrix left = values(dropped.mesh, "pressure_predicted", association);
    ASSERT_TRUE(left.allFinite());
    EXPECT_EQ(left.rows(), found.rows() - masked.unusable);
    KeepMask kept(30, true);
    kept[8] = false;
    const Mesh clean = keep_points(grid_, kept);
    const RowMatrix expected = values(stage.run(clean).mesh, "pressure_predicted", association);
    ASSERT_EQ(expected.rows(), left.rows());
    EXPECT_LT(distance(left, expected), 1e-12);
    Eigen::Index next = 0;
    for (Eigen::Index i = 0; i < found.rows(); ++i)
      if (!std::isnan(found(i, 0))) {
        EXPECT_EQ(found(i, 0), left(next, 0));
        ++next;
      }
    EXPECT_EQ(next, left.rows());
  }
}

TEST_F(StageOptionsTest, GhostsNeedNoPlace) {
  const OperatorStage stage = stage_of(test::make_surrogate());
  const Mesh ghosts = with_ghosts(grid_, {0, 1});
  for (const char* weights : {"measure", "uniform", "density"}) {
    StageOptions options;
    options.weights = weights;
    const RowMatrix whole = values(stage.run(ghosts, options).mesh, "pressure_predicted");
    const RowMatrix found =
        values(stage.run(with_place(ghosts, 0, nan), options).mesh, "pressure_predicted");
    EXPECT_TRUE(std::isnan(found(0, 0)));
    EXPECT_LT(distance(found.bottomRows(29), whole.bottomRows(29)), 1e-12) << weights;
  }
}

TEST_F(StageOptionsTest, NothingIsLeftWhereNoCellIs) {
  const OperatorStage stage = stage_of(test::make_surrogate());
  Mesh damaged = grid_;
  for (vtkIdType i = 0; i < 30; ++i)
    if (i % 6 % 2 == 0 || i % 6 == 5) damaged = with_place(damaged, i, nan);
  StageOptions options;
  options.nan = NanPolicy::mask;
  EXPECT_EQ(error_of<DataError>([&] { (void)stage.run(damaged, options); }),
            "grid.vtu: nothing to compute from is left, since all that weighs anything holds NaN "
            "or Inf");
}

// --- Query

TEST_F(StageOptionsTest, PlacesOfAQueryMayBeNaN) {
  const Mesh query = test::make_grid(4, 4)
                         .with_array({"p", Association::point, 1, ""}, RowMatrix::Ones(16, 1))
                         .with_array({"u", Association::point, 3, ""}, RowMatrix::Ones(16, 3));
  const Mesh line = test::make_scattered_line(20, 5);
  const struct {
    Operator op;
    Mesh source;
    std::string array;
    std::vector<std::string> truth;
  } cases[] = {{test::make_surrogate(), grid_, "pressure_predicted", {"p", "u"}},
               {test::make_regression(), line, "y_predicted", {"p"}}};
  for (const auto& one : cases) {
    const OperatorStage stage = stage_of(one.op);
    StageOptions options;
    options.error_against = one.truth;
    const MeshTree damaged(with_place(query, 5, nan));
    EXPECT_EQ(error_of<DataError>([&] { (void)stage.run(MeshTree(one.source), damaged, options); }),
              "grid.vtu: the coordinates of the points hold NaN or Inf at 1 of 16 entries, the "
              "first at index 5; repair these values, or let the NaN policy mask or drop such "
              "entries");
    const RowMatrix whole = values(
        stage.run(MeshTree(one.source), MeshTree(query), options).tree.leaves()[0], one.array);
    options.nan = NanPolicy::mask;
    const TreeResult masked = stage.run(MeshTree(one.source), damaged, options);
    const RowMatrix found = values(masked.tree.leaves()[0], one.array);
    EXPECT_EQ(masked.unusable, 1);
    EXPECT_EQ(masked.warnings.back(), "grid.vtu: 1 of 16 points hold NaN or Inf and take no part");
    EXPECT_TRUE(std::isnan(found(5, 0)));
    EXPECT_LT(distance(found.topRows(5), whole.topRows(5)), 1e-12);
    EXPECT_LT(distance(found.bottomRows(10), whole.bottomRows(10)), 1e-12);
    for (const ArrayError& error : masked.errors) EXPECT_TRUE(std::isfinite(error.relative_l2));
    options.nan = NanPolicy::drop;
    const TreeResult dropped = stage.run(MeshTree(one.source), damaged, options);
    EXPECT_EQ(dropped.tree.leaves()[0].count(Association::point), 15);
    EXPECT_TRUE(values(dropped.tree.leaves()[0], one.array).allFinite());
  }
}

TEST_F(StageOptionsTest, TheSourceItselfAsQueryChangesNothing) {
  const OperatorStage stage = stage_of(test::make_surrogate());
  const TreeResult result = stage.run(MeshTree(grid_), MeshTree(grid_));
  EXPECT_LT(distance(values(result.tree.leaves()[0], "displacement_predicted"),
                     values(stage.run(grid_).mesh, "displacement_predicted")),
            1e-12);
}

TEST_F(StageOptionsTest, AQueryTakesNoPart) {
  const OperatorStage stage = stage_of(test::make_surrogate());
  const Mesh fine = test::make_grid(11, 9);
  const RowMatrix together =
      values(stage.run(MeshTree(grid_), MeshTree(fine)).tree.leaves()[0], "pressure_predicted");
  // A part of the query by itself gets the same values.
  const Mesh part =
      make_point_cloud(fine.coordinates(Association::point).topRows(7), "part")
          .with_array({"load", Association::point, 1, ""}, values(fine, "load").topRows(7))
          .with_array({"force", Association::point, 3, ""}, values(fine, "force").topRows(7));
  const RowMatrix alone =
      values(stage.run(MeshTree(grid_), MeshTree(part)).tree.leaves()[0], "pressure_predicted");
  EXPECT_LT(distance(alone, together.topRows(7)), 1e-12);
  EXPECT_GT(distance(together, values(stage.run(fine).mesh, "pressure_predicted")), 1e-6)
      << "the query was its own source";
}

TEST_F(StageOptionsTest, AQueryOfFewShotNeedsNoArrays) {
  const OperatorStage stage = stage_of(test::make_regression());
  const Mesh context = test::make_scattered_line(9, 4);
  const Mesh query = make_point_cloud(context.coordinates(Association::point), "query");
  const TreeResult result = stage.run(MeshTree(context), MeshTree(query));
  EXPECT_LT(distance(values(result.tree.leaves()[0], "y_predicted"),
                     values(stage.run(context).mesh, "y_predicted")),
            1e-12);
  EXPECT_EQ(result.tree.origin(), "query");
  EXPECT_EQ(result.tree.leaves()[0].arrays().size(), 1u);
}

TEST_F(StageOptionsTest, FewShotNeedsNoFlagForThat) {
  const Operator flagged = test::make_regression();
  Contract contract = flagged.contract();
  contract.inputs.pop_back();
  const OperatorStage stage = stage_of(Operator(flagged.shared_model(), contract));
  const RowMatrix places = test::make_scattered_line(5, 1).coordinates(Association::point);
  const Mesh source =
      make_polyline(places, "source").with_array({"y", Association::point, 1, ""}, places.col(0));
  const Mesh query = make_point_cloud(places, "query");
  EXPECT_LT(
      distance(values(stage.run(MeshTree(source), MeshTree(query)).tree.leaves()[0], "y_predicted"),
               values(stage.run(source).mesh, "y_predicted")),
      1e-12);
}

TEST_F(StageOptionsTest, InputsAreInterpolatedOnRequestOnly) {
  const OperatorStage stage = stage_of(test::make_surrogate());
  const RowMatrix places = 0.3 * grid_.coordinates(Association::point).topRows(12).array() + 0.2;
  RowMatrix planar = places;
  planar.col(2).setZero();
  const Mesh query = make_point_cloud(planar, "query.vtp");
  EXPECT_EQ(
      error_of<DataError>([&] { (void)stage.run(MeshTree(grid_), MeshTree(query)); }),
      "query.vtp: the query mesh has no point array 'load', which this operator needs at every "
      "point that it evaluates; give it the array, or interpolate the inputs from grid.vtu");
  StageOptions options;
  options.interpolate_inputs = true;
  const TreeResult result = stage.run(MeshTree(grid_), MeshTree(query), options);
  EXPECT_FALSE(result.tree.leaves()[0].has_array("load", Association::point));
  EXPECT_TRUE(values(result.tree.leaves()[0], "pressure_predicted").allFinite());
  // At the points of the source the interpolation is exact.
  const Mesh at_points = make_point_cloud(grid_.coordinates(Association::point), "points");
  EXPECT_LT(
      distance(values(stage.run(MeshTree(grid_), MeshTree(at_points), options).tree.leaves()[0],
                      "pressure_predicted"),
               values(stage.run(grid_).mesh, "pressure_predicted")),
      1e-9);
  planar(3, 0) = 2;
  planar(7, 1) = -1;
  EXPECT_EQ(error_of<DataError>([&] {
              (void)stage.run(MeshTree(grid_), MeshTree(make_point_cloud(planar, "query.vtp")),
                              options);
            }),
            "query.vtp: 2 of 12 points lie outside the cells of grid.vtu, the first is 3; 'load' "
            "cannot be interpolated there: give the mesh this array, or keep it inside the source");
}

TEST_F(StageOptionsTest, AQueryExcludesPerBlock) {
  const OperatorStage stage = stage_of(test::make_surrogate());
  StageOptions options;
  options.per_block = true;
  EXPECT_NE(error_of<UsageError>([&] {
              (void)stage.run(MeshTree(grid_), MeshTree(grid_), options);
            }).find("built on all blocks"),
            std::string::npos);
}

// --- Conversion

TEST_F(StageOptionsTest, ConvertsOnRequestAndHandsBack) {
  const OperatorStage stage = stage_of(test::make_surrogate());
  Mesh mesh = without_array(grid_, "load", Association::point);
  const std::string message = error_of<DataError>([&] { (void)stage.run(mesh); });
  EXPECT_NE(message.find("'load' exists only as a cell array"), std::string::npos) << message;
  StageOptions options;
  options.convert_association = true;
  const Mesh result = stage.run(mesh, options).mesh;
  const Mesh converted = convert_arrays(mesh, {"load"}, Association::point);
  EXPECT_EQ(values(result, "pressure_predicted"),
            values(stage.run(converted).mesh, "pressure_predicted"));
  EXPECT_EQ(values(result, "pressure_predicted", Association::cell),
            values(convert_arrays(result, {"pressure_predicted"}, Association::cell),
                   "pressure_predicted", Association::cell));
  EXPECT_EQ(values(result, "displacement_predicted", Association::cell).rows(), 40);
  EXPECT_FALSE(result.has_array("load", Association::point)) << "the derived input was handed on";
}

// --- Errors

TEST_F(StageOptionsTest, MeasuresErrorsWithTheQuadrature) {
  const OperatorStage stage = stage_of(test::make_surrogate());
  const Mesh predicted = stage.run(grid_).mesh;
  RowMatrix pressure = values(predicted, "pressure_predicted");
  pressure(4, 0) += 0.5;
  const Mesh mesh = grid_.with_array({"p", Association::point, 1, ""}, pressure)
                        .with_array({"u", Association::point, 3, ""},
                                    values(predicted, "displacement_predicted"));
  StageOptions options;
  options.error_against = {"p", "u"};
  const StageResult result = stage.run(mesh, options);
  ASSERT_EQ(result.errors.size(), 2u);
  const Eigen::VectorXd w = quadrature_weights(grid_, Association::point, {});
  EXPECT_EQ(result.errors[0].array, "pressure_predicted");
  EXPECT_EQ(result.errors[0].truth, "p");
  EXPECT_NEAR(result.errors[0].max_error, 0.5, 1e-12);
  EXPECT_NEAR(result.errors[0].rmse, std::sqrt(0.25 * w[4] / w.sum()), 1e-12);
  EXPECT_NEAR(result.errors[0].relative_l2,
              std::sqrt(0.25 * w[4] / w.dot(pressure.col(0).cwiseAbs2())), 1e-12);
  EXPECT_EQ(result.errors[1].relative_l2, 0);

  const Mesh lacking = with_value(mesh, "p", Association::point, 4, nan);
  EXPECT_NE(error_of<DataError>([&] {
              (void)stage.run(lacking, options);
            }).find("'p' holds NaN or Inf, first at index 4"),
            std::string::npos);
  options.nan = NanPolicy::mask;
  EXPECT_NEAR(stage.run(lacking, options).errors[0].max_error, 0, 1e-12);
  options.error_against = {"p"};
  EXPECT_NE(error_of<UsageError>([&] {
              (void)stage.run(mesh, options);
            }).find("against p, but what is predicted is pressure, displacement; name one"),
            std::string::npos);
  options.error_against = {"p", "p"};
  EXPECT_NE(error_of<DataError>([&] {
              (void)stage.run(mesh, options);
            }).find("'p' has 1 components, 'displacement' is predicted with 3"),
            std::string::npos);
}

// --- Check

TEST_F(StageOptionsTest, CheckFindsWhatRunWouldRefuse) {
  const OperatorStage stage = stage_of(test::make_surrogate());
  const TreeResult report = stage.check(MeshTree(grid_), nullptr);
  EXPECT_EQ(report.entries, 30);
  EXPECT_TRUE(report.warnings.empty());
  // Its meshes are those of run(), with other numbers.
  EXPECT_EQ(values(report.tree.leaves()[0], "displacement_predicted"), RowMatrix::Zero(30, 3));
  const Mesh lacking = without_array(grid_, "force", Association::point);
  const auto run = error_of<DataError>([&] { (void)stage.run(lacking); });
  EXPECT_EQ(error_of<DataError>([&] { (void)stage.check(MeshTree(lacking), nullptr); }), run);
}

TEST_F(StageOptionsTest, CheckKnowsWhatWillBeNaNOrDropped) {
  const OperatorStage stage = stage_of(test::make_surrogate());
  const MeshTree damaged(with_value(grid_, "load", Association::point, 8, nan));
  StageOptions options;
  options.nan = NanPolicy::mask;
  const RowMatrix found =
      values(stage.check(damaged, nullptr, options).tree.leaves()[0], "pressure_predicted");
  EXPECT_TRUE(std::isnan(found(8, 0)));
  EXPECT_EQ(found.array().isNaN().count(), 1);
  options.nan = NanPolicy::drop;
  EXPECT_EQ(stage.check(damaged, nullptr, options).tree.leaves()[0].count(Association::point), 29);
}

TEST_F(StageOptionsTest, CheckTriesTheSpillFolder) {
  const OperatorStage stage = stage_of(test::make_surrogate());
  StageOptions options;
  options.engine.memory = ActivationMemory::spilled;
  options.engine.spill_folder = folder_ / "none";
  const auto run = error_of<FileError>([&] { (void)stage.run(grid_, options); });
  EXPECT_EQ(run, "cannot create a temporary file in '" + (folder_ / "none").string() +
                     "': No such file or directory; choose another folder for temporary files");
  EXPECT_EQ(error_of<FileError>([&] { (void)stage.check(MeshTree(grid_), nullptr, options); }),
            run);
}

TEST_F(StageOptionsTest, ErrorsOfHugeFieldsAreNumbers) {
  const OperatorStage stage = stage_of(test::make_surrogate());
  const Mesh mesh =
      grid_.with_array({"p", Association::point, 1, ""}, RowMatrix::Constant(30, 1, 1e300))
          .with_array({"u", Association::point, 3, ""}, RowMatrix::Ones(30, 3));
  StageOptions options;
  options.error_against = {"p", "u"};
  const ArrayError error = stage.run(mesh, options).errors[0];
  EXPECT_NEAR(error.relative_l2, 1, 1e-12);
  EXPECT_NEAR(error.rmse / 1e300, 1, 1e-12);
}

}  // namespace
}  // namespace funcattn
