#include "meshio/sampling.h"

#include <vtkCellData.h>
#include <vtkDoubleArray.h>
#include <vtkImageData.h>
#include <vtkIntArray.h>
#include <vtkLineSource.h>
#include <vtkNew.h>
#include <vtkPlaneSource.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkRectilinearGrid.h>
#include <vtkSphereSource.h>
#include <vtkStructuredGrid.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnstructuredGrid.h>

#include <cmath>
#include <set>

#include "core/error.h"
#include "meshio/refinement.h"
#include "meshio/structured_resampling.h"
#include "tests/meshio/mesh_samples.h"

namespace funcattn {
namespace {

constexpr double far = 1e6;  ///< Where float32 coordinates have lost five digits.

/// `mesh` with the point array "linear", which interpolation keeps exactly, and "parent", the
/// numbers of the cells.
Mesh with_linear_field(const Mesh& mesh) {
  const RowMatrix at = mesh.coordinates(Association::point);
  RowMatrix linear(at.rows(), 1);
  linear = at.col(0).array() - far + 2 * at.col(1).array() - 3 * at.col(2).array() + 1;
  vtkNew<vtkIntArray> parent;
  parent->SetName("parent");
  for (vtkIdType i = 0; i < mesh.vtk()->GetNumberOfCells(); ++i)
    parent->InsertNextValue(static_cast<int>(i));
  Mesh result = mesh.with_array({"linear", Association::point, 1, ""}, linear);
  result.vtk()->GetCellData()->AddArray(parent);
  return result;
}

void expect_linear(const Mesh& mesh, double tolerance = 1e-9) {
  const RowMatrix at = mesh.coordinates(Association::point);
  const RowMatrix linear = mesh.array("linear", Association::point).to_double();
  ASSERT_EQ(linear.rows(), at.rows());
  for (Eigen::Index i = 0; i < at.rows(); ++i)
    EXPECT_NEAR(linear(i, 0), at(i, 0) - far + 2 * at(i, 1) - 3 * at(i, 2) + 1, tolerance) << i;
}

double measure(const Mesh& mesh) {
  return quadrature_weights(mesh, Association::point, {WeightKind::measure, ""}).sum();
}

std::set<std::array<double, 3>> places_of(const Mesh& mesh) {
  const RowMatrix at = mesh.coordinates(Association::point);
  std::set<std::array<double, 3>> places;
  for (Eigen::Index i = 0; i < at.rows(); ++i) places.insert({at(i, 0), at(i, 1), at(i, 2)});
  return places;
}

void expect_distinct_points(const Mesh& mesh) {
  EXPECT_EQ(static_cast<Eigen::Index>(places_of(mesh).size()), mesh.count(Association::point));
}

Mesh triangulated_plane(int resolution) {
  vtkNew<vtkUnstructuredGrid> grid;
  vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  for (int j = 0; j <= resolution; ++j)
    for (int i = 0; i <= resolution; ++i) points->InsertNextPoint(far + 0.1 * i, 0.1 * j, 0.05 * i);
  grid->SetPoints(points);
  for (int j = 0; j < resolution; ++j)
    for (int i = 0; i < resolution; ++i) {
      const vtkIdType corner = j * (resolution + 1) + i;
      const vtkIdType quad[4] = {corner, corner + 1, corner + resolution + 2,
                                 corner + resolution + 1};
      grid->InsertNextCell(VTK_QUAD, 4, quad);
    }
  return with_linear_field({grid.GetPointer(), "plane"});
}

Mesh two_hexahedra() {
  vtkNew<vtkUnstructuredGrid> grid;
  vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  for (int i = 0; i <= 2; ++i)
    for (const auto& [y, z] : {std::pair{0, 0}, {1, 0}, {1, 1}, {0, 1}})
      points->InsertNextPoint(far + i, y, z);
  grid->SetPoints(points);
  for (vtkIdType i = 0; i < 2; ++i) {
    const vtkIdType ids[8] = {4 * i,     4 * i + 1, 4 * i + 2, 4 * i + 3,
                              4 * i + 4, 4 * i + 5, 4 * i + 6, 4 * i + 7};
    grid->InsertNextCell(VTK_HEXAHEDRON, 8, ids);
  }
  return with_linear_field({grid.GetPointer(), "bricks"});
}

TEST(Refine, SurfacesKeepAreaAndLinearFields) {
  const Mesh mesh = triangulated_plane(3);
  const Mesh fine = refine(mesh, 40);
  EXPECT_TRUE(fine.vtk()->IsA("vtkUnstructuredGrid"));
  EXPECT_GE(fine.count(Association::point), 40);
  EXPECT_LT(fine.count(Association::point), 4 * 40);
  EXPECT_EQ(fine.count(Association::cell), 18 * 4);
  expect_linear(fine);
  expect_distinct_points(fine);
  EXPECT_NEAR(measure(fine), measure(mesh), 1e-9);
  const auto places = places_of(fine);
  for (const auto& place : places_of(mesh)) EXPECT_EQ(places.count(place), 1u);
  // A piece has the cell array of the cell that it was cut from.
  const RowMatrix parent = fine.array("parent", Association::cell).to_double();
  for (int i = 0; i < 9; ++i) EXPECT_EQ((parent.array() == i).count(), 8) << i;
}

TEST(Refine, SolidsKeepVolumeAndLinearFields) {
  const Mesh mesh = two_hexahedra();
  const Mesh fine = refine(mesh, 13);
  EXPECT_GT(fine.count(Association::point), 12);
  expect_linear(fine);
  expect_distinct_points(fine);
  EXPECT_NEAR(measure(fine), 2, 1e-8);
  const RowMatrix parent = fine.array("parent", Association::cell).to_double();
  const RowMatrix centres = fine.coordinates(Association::cell);
  for (Eigen::Index i = 0; i < parent.rows(); ++i)
    EXPECT_EQ(parent(i, 0), centres(i, 0) - far > 1 ? 1 : 0) << i;
}

TEST(Refine, LinesKeepLengthAndLinearFields) {
  const Mesh line = with_linear_field(make_polyline(
      (RowMatrix(4, 3) << far, 0, 0, far + 1, 0, 0, far + 1, 2, 0, far + 1, 2, 5).finished(),
      "line"));
  const Mesh fine = refine(line, 8);
  EXPECT_EQ(fine.count(Association::point), 13);
  EXPECT_EQ(fine.count(Association::cell), 1);
  expect_linear(fine);
  EXPECT_NEAR(measure(fine), 8, 1e-9);
}

TEST(Refine, KeepsTheTypeOfPolyDataAndCoordinates) {
  vtkNew<vtkSphereSource> sphere;
  sphere->Update();
  const Mesh fine = refine({sphere->GetOutput(), "sphere"}, 100);
  EXPECT_TRUE(fine.vtk()->IsA("vtkPolyData"));
  auto* points = vtkPointSet::SafeDownCast(fine.vtk())->GetPoints();
  EXPECT_EQ(points->GetDataType(), VTK_FLOAT);
}

TEST(Refine, RefusesWhatHasNothingBetweenPoints) {
  expect_says(message_of<DataError>(
                  [] { (void)refine(make_point_cloud(RowMatrix::Ones(3, 3), "cloud"), 9); }),
              "cloud: the mesh has no lines, faces or solids between whose points to interpolate");
  vtkNew<vtkUnstructuredGrid> mixed;
  mixed->ShallowCopy(two_hexahedra().vtk());
  const vtkIdType face[3] = {0, 1, 2};
  mixed->GetCellData()->Initialize();
  mixed->InsertNextCell(VTK_TRIANGLE, 3, face);
  expect_says(message_of<DataError>([&] {
                (void)refine({mixed.GetPointer(), "mixed"}, 99);
              }),
              "mixed: its cells have dimensions 2 to 3");
}

TEST(ResampleStructured, ImagesKeepTheirBoxAndLinearFields) {
  vtkNew<vtkImageData> image;
  image->SetExtent(2, 6, -1, 3, 0, 0);  // 5 x 5 points
  image->SetSpacing(0.5, 0.25, 1);
  image->SetOrigin(far, 3, 7);
  const Mesh mesh = with_linear_field({image.GetPointer(), "image"});
  for (const double factor : {2.0, 3.5, 0.5}) {
    const Mesh other = resample_structured(mesh, factor);
    ASSERT_TRUE(other.vtk()->IsA("vtkImageData"));
    const int axis = static_cast<int>(std::lround(4 * factor)) + 1;
    EXPECT_EQ(other.count(Association::point), axis * axis) << factor;
    expect_linear(other);
    EXPECT_NEAR(measure(other), measure(mesh), 1e-9);
    double before[6], after[6];
    mesh.vtk()->GetBounds(before);
    other.vtk()->GetBounds(after);
    for (int i = 0; i < 6; ++i) EXPECT_NEAR(after[i], before[i], 1e-9);
  }
  const Mesh doubled = resample_structured(mesh, 2);
  const RowMatrix parent = doubled.array("parent", Association::cell).to_double();
  ASSERT_EQ(parent.rows(), 64);
  EXPECT_EQ(parent(0, 0), 0);
  EXPECT_EQ(parent(2, 0), 1);
  EXPECT_EQ(parent(16, 0), 4);
  EXPECT_EQ(parent(63, 0), 15);
}

TEST(ResampleStructured, GridsKeepTheirShape) {
  vtkNew<vtkRectilinearGrid> grid;
  vtkNew<vtkDoubleArray> axes[3];
  for (const double x : {far, far + 1.0, far + 4.0}) axes[0]->InsertNextValue(x);
  for (const double y : {0.0, 0.5}) axes[1]->InsertNextValue(y);
  for (const double z : {-1.0, 2.0}) axes[2]->InsertNextValue(z);
  grid->SetDimensions(3, 2, 2);
  grid->SetXCoordinates(axes[0]);
  grid->SetYCoordinates(axes[1]);
  grid->SetZCoordinates(axes[2]);
  const Mesh fine = resample_structured(with_linear_field({grid.GetPointer(), "r"}), 2);
  ASSERT_TRUE(fine.vtk()->IsA("vtkRectilinearGrid"));
  EXPECT_EQ(fine.count(Association::point), 5 * 3 * 3);
  EXPECT_NEAR(measure(fine), 4 * 0.5 * 3, 1e-9);
  expect_linear(fine);

  vtkNew<vtkStructuredGrid> curved;
  vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 4; ++i)
      points->InsertNextPoint(far + (1 + i) * std::cos(0.3 * j), (1 + i) * std::sin(0.3 * j), 0);
  curved->SetDimensions(4, 3, 1);
  curved->SetPoints(points);
  const Mesh mesh = with_linear_field({curved.GetPointer(), "s"});
  const Mesh bent = resample_structured(mesh, 3);
  ASSERT_TRUE(bent.vtk()->IsA("vtkStructuredGrid"));
  EXPECT_EQ(bent.count(Association::point), 10 * 7);
  EXPECT_NEAR(measure(bent), measure(mesh), 1e-8);
  expect_linear(bent);
}

TEST(Resample, SubsetsShareOutTheMeasure) {
  const MeshTree tree(triangulated_plane(20));
  for (const auto method : {SamplingMethod::even, SamplingMethod::random}) {
    Resampling resampling;
    resampling.count = 60;
    resampling.method = method;
    resampling.seed = 4;
    const ResampledTree subset = resample(tree, Association::point, resampling, {});
    ASSERT_TRUE(subset.has_weights);
    const Mesh& leaf = subset.tree.leaves().front();
    ASSERT_EQ(leaf.count(Association::point), 60);
    EXPECT_EQ(leaf.count(Association::cell), 60);
    EXPECT_TRUE(leaf.vtk()->IsA("vtkUnstructuredGrid"));
    expect_linear(leaf);
    const RowMatrix weights = leaf.array(sampling_weights_name, Association::point).to_double();
    EXPECT_NEAR(weights.sum(), measure(tree.leaves().front()), 1e-9);
    EXPECT_GT(weights.minCoeff(), 0);
    const ResampledTree again = resample(tree, Association::point, resampling, {});
    EXPECT_EQ(again.tree.leaves().front().coordinates(Association::point),
              leaf.coordinates(Association::point));
    resampling.seed = 5;
    const ResampledTree other = resample(tree, Association::point, resampling, {});
    EXPECT_NE(other.tree.leaves().front().coordinates(Association::point),
              leaf.coordinates(Association::point));
  }
}

TEST(Resample, EvenIsMoreEvenThanRandom) {
  const MeshTree tree(triangulated_plane(30));
  const auto spread = [&](SamplingMethod method) {
    Resampling resampling;
    resampling.count = 64;
    resampling.method = method;
    const auto subset = resample(tree, Association::point, resampling, {});
    const Eigen::VectorXd weights =
        subset.tree.leaves().front().array(sampling_weights_name, Association::point).to_double();
    return (weights.array() - weights.mean()).square().mean();
  };
  EXPECT_LT(spread(SamplingMethod::even), 0.8 * spread(SamplingMethod::random));
}

TEST(Resample, SubsetsOfCellsStayCells) {
  const MeshTree tree(triangulated_plane(10));
  Resampling resampling;
  resampling.factor = 0.25;
  const ResampledTree subset = resample(tree, Association::cell, resampling, {});
  const Mesh& leaf = subset.tree.leaves().front();
  EXPECT_EQ(leaf.count(Association::cell), 25);
  EXPECT_EQ(leaf.vtk()->GetCellType(0), VTK_QUAD);
  EXPECT_NEAR(leaf.array(sampling_weights_name, Association::cell).to_double().sum(),
              measure(tree.leaves().front()), 1e-9);
}

TEST(Resample, ImagesGetCoarserLatticesOrRandomPoints) {
  vtkNew<vtkImageData> image;
  image->SetDimensions(17, 17, 1);
  image->SetOrigin(far, 0, 0);
  const MeshTree tree(with_linear_field({image.GetPointer(), "image"}));
  Resampling resampling;
  resampling.factor = 0.25;
  const ResampledTree coarse = resample(tree, Association::point, resampling, {});
  EXPECT_FALSE(coarse.has_weights);
  EXPECT_TRUE(coarse.tree.leaves().front().vtk()->IsA("vtkImageData"));
  EXPECT_EQ(coarse.tree.leaves().front().count(Association::point), 81);
  resampling.method = SamplingMethod::random;
  const ResampledTree cloud = resample(tree, Association::point, resampling, {});
  EXPECT_TRUE(cloud.has_weights);
  EXPECT_TRUE(cloud.tree.leaves().front().vtk()->IsA("vtkPolyData"));
  EXPECT_EQ(cloud.tree.leaves().front().count(Association::point), 72);
}

TEST(Resample, GhostsAreNeverChosenAndNeverRefined) {
  const Mesh mesh = triangulated_plane(6);
  vtkNew<vtkUnsignedCharArray> ghosts;
  ghosts->SetName(vtkDataSetAttributes::GhostArrayName());
  for (vtkIdType i = 0; i < 49; ++i)
    ghosts->InsertNextValue(i < 30 ? vtkDataSetAttributes::DUPLICATEPOINT : 0);
  mesh.vtk()->GetPointData()->AddArray(ghosts);
  Resampling resampling;
  resampling.count = 19;
  const ResampledTree subset = resample(MeshTree(mesh), Association::point, resampling, {});
  EXPECT_EQ(subset.tree.leaves().front().coordinates(Association::point),
            mesh.coordinates(Association::point).bottomRows(19));
  resampling = {};
  resampling.factor = 2;
  expect_says(message_of<DataError>(
                  [&] { (void)resample(MeshTree(mesh), Association::point, resampling, {}); }),
              "plane: the mesh marks ghost or hidden points, which have no meaning between points");
}

TEST(Resampling, FactorsAndCounts) {
  EXPECT_EQ(resampling_from_string("x2").factor, 2);
  EXPECT_EQ(resampling_from_string("x0.25").factor, 0.25);
  EXPECT_EQ(resampling_from_string("0.5").factor, 0.5);
  EXPECT_EQ(resampling_from_string("5000").count, 5000);
  EXPECT_EQ(resampling_from_string("5000").factor, 0);
  EXPECT_EQ(resampling_from_string("007000").count, 7000);
  EXPECT_EQ(resampling_from_string("x100.0").factor, 100);
  EXPECT_EQ(resampling_from_string(".5").factor, 0.5);
  const auto refusal = [](const std::string& text) {
    return message_of<UsageError>([&] { (void)resampling_from_string(text); });
  };
  const std::string forms =
      "expected a factor (x2, x0.5 or 0.5; at most x10000) or a whole number of points (5000; at "
      "least 10)";
  EXPECT_EQ(refusal("2"), "resampling to '2': " + forms + "; for a factor write 'x2'");
  EXPECT_EQ(refusal("100.0"), "resampling to '100.0': " + forms +
                                  "; write 'x100.0' for a factor, '100' for a number of points");
  EXPECT_EQ(refusal("99999999999999999999"), "resampling to '99999999999999999999': " + forms +
                                                 "; that is more than can be counted");
  for (const char* text :
       {"",    "x",   "x-1",  "0",    "-5",     "+50", "nan", "inf",   "xinf", "x2y",
        "two", "1e3", "x1e3", "5e-1", "x10001", "x0",  "0.0", "1.2.3", "1,5",  " 50"})
    EXPECT_EQ(refusal(text).rfind("resampling to '" + std::string(text) + "': " + forms, 0), 0u)
        << refusal(text);
}

TEST(Resampling, WhatIsThereAlreadyStays) {
  const MeshTree tree(triangulated_plane(6));
  for (const char* text : {"49", "x1"}) {
    const ResampledTree same = resample(tree, Association::point, resampling_from_string(text), {});
    EXPECT_FALSE(same.has_weights);
    EXPECT_EQ(same.tree.leaves()[0].vtk(), tree.leaves()[0].vtk());
  }
}

TEST(Resampling, RefusesPlacesThatAreNone) {
  for (const char* text : {"x2", "x0.5"}) {
    const Mesh plane = triangulated_plane(6);
    for (const vtkIdType point : {40, 3})
      vtkPointSet::SafeDownCast(plane.vtk())->GetPoints()->SetPoint(point, HUGE_VAL, 0, 0);
    EXPECT_EQ(message_of<DataError>([&] {
                (void)resample(MeshTree(plane), Association::point, resampling_from_string(text),
                               {});
              }),
              "plane: the coordinates of the points hold NaN or Inf at 2 of 49 entries, the first "
              "at index 3; repair or remove them before the resampling");
  }
}

TEST(Resampling, RefusesAtOnceWhatCannotBeMade) {
  const auto refusal = [](const Mesh& mesh, const std::string& text) {
    return message_of<DataError>([&] {
      (void)resample(MeshTree(mesh), Association::point, resampling_from_string(text), {});
    });
  };
  const Mesh plane = triangulated_plane(6);
  EXPECT_EQ(refusal(plane, "2147483648"),
            "plane: 2147483648 points are more than 10000 times the 49 that it has; ask for fewer");
  // 1e10 points of at least 24 bytes.
  vtkNew<vtkImageData> image;
  image->SetDimensions(1001, 1001, 1);
  expect_says(refusal(Mesh(image.GetPointer(), "image"), "x10000"),
              "image: it would have about 1e+10 points, which need more than 224 GiB, of ");
  vtkNew<vtkPlaneSource> source;
  source->SetResolution(1000, 1000);
  source->Update();
  const std::string message = refusal(Mesh(source->GetOutput(), "quads"), "x10000");
  expect_says(message, "quads: it would have about ");
  expect_says(message, "; ask for fewer");
  vtkNew<vtkLineSource> line;
  line->SetResolution(1000000);
  line->Update();
  expect_says(refusal(Mesh(line->GetOutput(), "line"), "x10000"), "line: it would have about ");
}

}  // namespace
}  // namespace funcattn
