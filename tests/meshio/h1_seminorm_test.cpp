#include "meshio/h1_seminorm.h"

#include <gtest/gtest.h>
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkCellDerivatives.h>
#include <vtkCellSizeFilter.h>
#include <vtkDoubleArray.h>
#include <vtkImageData.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkSphereSource.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnstructuredGrid.h>

#include <cmath>
#include <limits>

#include "core/error.h"

namespace funcattn {
namespace {

/// x, y, z and their linear function a . p of two components.
RowMatrix linear(const Mesh& mesh, const Eigen::Vector3d& a) {
  const RowMatrix points = mesh.coordinates(Association::point);
  RowMatrix field(points.rows(), 2);
  field.col(0) = points * a;
  field.col(1) = -2 * field.col(0);
  return field;
}

Mesh grid_of(int type, const std::vector<std::array<double, 3>>& places) {
  vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  vtkNew<vtkUnstructuredGrid> grid;
  std::vector<vtkIdType> ids;
  for (const auto& place : places) ids.push_back(points->InsertNextPoint(place.data()));
  grid->SetPoints(points);
  grid->Allocate(1);
  grid->InsertNextCell(type, static_cast<vtkIdType>(ids.size()), ids.data());
  return Mesh(grid.GetPointer(), "one cell");
}

struct LinearCase {
  const char* name;
  Mesh mesh;
  Eigen::Vector3d slope;
  double integral;  ///< Of the squared slope within the cells.
};

Mesh image() {
  vtkNew<vtkImageData> image;
  image->SetDimensions(4, 3, 3);
  image->SetSpacing(0.5, 2, 1);
  return Mesh(image.GetPointer(), "image");
}

TEST(H1Seminorm, IsExactForLinearFunctionsOnEveryKindOfCell) {
  const std::vector<std::array<double, 3>> concave = {
      {0, 0, 0}, {4, 0, 0}, {4, 4, 0}, {2, 1, 0}, {0, 4, 0}};
  const std::vector<std::array<double, 3>> cube = {{0, 0, 0}, {2, 0, 0}, {2, 2, 0}, {0, 2, 0},
                                                   {0, 0, 2}, {2, 0, 2}, {2, 2, 2}, {0, 2, 2}};
  const std::vector<std::array<double, 3>> pixel = {{0, 0, 0}, {3, 0, 0}, {0, 2, 0}, {3, 2, 0}};
  RowMatrix oblique(3, 3);
  oblique << 0, 0, 0, 1, 1, 0, 3, 3, 0;
  const std::vector<LinearCase> cases = {
      // Along (1, 1, 0) / sqrt(2) the slope of x is 1 / sqrt(2), on a length of 3 sqrt(2).
      {"poly-line", make_polyline(oblique, "line"), {1, 0, 5}, 0.5 * 3 * std::sqrt(2.0)},
      // Across the plane nothing counts. Area 10.
      {"concave polygon", grid_of(VTK_POLYGON, concave), {1, 2, 7}, 5 * 10.0},
      {"pixel", grid_of(VTK_PIXEL, pixel), {1, 2, 7}, 5 * 6.0},
      {"hexahedron", grid_of(VTK_HEXAHEDRON, cube), {1, 2, 3}, 14 * 8.0},
      {"tetrahedron",
       grid_of(VTK_TETRA, {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}),
       {1, 2, 3},
       14 / 6.0},
      {"image", image(), {1, 2, 3}, 14 * 1.5 * 4 * 2},
  };
  for (const LinearCase& one : cases) {
    const auto norms = h1_seminorms(one.mesh, {linear(one.mesh, one.slope)});
    ASSERT_TRUE(norms) << one.name;
    // The second component is twice as steep.
    EXPECT_NEAR((*norms)[0], std::sqrt(5 * one.integral), 1e-12 * std::sqrt(5 * one.integral))
        << one.name;
  }
}

TEST(H1Seminorm, AgreesWithVtkOnASurface) {
  vtkNew<vtkSphereSource> source;
  source->SetThetaResolution(9);
  source->SetPhiResolution(7);
  source->Update();
  vtkPolyData* sphere = source->GetOutput();
  vtkNew<vtkDoubleArray> field;
  field->SetName("f");
  for (vtkIdType i = 0; i < sphere->GetNumberOfPoints(); ++i)
    field->InsertNextValue(std::sin(3.0 * static_cast<double>(i)));
  sphere->GetPointData()->SetScalars(field);
  // The threads of VTK 9.1's vtkCellDerivatives would build them at once, and miss gradients.
  sphere->BuildCells();
  vtkNew<vtkCellDerivatives> derivatives;
  derivatives->SetInputData(sphere);
  vtkNew<vtkCellSizeFilter> sizes;
  sizes->SetInputConnection(derivatives->GetOutputPort());
  sizes->Update();
  vtkCellData* cells = vtkPolyData::SafeDownCast(sizes->GetOutput())->GetCellData();
  vtkDataArray* gradients = cells->GetArray("ScalarGradient");
  vtkDataArray* areas = cells->GetArray("Area");
  double expected = 0;
  for (vtkIdType i = 0; i < gradients->GetNumberOfTuples(); ++i)
    expected += areas->GetTuple1(i) *
                Eigen::Map<const Eigen::Vector3d>(gradients->GetTuple3(i)).squaredNorm();
  const Mesh mesh(sphere, "sphere");
  const auto norms = h1_seminorms(mesh, {mesh.array("f", Association::point).to_double()});
  ASSERT_TRUE(norms);
  EXPECT_NEAR((*norms)[0], std::sqrt(expected), 1e-6 * std::sqrt(expected));
}

TEST(H1Seminorm, LeavesOutGhostsAndWhatIsNotFinite) {
  RowMatrix places = RowMatrix::Zero(5, 3);
  for (int i = 0; i < 5; ++i) places(i, 0) = i;
  vtkNew<vtkPolyData> data;
  const Mesh line = make_polyline(places, "line");
  data->SetPoints(vtkPolyData::SafeDownCast(line.vtk())->GetPoints());
  vtkNew<vtkCellArray> segments;
  for (vtkIdType i = 0; i + 1 < 5; ++i) {
    const vtkIdType ids[] = {i, i + 1};
    segments->InsertNextCell(2, ids);
  }
  data->SetLines(segments);
  const Mesh mesh(data.GetPointer(), "segments");
  RowMatrix steep = places.leftCols(1) * 3, other = places.leftCols(1);
  EXPECT_NEAR((*h1_seminorms(mesh, {steep}))[0], 6, 1e-12);
  other(4, 0) = std::numeric_limits<double>::quiet_NaN();
  const auto both = h1_seminorms(mesh, {steep, other});
  EXPECT_NEAR((*both)[0], std::sqrt(27.0), 1e-12) << "the same segments for all fields";
  EXPECT_NEAR((*both)[1], std::sqrt(3.0), 1e-12);

  vtkNew<vtkUnsignedCharArray> ghosts;
  ghosts->SetName(vtkDataSetAttributes::GhostArrayName());
  for (int i = 0; i < 4; ++i)
    ghosts->InsertNextValue(i == 0 ? vtkDataSetAttributes::DUPLICATECELL : 0);
  data->GetCellData()->AddArray(ghosts);
  EXPECT_NEAR((*h1_seminorms(mesh, {steep}))[0], std::sqrt(27.0), 1e-12);
}

TEST(H1Seminorm, NeedsCellsWithExtent) {
  const RowMatrix places = RowMatrix::Random(4, 3);
  EXPECT_FALSE(h1_seminorms(make_point_cloud(places, "cloud"), {RowMatrix::Ones(4, 1)}));
  try {
    h1_seminorms(make_polyline(places, "line"), {RowMatrix::Ones(3, 1)});
    FAIL() << "nothing was thrown";
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("3 values for 4 points"), std::string::npos);
  }
}

}  // namespace
}  // namespace funcattn
