// Measures of whole meshes of one cell type each, as VTK makes them.
#include <gtest/gtest.h>
#include <vtkCellType.h>
#include <vtkCellTypeSource.h>
#include <vtkCellTypes.h>
#include <vtkIdList.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkSphereSource.h>
#include <vtkUnstructuredGrid.h>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <cmath>

#include "core/error.h"
#include "meshio/cells.h"
#include "meshio/quadrature.h"
#include "tests/meshio/mesh_samples.h"

namespace funcattn {
namespace {

struct TypedMesh {
  int type;
  int order;
};

void PrintTo(const TypedMesh& mesh, std::ostream* stream) {
  *stream << vtkCellTypes::GetClassNameFromTypeId(mesh.type) << " of order " << mesh.order;
}

/// The box [0,2] x [0,3] x [0,2] (as many of its axes as the cells have) filled with cells.
vtkSmartPointer<vtkUnstructuredGrid> filled_box(const TypedMesh& mesh) {
  vtkNew<vtkCellTypeSource> source;
  source->SetCellType(mesh.type);
  source->SetCellOrder(mesh.order);
  source->SetBlocksDimensions(2, 3, 2);
  source->SetOutputPrecision(vtkAlgorithm::DOUBLE_PRECISION);
  source->Update();
  auto grid = vtkSmartPointer<vtkUnstructuredGrid>::New();
  grid->ShallowCopy(source->GetOutput());
  return grid;
}

double box_measure(int dimension) {
  return dimension == 1 ? 2 : dimension == 2 ? 6 : 12;
}

double total(vtkDataSet* data, Association association) {
  return quadrature_weights(Mesh(data, "mesh"), association, {WeightKind::measure, ""}).sum();
}

/// Coordinates replaced by f of themselves.
template <class Function>
void move_points(vtkUnstructuredGrid* grid, const Function& function) {
  vtkNew<vtkPoints> moved;
  moved->SetDataTypeToDouble();
  for (vtkIdType i = 0; i < grid->GetNumberOfPoints(); ++i) {
    Eigen::Vector3d p;
    grid->GetPoint(i, p.data());
    p = function(p);
    moved->InsertNextPoint(p.data());
  }
  grid->SetPoints(moved);
}

class FilledBox : public ::testing::TestWithParam<TypedMesh> {};

TEST_P(FilledBox, HasTheMeasureOfTheBox) {
  const auto grid = filled_box(GetParam());
  const double expected = box_measure(cell_dimension(GetParam().type));
  EXPECT_NEAR(total(grid, Association::cell) / expected, 1, 1e-12);
  EXPECT_NEAR(total(grid, Association::point) / expected, 1, 1e-12);
}

TEST_P(FilledBox, FarAwaySkewedAndMirrored) {
  const auto grid = filled_box(GetParam());
  const int dimension = cell_dimension(GetParam().type);
  Eigen::Matrix3d map;
  map << 0.5, 0.25, 0, -0.25, -0.75, 0, 0, 0, 2;
  move_points(grid, [&](const Eigen::Vector3d& p) -> Eigen::Vector3d {
    return map * p + Eigen::Vector3d(1024, -2048, 512);
  });
  double factor = std::abs(map.determinant());
  if (dimension == 1) factor = map.col(0).norm();
  if (dimension == 2)
    factor = Eigen::Vector3d(map.col(0)).cross(Eigen::Vector3d(map.col(1))).norm();
  // VTK decomposes Bezier cells in single precision.
  const double tolerance = GetParam().type >= VTK_BEZIER_CURVE ? 1e-6 : 1e-11;
  EXPECT_NEAR(total(grid, Association::cell) / (box_measure(dimension) * factor), 1, tolerance);
}

// The cells around a point without a place weigh nothing, all others what they did.
TEST_P(FilledBox, WeighsNothingAroundNaN) {
  const auto grid = filled_box(GetParam());
  const Mesh whole(grid, "mesh");
  const WeightChoice measure{WeightKind::measure, ""};
  const Eigen::VectorXd expected = quadrature_weights(whole, Association::cell, measure);
  vtkNew<vtkIdList> corners;
  grid->GetCellPoints(0, corners);
  for (const double value : {std::nan(""), HUGE_VAL, -HUGE_VAL})
    for (vtkIdType i = 0; i < corners->GetNumberOfIds(); ++i) {
      const vtkIdType bad = corners->GetId(i);
      const auto copy = vtkSmartPointer<vtkUnstructuredGrid>::New();
      copy->DeepCopy(grid);
      double place[3];
      copy->GetPoint(bad, place);
      place[i % 3] = value;
      copy->GetPoints()->SetPoint(bad, place);
      const Mesh mesh(copy, "mesh");
      const Eigen::VectorXd found =
          quadrature_weights(mesh, Association::cell, measure, NonFinitePlaces::weigh_nothing);
      double left = 0;
      vtkNew<vtkIdList> ids;
      for (vtkIdType cell = 0; cell < found.size(); ++cell) {
        copy->GetCellPoints(cell, ids);
        const double weight = ids->IsId(bad) >= 0 ? 0 : expected[cell];
        EXPECT_EQ(found[cell], weight) << "cell " << cell << " around point " << bad;
        left += weight;
      }
      const Eigen::VectorXd shares =
          quadrature_weights(mesh, Association::point, measure, NonFinitePlaces::weigh_nothing);
      EXPECT_EQ(shares[bad], 0);
      EXPECT_NEAR(shares.sum(), left, 1e-12);
      expect_says(
          message_of<DataError>([&] { quadrature_weights(mesh, Association::cell, measure); }),
          "mesh: the coordinates of the points hold NaN or Inf at 1 of " +
              std::to_string(copy->GetNumberOfPoints()) + " entries, the first at index " +
              std::to_string(bad) + "; ");
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, FilledBox,
    ::testing::Values(TypedMesh{VTK_LINE, 1}, TypedMesh{VTK_QUADRATIC_EDGE, 2},
                      TypedMesh{VTK_CUBIC_LINE, 3}, TypedMesh{VTK_TRIANGLE, 1},
                      TypedMesh{VTK_QUADRATIC_TRIANGLE, 2}, TypedMesh{VTK_QUAD, 1},
                      TypedMesh{VTK_QUADRATIC_QUAD, 2}, TypedMesh{VTK_TETRA, 1},
                      TypedMesh{VTK_QUADRATIC_TETRA, 2}, TypedMesh{VTK_HEXAHEDRON, 1},
                      TypedMesh{VTK_QUADRATIC_HEXAHEDRON, 2}, TypedMesh{VTK_WEDGE, 1},
                      TypedMesh{VTK_QUADRATIC_WEDGE, 2}, TypedMesh{VTK_PYRAMID, 1},
                      TypedMesh{VTK_QUADRATIC_PYRAMID, 2}, TypedMesh{VTK_PENTAGONAL_PRISM, 1},
                      TypedMesh{VTK_HEXAGONAL_PRISM, 1}, TypedMesh{VTK_LAGRANGE_CURVE, 4},
                      TypedMesh{VTK_LAGRANGE_TRIANGLE, 3}, TypedMesh{VTK_LAGRANGE_QUADRILATERAL, 3},
                      TypedMesh{VTK_LAGRANGE_TETRAHEDRON, 3}, TypedMesh{VTK_LAGRANGE_HEXAHEDRON, 3},
                      TypedMesh{VTK_LAGRANGE_WEDGE, 3}, TypedMesh{VTK_BEZIER_CURVE, 3},
                      TypedMesh{VTK_BEZIER_TRIANGLE, 3}, TypedMesh{VTK_BEZIER_QUADRILATERAL, 3},
                      TypedMesh{VTK_BEZIER_TETRAHEDRON, 3}, TypedMesh{VTK_BEZIER_HEXAHEDRON, 3},
                      TypedMesh{VTK_BEZIER_WEDGE, 3}));

class CurvedBox : public ::testing::TestWithParam<TypedMesh> {};

// A quadratic shear in z keeps volume, and quadratic cells follow it exactly.
TEST_P(CurvedBox, KeepsItsVolumeUnderAShear) {
  const auto grid = filled_box(GetParam());
  move_points(grid, [](const Eigen::Vector3d& p) {
    return Eigen::Vector3d(p[0], p[1], p[2] + 0.2 * p[0] * p[0] - 0.1 * p[0] * p[1]);
  });
  EXPECT_NEAR(total(grid, Association::cell) / 12, 1, 1e-12);
}

INSTANTIATE_TEST_SUITE_P(All, CurvedBox,
                         ::testing::Values(TypedMesh{VTK_QUADRATIC_TETRA, 2},
                                           TypedMesh{VTK_QUADRATIC_HEXAHEDRON, 2},
                                           TypedMesh{VTK_QUADRATIC_WEDGE, 2}));

// f = z^2 over the unit sphere: 4 pi / 3.
TEST(SphereQuadrature, ConvergesAtSecondOrder) {
  std::vector<double> area_errors;
  std::vector<double> integral_errors;
  for (const int resolution : {16, 32, 64, 128}) {
    vtkNew<vtkSphereSource> source;
    source->SetRadius(1);
    source->SetThetaResolution(2 * resolution);
    source->SetPhiResolution(resolution + 1);
    source->SetOutputPointsPrecision(vtkAlgorithm::DOUBLE_PRECISION);
    source->Update();
    const Mesh mesh(source->GetOutput(), "sphere");
    const Eigen::VectorXd weights =
        quadrature_weights(mesh, Association::point, {WeightKind::measure, ""});
    const RowMatrix points = mesh.coordinates(Association::point);
    area_errors.push_back(std::abs(weights.sum() - 4 * M_PI));
    integral_errors.push_back(std::abs(weights.dot(points.col(2).cwiseAbs2()) - 4 * M_PI / 3));
  }
  for (const auto& errors : {area_errors, integral_errors})
    for (std::size_t i = 1; i < errors.size(); ++i)
      EXPECT_GT(std::log2(errors[i - 1] / errors[i]), 1.9) << ::testing::PrintToString(errors);
}

}  // namespace
}  // namespace funcattn
