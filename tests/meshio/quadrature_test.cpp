#include "meshio/quadrature.h"

#include <gtest/gtest.h>
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkCubeSource.h>
#include <vtkDoubleArray.h>
#include <vtkGenericCell.h>
#include <vtkImageData.h>
#include <vtkPlaneSource.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkRectilinearGrid.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnstructuredGrid.h>

#include <Eigen/Geometry>
#include <array>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "tests/meshio/mesh_samples.h"

namespace funcattn {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// One cell through the given points, in their order.
vtkSmartPointer<vtkUnstructuredGrid> one_cell(int type, const std::vector<Vector3d>& points) {
  vtkNew<vtkPoints> coordinates;
  coordinates->SetDataTypeToDouble();
  std::vector<vtkIdType> ids(points.size());
  std::iota(ids.begin(), ids.end(), 0);
  for (const Vector3d& point : points) coordinates->InsertNextPoint(point.data());
  auto grid = vtkSmartPointer<vtkUnstructuredGrid>::New();
  grid->SetPoints(coordinates);
  grid->InsertNextCell(type, static_cast<vtkIdType>(ids.size()), ids.data());
  return grid;
}

double measure(vtkDataSet* data) {
  const Mesh mesh(data, "test");
  const double cells = quadrature_weights(mesh, Association::cell, {WeightKind::measure, ""}).sum();
  const double points =
      quadrature_weights(mesh, Association::point, {WeightKind::measure, ""}).sum();
  EXPECT_NEAR(points / cells, 1, 1e-12);
  return cells;
}

struct ReferenceCell {
  int type;
  double measure;
};

class CellTypes : public ::testing::TestWithParam<ReferenceCell> {};

// VTK knows the parametric corners of each type; any affine image of them has an exact measure.
TEST_P(CellTypes, AffineImageOfTheReferenceCell) {
  const auto [type, reference] = GetParam();
  vtkNew<vtkGenericCell> cell;
  cell->SetCellType(type);
  const double* parametric = cell->GetParametricCoords();
  ASSERT_NE(parametric, nullptr);
  const int dimension = cell->GetCellDimension();
  Matrix3d map;
  map << 1.3, -0.2, 0.4, 0.1, 0.9, -0.3, -0.5, 0.25, 2.1;
  double factor = std::abs(map.determinant());
  if (dimension == 2) factor = Vector3d(map.col(0)).cross(Vector3d(map.col(1))).norm();
  if (dimension == 1) factor = map.col(0).norm();
  const bool axis_aligned = type == VTK_VOXEL || type == VTK_PIXEL;
  for (const double far : {0.0, 4096.0})
    for (const bool mirrored : {false, true}) {
      std::vector<Vector3d> points;
      for (vtkIdType i = 0; i < cell->GetNumberOfPoints(); ++i) {
        Vector3d p(parametric[3 * i], parametric[3 * i + 1], parametric[3 * i + 2]);
        if (mirrored) p[0] = -p[0];
        points.emplace_back(map * p + Vector3d(far, -far, far));
      }
      // The coordinates themselves are rounded to about far x 1e-16.
      EXPECT_NEAR(measure(one_cell(type, points)) / (reference * factor), 1,
                  far > 0 ? 1e-11 : 1e-12)
          << type << (axis_aligned ? " axis" : "");
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, CellTypes,
    ::testing::Values(
        ReferenceCell{VTK_LINE, 1}, ReferenceCell{VTK_TRIANGLE, 0.5}, ReferenceCell{VTK_PIXEL, 1},
        ReferenceCell{VTK_QUAD, 1}, ReferenceCell{VTK_TETRA, 1.0 / 6}, ReferenceCell{VTK_VOXEL, 1},
        ReferenceCell{VTK_HEXAHEDRON, 1}, ReferenceCell{VTK_WEDGE, 0.5},
        ReferenceCell{VTK_PYRAMID, 1.0 / 3}, ReferenceCell{VTK_QUADRATIC_EDGE, 1},
        ReferenceCell{VTK_CUBIC_LINE, 2}, ReferenceCell{VTK_QUADRATIC_TRIANGLE, 0.5},
        ReferenceCell{VTK_BIQUADRATIC_TRIANGLE, 0.5}, ReferenceCell{VTK_QUADRATIC_QUAD, 1},
        ReferenceCell{VTK_BIQUADRATIC_QUAD, 1}, ReferenceCell{VTK_QUADRATIC_LINEAR_QUAD, 1},
        ReferenceCell{VTK_QUADRATIC_TETRA, 1.0 / 6}, ReferenceCell{VTK_QUADRATIC_HEXAHEDRON, 1},
        ReferenceCell{VTK_TRIQUADRATIC_HEXAHEDRON, 1},
        ReferenceCell{VTK_BIQUADRATIC_QUADRATIC_HEXAHEDRON, 1},
        ReferenceCell{VTK_QUADRATIC_WEDGE, 0.5}, ReferenceCell{VTK_QUADRATIC_LINEAR_WEDGE, 0.5},
        ReferenceCell{VTK_BIQUADRATIC_QUADRATIC_WEDGE, 0.5}));

/// Regular prism of height 2 over a polygon of `sides` corners on the unit circle.
std::vector<Vector3d> prism(int sides) {
  std::vector<Vector3d> points;
  for (int level = 0; level < 2; ++level)
    for (int i = 0; i < sides; ++i) {
      const double angle = 2 * M_PI * i / sides;
      points.emplace_back(std::cos(angle), std::sin(angle), 2 * level);
    }
  return points;
}

TEST(Quadrature, Prisms) {
  const auto area = [](int sides) { return sides * std::sin(2 * M_PI / sides) / 2; };
  EXPECT_NEAR(measure(one_cell(VTK_PENTAGONAL_PRISM, prism(5))), 2 * area(5), 1e-12);
  EXPECT_NEAR(measure(one_cell(VTK_HEXAGONAL_PRISM, prism(6))), 2 * area(6), 1e-12);
}

TEST(Quadrature, PolygonsStripsAndPolylines) {
  // An L: reflex corner, so that the fan from the first point turns back.
  EXPECT_NEAR(measure(one_cell(VTK_POLYGON,
                               {{2, 0, 1}, {2, 1, 1}, {1, 1, 1}, {1, 2, 1}, {0, 2, 1}, {0, 0, 1}})),
              3, 1e-12);
  // An arrow head: the reflex corner lies inside the triangle of the other three.
  EXPECT_NEAR(measure(one_cell(VTK_QUAD, {{0, 0, 0}, {2, 1, 0}, {0, 2, 0}, {1, 1, 0}})), 1, 1e-12);
  EXPECT_NEAR(measure(one_cell(VTK_QUAD, {{2, 1, 0}, {0, 2, 0}, {1, 1, 0}, {0, 0, 0}})), 1, 1e-12);
  // A quad folded by 90 degrees keeps the area of its two triangles.
  EXPECT_NEAR(measure(one_cell(VTK_QUAD, {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0.5, 0.5, M_SQRT1_2}})),
              1, 1e-12);
  EXPECT_NEAR(measure(one_cell(VTK_TRIANGLE_STRIP,
                               {{0, 0, 0}, {0, 1, 0}, {1, 0, 0}, {1, 1, 0}, {2, 0, 0}})),
              1.5, 1e-12);
  EXPECT_NEAR(measure(one_cell(VTK_POLY_LINE, {{0, 0, 0}, {3, 4, 0}, {3, 4, 2}})), 7, 1e-12);
}

TEST(Quadrature, PolylinesAndStripsWeighTheirPointsAsTheirParts) {
  const auto points_weights = [](const Mesh& mesh) {
    return quadrature_weights(mesh, Association::point, {WeightKind::measure, ""});
  };
  // The trapezoidal rule on unevenly spaced points.
  const auto line =
      make_polyline((RowMatrix(4, 3) << 0, 0, 0, 1, 0, 0, 3, 0, 0, 7, 0, 0).finished(), "line");
  EXPECT_TRUE(points_weights(line).isApprox(Eigen::Vector4d(0.5, 1.5, 3, 2), 1e-14));
  // Triangles of area 1/2 and 1: the point of the first alone has a third of 1/2.
  const Mesh strip(one_cell(VTK_TRIANGLE_STRIP, {{0, 0, 0}, {0, 1, 0}, {1, 0, 0}, {2, 1, 0}}),
                   "strip");
  EXPECT_TRUE(
      points_weights(strip).isApprox(Eigen::Vector4d(1.0 / 6, 1.0 / 2, 1.0 / 2, 1.0 / 3), 1e-14));
}

TEST(Quadrature, HexahedronWithBentFacesIsExact) {
  // x = r, y = s, z = t (1 + r s): volume 1 + 1/4.
  EXPECT_NEAR(measure(one_cell(VTK_HEXAHEDRON, {{0, 0, 0},
                                                {1, 0, 0},
                                                {1, 1, 0},
                                                {0, 1, 0},
                                                {0, 0, 1},
                                                {1, 0, 1},
                                                {1, 1, 2},
                                                {0, 1, 1}})),
              1.25, 1e-12);
}

// VTK's parametric pyramid is a cube, so that its corners come from here.
TEST(Quadrature, QuadraticPyramidWithStraightEdges) {
  std::vector<Vector3d> points = {{0, 0, 0}, {2, 0, 0}, {2, 3, 0}, {0, 3, 0}, {0.5, 1, 4}};
  constexpr std::array<std::array<std::size_t, 2>, 8> edges = {
      {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 4}, {1, 4}, {2, 4}, {3, 4}}};
  for (const auto& [from, to] : edges) points.emplace_back((points[from] + points[to]) / 2);
  EXPECT_NEAR(measure(one_cell(VTK_QUADRATIC_PYRAMID, points)), 8, 1e-11);
}

TEST(Quadrature, CurvedSidesOfQuadraticCells) {
  // A side of length 1 bulges by h as a parabola: two thirds of a rectangle 1 x h more.
  const double h = 0.2;
  EXPECT_NEAR(measure(one_cell(
                  VTK_QUADRATIC_TRIANGLE,
                  {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.5, -h, 0}, {0.5, 0.5, 0}, {0, 0.5, 0}})),
              0.5 + 2 * h / 3, 1e-12);
}

TEST(Quadrature, PolyhedronInEitherOrientation) {
  std::vector<Vector3d> points;
  for (int k = 0; k < 2; ++k)
    for (int j = 0; j < 2; ++j)
      for (int i = 0; i < 2; ++i) points.emplace_back(100 + i, j, 3 * k);
  const std::vector<vtkIdType> outward = {4, 0, 2, 3, 1, 4, 4, 5, 7, 6, 4, 0, 1, 5, 4,
                                          4, 1, 3, 7, 5, 4, 3, 2, 6, 7, 4, 2, 0, 4, 6};
  std::vector<vtkIdType> mixed = outward;
  std::swap(mixed[2], mixed[4]);  // One face turned inward.
  for (const auto& faces : {outward, mixed}) {
    auto grid = one_cell(VTK_VERTEX, points);
    grid->Reset();
    const vtkIdType ids[] = {0, 1, 2, 3, 4, 5, 6, 7};
    grid->InsertNextCell(VTK_POLYHEDRON, 8, ids, 6, faces.data());
    EXPECT_NEAR(measure(grid), 3, 1e-12);
  }
}

TEST(Quadrature, ImageOfOneLayerHasBilinearAreas) {
  vtkNew<vtkImageData> image;
  image->SetDimensions(16, 16, 1);
  image->SetSpacing(0.5, 0.25, 7);
  const double cell = 0.125;
  const Mesh mesh(image.GetPointer(), "image");
  const Eigen::VectorXd weights = quadrature_weights(mesh, Association::point, {});
  for (int j = 0; j < 16; ++j)
    for (int i = 0; i < 16; ++i) {
      const double x = i == 0 || i == 15 ? 0.5 : 1;
      const double y = j == 0 || j == 15 ? 0.5 : 1;
      EXPECT_EQ(weights[16 * j + i], x * y * cell);
    }
  EXPECT_EQ(quadrature_weights(mesh, Association::cell, {}), Eigen::VectorXd::Constant(225, cell));
}

TEST(Quadrature, ImageAgreesWithTheSameCellsBuilt) {
  vtkNew<vtkImageData> image;
  image->SetExtent(2, 4, -1, 2, 0, 3);
  image->SetSpacing(0.3, 0.7, 1.9);
  const double shear[] = {1, 0.5, 0, 0, 1, 0, 0, 0, -1};
  image->SetDirectionMatrix(shear);
  vtkNew<vtkUnstructuredGrid> grid;
  vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  for (vtkIdType i = 0; i < image->GetNumberOfPoints(); ++i)
    points->InsertNextPoint(image->GetPoint(i));
  grid->SetPoints(points);
  vtkNew<vtkIdList> ids;
  for (vtkIdType i = 0; i < image->GetNumberOfCells(); ++i) {
    image->GetCellPoints(i, ids);
    grid->InsertNextCell(VTK_VOXEL, ids);
  }
  const Eigen::VectorXd a =
      quadrature_weights(Mesh(image.GetPointer(), ""), Association::point, {});
  const Eigen::VectorXd b = quadrature_weights(Mesh(grid.GetPointer(), ""), Association::point, {});
  EXPECT_LT((a - b).cwiseAbs().maxCoeff(), 1e-12 * b.maxCoeff());
}

TEST(Quadrature, RectilinearGridWithUnevenSpacing) {
  const auto data = sample_rectilinear();
  const Eigen::VectorXd weights = quadrature_weights(Mesh(data, ""), Association::point, {});
  const double yz = (0.3f + 1.0f) * 0.25 / 4;
  for (int row = 0; row < 4; ++row) {
    EXPECT_NEAR(weights[3 * row], 0.05 * yz, 1e-7 * yz);
    EXPECT_NEAR(weights[3 * row + 1], 0.35 * yz, 1e-7 * yz);
    EXPECT_NEAR(weights[3 * row + 2], 0.30 * yz, 1e-7 * yz);
  }
}

TEST(Quadrature, KnownSurfaces) {
  vtkNew<vtkCubeSource> cube;
  cube->SetXLength(1);
  cube->SetYLength(2);
  cube->SetZLength(3);
  cube->Update();
  EXPECT_NEAR(measure(cube->GetOutput()), 22, 1e-12 * 22);
  vtkNew<vtkPlaneSource> plane;
  plane->SetResolution(7, 5);
  plane->Update();
  EXPECT_NEAR(measure(plane->GetOutput()), 1, 1e-6);  // Its points are in single precision.
}

/// A bent box of 5 x 4 x 9 cells: hexahedra, then five tetrahedra for each hexahedron of the upper
/// layers, then a few triangles. Enough of each for cells to be measured many at a time.
vtkSmartPointer<vtkUnstructuredGrid> bent_box(bool narrow_ids) {
  constexpr vtkIdType nx = 6, ny = 5, nz = 10;
  vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  for (vtkIdType k = 0; k < nz; ++k)
    for (vtkIdType j = 0; j < ny; ++j)
      for (vtkIdType i = 0; i < nx; ++i) {
        const auto x = static_cast<double>(i), y = static_cast<double>(j),
                   z = static_cast<double>(k);
        points->InsertNextPoint(1e4 + x + 0.1 * std::sin(y + z), y + 0.2 * std::cos(x * z),
                                z + 0.15 * std::sin(x + 2 * y));
      }
  std::vector<int> types;
  vtkNew<vtkCellArray> cells;
  if (narrow_ids) cells->Use32BitStorage();
  const auto insert = [&](int type, const std::vector<vtkIdType>& ids) {
    types.push_back(type);
    cells->InsertNextCell(static_cast<vtkIdType>(ids.size()), ids.data());
  };
  for (vtkIdType k = 0; k + 1 < nz; ++k)
    for (vtkIdType j = 0; j + 1 < ny; ++j)
      for (vtkIdType i = 0; i + 1 < nx; ++i) {
        const vtkIdType p = (k * ny + j) * nx + i;
        const vtkIdType up = nx * ny;
        const std::vector<vtkIdType> c = {p,      p + 1,      p + nx + 1,      p + nx,
                                          p + up, p + up + 1, p + up + nx + 1, p + up + nx};
        if (k < 4) {
          insert(VTK_HEXAHEDRON, c);
          continue;
        }
        for (const auto& tetrahedron :
             {std::array{0, 1, 2, 5}, {0, 2, 3, 7}, {0, 5, 7, 4}, {2, 5, 6, 7}, {0, 2, 7, 5}}) {
          std::vector<vtkIdType> ids;
          for (const int corner : tetrahedron) ids.push_back(c[static_cast<std::size_t>(corner)]);
          insert(VTK_TETRA, ids);
        }
      }
  insert(VTK_TRIANGLE, {0, 1, 6});
  auto grid = vtkSmartPointer<vtkUnstructuredGrid>::New();
  grid->SetPoints(points);
  grid->SetCells(types.data(), cells);
  return grid;
}

TEST(Quadrature, ManyCellsAtATimeMeasureAsOneByOne) {
  for (const bool narrow_ids : {false, true}) {
    const auto grid = bent_box(narrow_ids);
    const Mesh mesh(grid.GetPointer(), "box");
    const Eigen::VectorXd found = quadrature_weights(mesh, Association::point, {});
    // Each cell by itself.
    Eigen::VectorXd expected = Eigen::VectorXd::Zero(grid->GetNumberOfPoints());
    vtkNew<vtkIdList> ids;
    for (vtkIdType cell = 0; cell + 1 < grid->GetNumberOfCells(); ++cell) {
      grid->GetCellPoints(cell, ids);
      std::vector<Vector3d> corners;
      for (vtkIdType i = 0; i < ids->GetNumberOfIds(); ++i)
        corners.emplace_back(grid->GetPoint(ids->GetId(i)));
      const double volume = measure(one_cell(grid->GetCellType(cell), corners));
      for (vtkIdType i = 0; i < ids->GetNumberOfIds(); ++i)
        expected[ids->GetId(i)] += volume / static_cast<double>(ids->GetNumberOfIds());
    }
    ASSERT_EQ(found.size(), expected.size());
    for (Eigen::Index i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i] / expected[i], 1, 1e-12) << i;
    EXPECT_NEAR(found.sum() / quadrature_weights(mesh, Association::cell, {}).sum(), 1, 1e-12);
  }
}

TEST(Quadrature, OneBadCellAmongManyIsFound) {
  for (const bool narrow_ids : {false, true}) {
    for (const vtkIdType beyond : {vtkIdType{300}, vtkIdType{-1}, vtkIdType{1} << 31}) {
      if (narrow_ids && beyond > 300) continue;
      const auto grid = bent_box(narrow_ids);
      vtkDataArray* ids = grid->GetCells()->GetConnectivityArray();
      ids->SetComponent(8 * 40 + 3, 0, static_cast<double>(beyond));
      const auto weigh = [&](Association association) {
        return message_of<DataError>(
            [&] { quadrature_weights(Mesh(grid.GetPointer(), "m"), association, {}); });
      };
      for (const Association association : {Association::point, Association::cell})
        expect_says(weigh(association), "m: cell 40 uses point " + std::to_string(beyond) +
                                            ", but the mesh has 300 points");
    }
    const auto grid = bent_box(narrow_ids);
    grid->GetCells()->GetOffsetsArray()->SetComponent(41, 0, 8 * 41 + 1);
    expect_says(message_of<DataError>([&] {
                  quadrature_weights(Mesh(grid.GetPointer(), "m"), Association::point, {});
                }),
                "m: cell 40 of type 12 has 9 points, expected 8");
  }
  const auto grid = bent_box(false);
  grid->GetPoints()->SetPoint(100, 0, NAN, 0);
  const Mesh mesh(grid.GetPointer(), "m");
  expect_says(message_of<DataError>([&] { quadrature_weights(mesh, Association::point, {}); }),
              "m: the coordinates of the points hold NaN or Inf at 1 of 300 entries, the first at "
              "index 100");
  const Eigen::VectorXd weights =
      quadrature_weights(mesh, Association::point, {}, NonFinitePlaces::weigh_nothing);
  EXPECT_EQ(weights[100], 0);
  EXPECT_TRUE(weights.allFinite());
}

TEST(Quadrature, OnlyTheHighestDimensionCounts) {
  const auto grid = sample_grid();
  const Mesh mesh(grid, "grid");
  const Eigen::VectorXd cells = quadrature_weights(mesh, Association::cell, {});
  EXPECT_GT(cells.head(3).minCoeff(), 0);
  EXPECT_EQ(cells[3], 0) << "the triangle";
}

TEST(Quadrature, PointCloudsAreUniform) {
  const Mesh cloud = make_point_cloud(RowMatrix::Random(5, 3), "cloud");
  EXPECT_EQ(quadrature_weights(cloud, Association::point, {}), Eigen::VectorXd::Ones(5));
  expect_says(message_of<DataError>([&] {
                quadrature_weights(cloud, Association::point, {WeightKind::measure, ""});
              }),
              "cloud: the mesh has no cells of positive length, area or volume to weigh by; use "
              "uniform weights");
}

TEST(Quadrature, UnusedPointsAndDegenerateCellsWeighNothing) {
  auto grid = one_cell(VTK_TRIANGLE, {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}});
  grid->GetPoints()->InsertNextPoint(5, 5, 5);
  const vtkIdType flat[] = {0, 1, 1};
  grid->InsertNextCell(VTK_TRIANGLE, 3, flat);
  const Mesh mesh(grid.GetPointer(), "");
  const Eigen::VectorXd points = quadrature_weights(mesh, Association::point, {});
  EXPECT_EQ(points, (Eigen::VectorXd(4) << 0.5 / 3, 0.5 / 3, 0.5 / 3, 0).finished());
  EXPECT_EQ(quadrature_weights(mesh, Association::cell, {}), Eigen::Vector2d(0.5, 0));
  EXPECT_EQ(quadrature_weights(mesh, Association::point, {WeightKind::uniform, ""}),
            Eigen::VectorXd::Ones(4));
}

TEST(Quadrature, GhostsWeighNothing) {
  const auto polyline =
      make_polyline((RowMatrix(4, 3) << 0, 0, 0, 1, 0, 0, 3, 0, 0, 7, 0, 0).finished(), "line");
  vtkNew<vtkUnsignedCharArray> ghosts;
  ghosts->SetName(vtkDataSetAttributes::GhostArrayName());
  for (const unsigned char flag : {0, static_cast<int>(vtkDataSetAttributes::DUPLICATEPOINT),
                                   static_cast<int>(vtkDataSetAttributes::HIDDENPOINT), 0})
    ghosts->InsertNextValue(flag);
  polyline.vtk()->GetPointData()->AddArray(ghosts);
  const Eigen::Vector4d expected(0.5, 0, 0, 2.0);
  EXPECT_EQ(quadrature_weights(polyline, Association::point, {}), expected);
  EXPECT_EQ(quadrature_weights(polyline, Association::point, {WeightKind::uniform, ""}),
            Eigen::Vector4d(1, 0, 0, 1));

  vtkNew<vtkImageData> image;
  image->SetDimensions(4, 1, 1);
  vtkNew<vtkUnsignedCharArray> cells;
  cells->SetName(vtkDataSetAttributes::GhostArrayName());
  for (const unsigned char flag : {0, static_cast<int>(vtkDataSetAttributes::DUPLICATECELL),
                                   static_cast<int>(vtkDataSetAttributes::HIDDENCELL)})
    cells->InsertNextValue(flag);
  image->GetCellData()->AddArray(cells);
  const Mesh mesh(image.GetPointer(), "image");
  EXPECT_EQ(quadrature_weights(mesh, Association::cell, {}), Eigen::Vector3d(1, 0, 0));
  EXPECT_EQ(quadrature_weights(mesh, Association::point, {}), Eigen::Vector4d(0.5, 0.5, 0, 0));
}

TEST(Quadrature, WeightsFromAnArray) {
  const auto with = [](std::vector<double> values) {
    const Mesh line = make_polyline(RowMatrix::Random(3, 3), "line");
    return line.with_array({"w", Association::point, 1, ""},
                           Eigen::Map<Eigen::VectorXd>(values.data(), 3));
  };
  const WeightChoice choice = weight_choice_from_string("array:w");
  EXPECT_EQ(quadrature_weights(with({0, 2, 3}), Association::point, choice),
            Eigen::Vector3d(0, 2, 3));
  expect_says(message_of<DataError>([&] {
                quadrature_weights(with({1, -2, 3}), Association::point, choice);
              }),
              "line: point array 'w', chosen as weights, holds -2 at point 1; weights must be "
              "finite and >= 0");
  expect_says(message_of<DataError>([&] {
                quadrature_weights(with({1, 2, NAN}), Association::point, choice);
              }),
              "holds nan at point 2");
  for (const auto places : {NonFinitePlaces::refuse, NonFinitePlaces::weigh_nothing})
    expect_says(message_of<DataError>([&] {
                  quadrature_weights(with({0, 0, 0}), Association::point, choice, places);
                }),
                "line: no point has a positive weight (of 3); give one to those that take part");
  expect_says(message_of<DataError>([&] {
                quadrature_weights(with({1, 1, 1}), Association::cell, choice);
              }),
              "'w' exists only as a point array");
}

TEST(Quadrature, RefusesWhatCannotBeMeasured) {
  auto grid = one_cell(VTK_TRIANGLE, {{0, 0, 0}, {NAN, 0, 0}, {0, 1, 0}});
  expect_says(message_of<DataError>([&] {
                quadrature_weights(Mesh(grid.GetPointer(), "m"), Association::point, {});
              }),
              "m: the coordinates of the points hold NaN or Inf at 1 of 3 entries, the first at "
              "index 1; repair these values, or let the NaN policy mask or drop such entries");
  grid = one_cell(VTK_TRIANGLE, {{0, 0, 0}, {1e308, 0, 0}, {0, 1e308, 0}});
  expect_says(message_of<DataError>([&] {
                quadrature_weights(Mesh(grid.GetPointer(), "m"), Association::point, {});
              }),
              "m: the measure of cell 0 is not finite; look for huge coordinates");
  grid = one_cell(VTK_TRIANGLE, {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}});
  const vtkIdType beyond[] = {0, 1, 77};
  grid->InsertNextCell(VTK_TRIANGLE, 3, beyond);
  expect_says(message_of<DataError>([&] {
                quadrature_weights(Mesh(grid.GetPointer(), "m"), Association::point, {});
              }),
              "m: cell 1 uses point 77, but the mesh has 3 points");
}

TEST(Quadrature, PlacesOfGridsMayBeNaN) {
  vtkNew<vtkRectilinearGrid> grid;
  grid->SetDimensions(4, 2, 1);
  vtkNew<vtkDoubleArray> x, y, z;
  for (const double value : {0.0, 1.0, 3.0, double{NAN}}) x->InsertNextValue(value);
  for (const double value : {0.0, 2.0}) y->InsertNextValue(value);
  z->InsertNextValue(0);
  grid->SetXCoordinates(x);
  grid->SetYCoordinates(y);
  grid->SetZCoordinates(z);
  const Mesh mesh(grid.GetPointer(), "m");
  EXPECT_EQ(quadrature_weights(mesh, Association::cell, {}, NonFinitePlaces::weigh_nothing),
            Eigen::Vector3d(2, 4, 0));
  EXPECT_EQ(quadrature_weights(mesh, Association::point, {}, NonFinitePlaces::weigh_nothing),
            (Eigen::VectorXd(8) << 0.5, 1.5, 1, 0, 0.5, 1.5, 1, 0).finished());
  expect_says(message_of<DataError>([&] { quadrature_weights(mesh, Association::cell, {}); }),
              "m: the coordinates of the points hold NaN or Inf at 2 of 8 entries, the first at "
              "index 3");
}

TEST(Quadrature, NoOtherWeightsWhereNoCellIsLeft) {
  const auto grid = one_cell(VTK_TRIANGLE, {{0, 0, 0}, {NAN, 0, 0}, {0, 1, 0}});
  for (const char* choice : {"auto", "measure"})
    EXPECT_EQ(quadrature_weights(Mesh(grid.GetPointer(), "m"), Association::point,
                                 weight_choice_from_string(choice), NonFinitePlaces::weigh_nothing),
              Eigen::Vector3d::Zero());
}

TEST(Quadrature, MeshesOfOneDomainWeighTogether) {
  const Mesh line = make_polyline((RowMatrix(2, 3) << 0, 0, 0, 4, 0, 0).finished(), "line");
  vtkNew<vtkImageData> image;
  image->SetDimensions(2, 2, 1);
  const Mesh square(image.GetPointer(), "square");
  const Mesh nothing = make_point_cloud(RowMatrix(0, 3), "nothing");
  Eigen::VectorXd expected(6);
  // The dimension that counts is the highest of all meshes.
  expected << 0, 0, 0.25, 0.25, 0.25, 0.25;
  EXPECT_EQ(quadrature_weights({line, nothing, square}, Association::point, {}), expected);
  EXPECT_EQ(quadrature_weights({line, nothing}, Association::point, {}), Eigen::Vector2d(2, 2));
  // The origin is a point of both.
  EXPECT_EQ(quadrature_weights({line, square}, Association::point, {WeightKind::uniform, ""}),
            (Eigen::VectorXd(6) << 0.5, 1, 0.5, 1, 1, 1).finished());
  // Two halves of a cloud are each other's neighbours.
  RowMatrix row = RowMatrix::Zero(20, 3);
  row.col(0).setLinSpaced(0, 19);
  const Mesh whole = make_point_cloud(row, "whole");
  const std::vector<Mesh> halves = {make_point_cloud(row.topRows(9), "a"),
                                    make_point_cloud(row.bottomRows(11), "b")};
  EXPECT_EQ(quadrature_weights(halves, Association::point, {WeightKind::density, ""}),
            quadrature_weights(whole, Association::point, {WeightKind::density, ""}));
  expect_says(
      message_of<DataError>([&] {
        (void)quadrature_weights({line, nothing}, Association::point, {WeightKind::array, "w"});
      }),
      "line: there is no point array 'w'");
}

TEST(Quadrature, SaysThatEverythingIsAGhost) {
  const Mesh line = make_polyline(RowMatrix::Random(3, 3), "line");
  vtkNew<vtkUnsignedCharArray> ghosts;
  ghosts->SetName(vtkDataSetAttributes::GhostArrayName());
  for (int i = 0; i < 3; ++i) ghosts->InsertNextValue(vtkDataSetAttributes::HIDDENPOINT);
  line.vtk()->GetPointData()->AddArray(ghosts);
  for (const auto kind : {WeightKind::automatic, WeightKind::measure})
    EXPECT_EQ(message_of<DataError>([&] {
                (void)quadrature_weights(line, Association::point, {kind, ""});
              }),
              "line: all 3 points are ghosts or hidden; nothing is left to weigh");
}

TEST(Quadrature, ChoiceAsText) {
  for (const char* text : {"auto", "uniform", "measure", "density", "array:my weights"})
    EXPECT_EQ(to_string(weight_choice_from_string(text)), text);
  for (const char* text : {"", "Auto", "array:", "areas"})
    expect_says(message_of<UsageError>([&] { weight_choice_from_string(text); }),
                "unknown weights '" + std::string(text) +
                    "'; expected auto, uniform, measure, density or array:NAME");
}

}  // namespace
}  // namespace funcattn
