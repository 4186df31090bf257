#include "examples/evaluate/sample_view.h"

#include <gtest/gtest.h>
#include <vtkCellArray.h>
#include <vtkImageData.h>
#include <vtkNew.h>
#include <vtkPolyData.h>
#include <vtkUnstructuredGrid.h>

#include <cmath>
#include <limits>
#include <set>

namespace funcattn {
namespace {

using Kind = ViewShape::Kind;

Mesh image(int nx, int ny, int nz) {
  vtkNew<vtkImageData> data;
  data->SetDimensions(nx, ny, nz);
  data->SetSpacing(0.5, 1, 1);
  return {data.GetPointer(), "image.vti"};
}

/// Of radius 1/2: n meridians, n parallels, quadrilaterals between.
Mesh sphere(int n) {
  vtkNew<vtkPoints> points;
  for (int j = 0; j <= n; ++j)
    for (int i = 0; i < n; ++i) {
      const double across = 2 * M_PI * i / n, down = M_PI * j / n;
      points->InsertNextPoint(0.5 * std::sin(down) * std::cos(across),
                              0.5 * std::sin(down) * std::sin(across), 0.5 * std::cos(down));
    }
  vtkNew<vtkCellArray> faces;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i)
      faces->InsertNextCell({vtkIdType{j} * n + i, vtkIdType{j + 1} * n + i,
                             vtkIdType{j + 1} * n + (i + 1) % n, vtkIdType{j} * n + (i + 1) % n});
  vtkNew<vtkPolyData> data;
  data->SetPoints(points);
  data->SetPolys(faces);
  return {data.GetPointer(), "sphere.vtp"};
}

double area(const ViewShape::Part& part) {
  double twice = 0;
  for (std::size_t i = 0; i < part.corners.size(); ++i) {
    const auto& [x, y] = part.corners[i];
    const auto& [next_x, next_y] = part.corners[(i + 1) % part.corners.size()];
    twice += x * next_y - next_x * y;
  }
  return 0.5 * std::abs(twice);
}

double area(const ViewShape& shape) {
  double sum = 0;
  for (const ViewShape::Part& part : shape.parts) sum += area(part);
  return sum;
}

std::set<std::size_t> entries(const ViewShape& shape) {
  std::set<std::size_t> all;
  for (const ViewShape::Part& part : shape.parts)
    all.insert(part.entries.begin(), part.entries.end());
  return all;
}

TEST(ViewShape, ACurveHasTheCoordinateThatItGoesAlong) {
  RowMatrix places = RowMatrix::Constant(4, 3, 7);
  places.col(1) = Eigen::Vector4d(0, 1, 3, 2);
  const ViewShape shape = view_shape(make_polyline(places, "line.vtp"), Association::point);
  EXPECT_EQ(shape.kind, Kind::curve);
  EXPECT_EQ(shape.x, (std::vector<double>{0, 1, 3, 2}));
  EXPECT_TRUE(shape.parts.empty());
}

// Squares of an image, in any plane; each cell, or each point, has its place.
TEST(ViewShape, APlaneIsShownAsItLies) {
  for (const Association association : {Association::point, Association::cell}) {
    const ViewShape shape = view_shape(image(5, 1, 4), association);
    EXPECT_EQ(shape.kind, Kind::plane);
    EXPECT_EQ(shape.horizontal, "x");
    EXPECT_EQ(shape.vertical, "z");
    EXPECT_NEAR(area(shape), 2 * 3, 1e-12);
    EXPECT_EQ(entries(shape).size(), association == Association::point ? 20u : 12u);
    for (const ViewShape::Part& part : shape.parts) EXPECT_EQ(part.light, 1);
  }
}

TEST(ViewShape, PlaneCellsOfEveryKindAreFilled) {
  vtkNew<vtkPoints> points;
  for (const auto& [x, y] : {std::pair{0., 0.},
                             {2., 0.},
                             {2., 2.},
                             {0., 2.},
                             {1., 0.},
                             {2., 1.},
                             {1., 2.},
                             {0., 1.},
                             {3., 0.},
                             {3., 2.}})
    points->InsertNextPoint(x, y, 0);
  vtkNew<vtkUnstructuredGrid> grid;
  grid->SetPoints(points);
  const vtkIdType curved[] = {0, 1, 2, 3, 4, 5, 6, 7};
  grid->InsertNextCell(VTK_QUADRATIC_QUAD, 8, curved);
  const vtkIdType strip[] = {1, 2, 8, 9};
  grid->InsertNextCell(VTK_TRIANGLE_STRIP, 4, strip);
  const ViewShape shape = view_shape({grid.GetPointer(), "grid.vtu"}, Association::cell);
  EXPECT_NEAR(area(shape), 4 + 2, 1e-12);
  EXPECT_EQ(entries(shape), (std::set<std::size_t>{0, 1}));
}

// Of solids the outside: the corner in the middle is not seen. The near side covers the far one.
TEST(ViewShape, OfSolidsTheOuterSurfaceIsShown) {
  const ViewShape shape = view_shape(image(3, 3, 3), Association::point);
  EXPECT_EQ(shape.kind, Kind::body);
  EXPECT_EQ(shape.parts.size(), 6 * 4 * 2u);
  EXPECT_EQ(entries(shape).count(13), 0u);
  EXPECT_EQ(entries(shape).size(), 26u);
  for (const ViewShape::Part& part : shape.parts) {
    EXPECT_GE(part.light, 0.6);
    EXPECT_LE(part.light, 1);
  }
  const ViewShape of_cells = view_shape(image(3, 3, 3), Association::cell);
  EXPECT_EQ(entries(of_cells).size(), 8u);
}

// The front of a sphere is drawn last, and faces the eye: its values are those of one half.
TEST(ViewShape, TheFarthestIsDrawnFirst) {
  const Mesh mesh = sphere(24);
  const RowMatrix places = mesh.coordinates(Association::point);
  const ViewShape shape = view_shape(mesh, Association::point);
  const std::size_t half = shape.parts.size() / 2;
  Eigen::RowVector3d back = Eigen::RowVector3d::Zero(), front = back;
  for (std::size_t i = 0; i < shape.parts.size(); ++i)
    for (const std::size_t entry : shape.parts[i].entries)
      (i < half ? back : front) += places.row(static_cast<Eigen::Index>(entry));
  EXPECT_LT((back + front).norm(), 0.05 * front.norm());
  EXPECT_NEAR(area(shape), 2 * M_PI * 0.25, 0.03) << "each half is a disc of radius 1/2";
}

TEST(ViewShape, AFineSurfaceIsSimplified) {
  const Mesh mesh = sphere(220);
  ASSERT_EQ(mesh.count(Association::cell), 220 * 220);
  const RowMatrix places = mesh.coordinates(Association::point);
  const ViewShape shape = view_shape(mesh, Association::point);
  EXPECT_LE(shape.parts.size(), most_body_triangles);
  EXPECT_GT(shape.parts.size(), most_body_triangles / 4);
  EXPECT_NEAR(area(shape), 2 * M_PI * 0.25, 0.02);
  // Values are those of places near by, on the same side.
  for (const ViewShape::Part& part : shape.parts) {
    const auto place = [&](std::size_t i) {
      return places.row(static_cast<Eigen::Index>(part.entries[i]));
    };
    EXPECT_LT((place(0) - place(1)).norm(), 0.1);
  }
}

TEST(ViewShape, PointsWithoutCellsAreShownAsPoints) {
  RowMatrix places(3, 3);
  places << 0, 0, 0, 1, 0, 0.5, std::numeric_limits<double>::quiet_NaN(), 1, 2;
  const ViewShape shape = view_shape(make_point_cloud(places, "cloud.vtp"), Association::point);
  ASSERT_EQ(shape.parts.size(), 2u) << "one has no place";
  EXPECT_EQ(shape.parts[0].corners.size(), 1u);
}

// The same body from the same side, however finely it is meshed and in whatever order.
TEST(ViewShape, ResolutionsAreSeenFromTheSameSide) {
  const auto seen = [](int n) {
    const ViewShape shape = view_shape(image(4 * n + 1, n + 1, 2 * n + 1), Association::point);
    double left = 0, right = 0, low = 0, high = 0;
    for (const ViewShape::Part& part : shape.parts)
      for (const auto& [x, y] : part.corners) {
        left = std::min(left, x / n);
        right = std::max(right, x / n);
        low = std::min(low, y / n);
        high = std::max(high, y / n);
      }
    return std::vector<double>{left, right, low, high};
  };
  const auto coarse = seen(2), fine = seen(8);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(coarse[i], fine[i], 0.1);
}

TEST(ViewValues, OfOneComponentAreItself) {
  const ViewValues values =
      view_values("u", RowMatrix(Eigen::Vector2d(1, -2)), RowMatrix(Eigen::Vector2d(3, -2.5)));
  EXPECT_EQ(values.name, "u");
  EXPECT_EQ(values.truth, (std::vector<double>{1, -2}));
  EXPECT_EQ(values.predicted, (std::vector<double>{3, -2.5}));
  EXPECT_EQ(values.error, (std::vector<double>{2, 0.5}));
}

TEST(ViewValues, OfVectorsAreLengthsAndThatOfTheDifference) {
  RowMatrix truth(1, 2), predicted(1, 2);
  truth << 3, 4;
  predicted << -3, 4;
  const ViewValues values = view_values("force", truth, predicted);
  EXPECT_EQ(values.name, "|force|");
  EXPECT_FALSE(values.are_classes);
  EXPECT_EQ(values.truth, std::vector<double>{5});
  EXPECT_EQ(values.predicted, std::vector<double>{5});
  EXPECT_EQ(values.error, std::vector<double>{6});
}

TEST(ViewValues, OfClassesAreTheirNumbers) {
  RowMatrix truth(3, 3), predicted(3, 3);
  truth << 0, 1, 0, 0, 0, 1, NAN, NAN, NAN;
  predicted << 0.1, 0.5, 0.4, 0.9, 0, 0.2, 0, 1, 0;
  const ViewValues values = view_values("part", truth, predicted);
  EXPECT_EQ(values.name, "class of part");
  EXPECT_TRUE(values.are_classes);
  EXPECT_EQ(values.truth[0], 1);
  EXPECT_EQ(values.truth[1], 2);
  EXPECT_TRUE(std::isnan(values.truth[2]));
  EXPECT_EQ(values.predicted, (std::vector<double>{1, 0, 1}));
  EXPECT_EQ(values.error[0], 0);
  EXPECT_EQ(values.error[1], 1);
}

TEST(ViewValues, OfNumberedClassesAreRightWrongOrUnknown) {
  ViewValues values = view_values("label", RowMatrix(Eigen::Vector3d(7, 0, 2)),
                                  RowMatrix(Eigen::Vector3d(3, 5, 2)));
  make_classes(values, Eigen::Array<bool, 3, 1>(true, false, true));
  EXPECT_TRUE(values.are_classes);
  EXPECT_EQ(values.truth[0], 7);
  EXPECT_EQ(values.error[0], 1);
  EXPECT_TRUE(std::isnan(values.truth[1]) && std::isnan(values.error[1]));
  EXPECT_EQ(values.predicted[1], 5);
  EXPECT_EQ(values.error[2], 0);
}

}  // namespace
}  // namespace funcattn
