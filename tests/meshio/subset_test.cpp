#include "meshio/subset.h"

#include <vtkCellArray.h>
#include <vtkNew.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkUnstructuredGrid.h>

#include "core/error.h"
#include "meshio/association_conversion.h"
#include "meshio/probing.h"
#include "meshio/quadrature.h"
#include "tests/meshio/mesh_samples.h"

namespace funcattn {
namespace {

KeepMask all_but(Eigen::Index count, std::initializer_list<int> left_out) {
  KeepMask kept(static_cast<std::size_t>(count), true);
  for (const int id : left_out) kept[static_cast<std::size_t>(id)] = false;
  return kept;
}

TEST(Subset, KeepingEverythingChangesNothing) {
  for (const auto& data : {sample_surface(), sample_grid(), sample_polyhedron()}) {
    const Mesh mesh(data, "mesh");
    EXPECT_EQ(
        difference(data, keep_points(mesh, all_but(mesh.count(Association::point), {})).vtk()), "");
    EXPECT_EQ(difference(data, keep_cells(mesh, all_but(mesh.count(Association::cell), {})).vtk()),
              "");
  }
}

TEST(Subset, PointsGoWithTheirArraysAndCells) {
  for (const auto& data : {sample_surface(), sample_grid(), sample_polyhedron()}) {
    const Mesh mesh(data, "mesh");
    const Mesh kept = keep_points(mesh, all_but(mesh.count(Association::point), {0}));
    const Eigen::Index rest = mesh.count(Association::point) - 1;
    ASSERT_EQ(kept.count(Association::point), rest);
    EXPECT_EQ(kept.coordinates(Association::point),
              mesh.coordinates(Association::point).bottomRows(rest));
    EXPECT_EQ(kept.array("velocity", Association::point).to_double(),
              mesh.array("velocity", Association::point).to_double().bottomRows(rest));
    EXPECT_EQ(kept.array("pressure", Association::point).type(), ScalarType::float32);
    // Of the cells those remain, with their own values, that do not use the point.
    std::vector<double> material;
    vtkNew<vtkIdList> points;
    for (vtkIdType cell = 0; cell < data->GetNumberOfCells(); ++cell) {
      data->GetCellPoints(cell, points);
      if (points->IsId(0) < 0)
        material.push_back(mesh.array("material", Association::cell).to_double()(cell, 0));
    }
    ASSERT_EQ(kept.count(Association::cell), static_cast<Eigen::Index>(material.size()));
    for (std::size_t i = 0; i < material.size(); ++i)
      EXPECT_EQ(
          kept.array("material", Association::cell).to_double()(static_cast<Eigen::Index>(i), 0),
          material[i]);
    EXPECT_EQ(data->GetNumberOfPoints(), rest + 1) << "the input changed";
  }
}

TEST(Subset, PolyhedraAreRenumbered) {
  // A point that no cell uses stands before those of the polyhedron.
  const auto data = sample_polyhedron();
  const Mesh mesh(data, "mesh");
  const double volume = quadrature_weights(mesh, Association::cell, {}).sum();
  vtkNew<vtkUnstructuredGrid> shifted;
  vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  points->InsertNextPoint(-9, -9, -9);
  for (vtkIdType i = 0; i < data->GetNumberOfPoints(); ++i)
    points->InsertNextPoint(data->GetPoint(i));
  shifted->SetPoints(points);
  auto* grid = vtkUnstructuredGrid::SafeDownCast(data);
  vtkNew<vtkIdList> stream;
  int polyhedra = 0;
  for (vtkIdType cell = 0; cell < grid->GetNumberOfCells(); ++cell) {
    if (grid->GetCellType(cell) != VTK_POLYHEDRON) {
      grid->GetCellPoints(cell, stream);
      for (vtkIdType i = 0; i < stream->GetNumberOfIds(); ++i)
        stream->SetId(i, stream->GetId(i) + 1);
      shifted->InsertNextCell(grid->GetCellType(cell), stream);
      continue;
    }
    ++polyhedra;
    grid->GetFaceStream(cell, stream);
    vtkIdType at = 1;
    for (vtkIdType face = 0; face < stream->GetId(0); ++face)
      for (vtkIdType i = stream->GetId(at++); i > 0; --i, ++at)
        stream->SetId(at, stream->GetId(at) + 1);
    shifted->InsertNextCell(VTK_POLYHEDRON, stream);
  }
  EXPECT_GT(polyhedra, 0);
  const Mesh with_stray(shifted.GetPointer(), "shifted");
  const Mesh kept = keep_points(with_stray, all_but(with_stray.count(Association::point), {0}));
  ASSERT_EQ(kept.count(Association::cell), mesh.count(Association::cell));
  EXPECT_NEAR(quadrature_weights(kept, Association::cell, {}).sum(), volume, 1e-12);
}

TEST(Subset, CloudsHaveAVertexPerPoint) {
  const Mesh image(sample_image(), "image");
  KeepMask kept(static_cast<std::size_t>(image.count(Association::point)), false);
  kept[1] = kept[4] = true;
  const Mesh cloud = keep_points_as_cloud(image, kept);
  EXPECT_TRUE(cloud.vtk()->IsA("vtkPolyData"));
  ASSERT_EQ(cloud.count(Association::point), 2);
  EXPECT_EQ(cloud.count(Association::cell), 2);
  EXPECT_EQ(cloud.coordinates(Association::point).row(1),
            image.coordinates(Association::point).row(4));
  EXPECT_EQ(cloud.array("id", Association::point).to_double().row(1),
            image.array("id", Association::point).to_double().row(4));
}

TEST(Subset, RefusesImagesAndOtherLengths) {
  const Mesh image(sample_image(), "a.vti");
  expect_says(message_of<DataError>(
                  [&] { (void)keep_points(image, all_but(image.count(Association::point), {0})); }),
              "a.vti is a vtkImageData, from which no point or cell can be taken out");
  expect_says(message_of<DataError>([&] { (void)keep_points(image, KeepMask(2, true)); }),
              "a choice among 2 points was given");
}

TEST(Conversion, PointsWithoutCellsBecomeZero) {
  // As many of them as make memory come back used.
  constexpr vtkIdType many = 1000;
  for (int repeat = 0; repeat < 3; ++repeat) {
    vtkNew<vtkUnstructuredGrid> grid;
    vtkNew<vtkPoints> points;
    for (vtkIdType i = 0; i < 2 + many; ++i) points->InsertNextPoint(static_cast<double>(i), 0, 0);
    grid->SetPoints(points);
    const vtkIdType ends[2] = {0, 1};
    grid->InsertNextCell(VTK_LINE, 2, ends);
    const Mesh mesh =
        Mesh(grid.GetPointer(), "grid")
            .with_array({"a", Association::cell, 3, ""}, RowMatrix::Constant(1, 3, 7 + repeat));
    RowMatrix expected = RowMatrix::Zero(2 + many, 3);
    expected.topRows(2).setConstant(7 + repeat);
    EXPECT_EQ(
        convert_arrays(mesh, {"a"}, Association::point).array("a", Association::point).to_double(),
        expected);
  }
}

TEST(Conversion, AveragesAroundPointsAndOverCells) {
  const Mesh line =
      make_polyline((RowMatrix(3, 3) << 0, 0, 0, 1, 0, 0, 5, 0, 0).finished(), "line");
  vtkNew<vtkPolyData> segments;
  segments->ShallowCopy(line.vtk());
  vtkNew<vtkCellArray> lines;
  for (const auto& [a, b] : {std::pair<vtkIdType, vtkIdType>{0, 1}, {1, 2}}) {
    lines->InsertNextCell(2);
    lines->InsertCellPoint(a);
    lines->InsertCellPoint(b);
  }
  segments->SetLines(lines);
  const Mesh mesh =
      Mesh(segments.GetPointer(), "segments")
          .with_array({"a", Association::cell, 1, ""}, (RowMatrix(2, 1) << 2, 6).finished());
  const Mesh at_points = convert_arrays(mesh, {"a"}, Association::point);
  EXPECT_EQ(at_points.array("a", Association::point).to_double(),
            (RowMatrix(3, 1) << 2, 4, 6).finished());
  EXPECT_TRUE(at_points.has_array("a", Association::cell));
  const Mesh points_only =
      line.with_array({"b", Association::point, 1, ""}, (RowMatrix(3, 1) << 3, 6, 9).finished());
  EXPECT_EQ(convert_arrays(points_only, {"b"}, Association::cell)
                .array("b", Association::cell)
                .to_double()(0, 0),
            6);
  expect_says(message_of<DataError>([&] { (void)convert_arrays(mesh, {"c"}, Association::point); }),
              "there is no cell array 'c'");
}

TEST(Probing, InterpolatesLinearlyInCellsAndCountsWhatIsOutside) {
  const Mesh line = make_polyline((RowMatrix(3, 3) << 0, 0, 0, 1, 0, 0, 5, 0, 0).finished(), "line")
                        .with_array({"a", Association::point, 2, ""},
                                    (RowMatrix(3, 2) << 0, 1, 2, 3, 10, 3).finished());
  const Mesh target = make_point_cloud((RowMatrix(2, 3) << 0.5, 0, 0, 3, 0, 0).finished(), "q");
  const ArraySpec spec{"a", Association::point, 2, ""};
  const Mesh probed = interpolate_arrays({line}, target, {spec});
  EXPECT_TRUE(probed.array("a", Association::point)
                  .to_double()
                  .isApprox((RowMatrix(2, 2) << 1, 2, 6, 3).finished(), 1e-12));
  EXPECT_FALSE(target.has_array("a", Association::point));
  const Mesh outside = make_point_cloud((RowMatrix(2, 3) << 0.5, 0, 0, 7, 0, 0).finished(), "q");
  expect_says(message_of<DataError>([&] { (void)interpolate_arrays({line}, outside, {spec}); }),
              "q: 1 of 2 points lie outside the cells of line, the first is 1");
  const Mesh cloud =
      make_point_cloud(RowMatrix::Zero(1, 3), "cloud").with_array(spec, RowMatrix::Zero(1, 2));
  expect_says(message_of<DataError>([&] { (void)interpolate_arrays({cloud}, outside, {spec}); }),
              "2 of 2 points lie outside the cells of cloud");
}

TEST(Probing, FindsPointsOnTheRimOfLongCells) {
  // A fan of triangles between the edge from (0, 0) to (0.3, 0.9) and the point (1, 0).
  const int steps = 8;
  vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  for (int i = 0; i <= steps; ++i) points->InsertNextPoint(0.3 * i / steps, 0.9 * i / steps, 0);
  points->InsertNextPoint(1, 0, 0);
  vtkNew<vtkCellArray> cells;
  for (int i = 0; i < steps; ++i) {
    const vtkIdType ids[] = {i, steps + 1, i + 1};
    cells->InsertNextCell(3, ids);
  }
  vtkNew<vtkUnstructuredGrid> grid;
  grid->SetPoints(points);
  grid->SetCells(VTK_TRIANGLE, cells);
  const Mesh bare(grid.GetPointer(), "fan");
  const auto field = [](const RowMatrix& at) { return RowMatrix(2 * at.col(0) - at.col(1)); };
  const ArraySpec spec{"a", Association::point, 1, ""};
  const ArraySpec of_cells{"c", Association::cell, 1, ""};
  const Mesh fan =
      bare.with_array(spec, field(bare.coordinates(Association::point)))
          .with_array(of_cells, RowMatrix(Eigen::VectorXd::LinSpaced(steps, 0, steps - 1)));

  const int count = 101;
  RowMatrix rim = RowMatrix::Zero(count, 3);
  for (int i = 0; i < count; ++i) {
    const double t = i / (count - 1.0);
    rim.row(i) << t * 0.3, t * 0.9, 0;
  }
  const Mesh target = make_point_cloud(rim, "q");
  const RowMatrix probed =
      interpolate_arrays({fan}, target, {spec}).array("a", Association::point).to_double();
  EXPECT_LT((probed - field(rim)).cwiseAbs().maxCoeff(), 1e-12);
  const RowMatrix constants =
      interpolate_arrays({fan}, target, {of_cells}).array("c", Association::cell).to_double();
  for (int i = 0; i < count; ++i) {
    if (steps * i % (count - 1) == 0) continue;  // Between two cells.
    EXPECT_EQ(constants(i, 0), steps * i / (count - 1)) << "point " << i;
  }

  // Several arrays at once are what they are one by one.
  const ArraySpec twice{"b", Association::point, 1, ""};
  const Mesh more = fan.with_array(
      twice, RowMatrix(2 * fan.array("a", Association::point).to_double().leftCols(1)));
  const Mesh all = interpolate_arrays({more}, target, {of_cells, twice, spec});
  EXPECT_EQ(all.array("a", Association::point).to_double(), probed);
  EXPECT_EQ(all.array("b", Association::point).to_double(), 2 * probed.leftCols(1));
  EXPECT_EQ(all.array("c", Association::cell).to_double(), constants);

  rim.col(0).array() -= 1e-6;
  expect_says(message_of<DataError>(
                  [&] { (void)interpolate_arrays({fan}, make_point_cloud(rim, "q"), {spec}); }),
              "q: 101 of 101 points lie outside the cells of fan, the first is 0");
}

}  // namespace
}  // namespace funcattn
