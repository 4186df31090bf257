#include "examples/evaluate/sample_view.h"

#include <vtkCellData.h>
#include <vtkDataSetSurfaceFilter.h>
#include <vtkIdTypeArray.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkQuadricClustering.h>
#include <vtkStaticPointLocator.h>
#include <vtkTriangleFilter.h>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "meshio/cells.h"

namespace funcattn {

namespace {

constexpr std::size_t most_plane_triangles = 100000;
constexpr double no_extent = 1e-6;    ///< Of the longest one: rounding.
constexpr double flat_extent = 0.05;  ///< Of the second longest one: a body that is a sheet.

/// A triangle of the surface, or a point, in space.
struct SpacePart {
  std::vector<Eigen::Vector3d> corners;
  std::vector<std::size_t> entries;

  Eigen::Vector3d centre() const {
    Eigen::Vector3d sum = Eigen::Vector3d::Zero();
    for (const Eigen::Vector3d& corner : corners) sum += corner;
    return sum / static_cast<double>(corners.size());
  }
  /// As long as twice the area; zero for a point.
  Eigen::Vector3d normal() const {
    if (corners.size() < 3) return Eigen::Vector3d::Zero();
    return (corners[1] - corners[0]).cross(corners[2] - corners[0]);
  }
};

/// The outer surface in triangles that know the points and cells of the mesh that they come from.
vtkSmartPointer<vtkPolyData> outer_surface(const Mesh& mesh) {
  const auto bare = vtkSmartPointer<vtkDataSet>::Take(mesh.vtk()->NewInstance());
  bare->CopyStructure(mesh.vtk());
  vtkNew<vtkDataSetSurfaceFilter> surface;
  surface->SetInputData(bare);
  surface->SetNonlinearSubdivisionLevel(0);
  vtkNew<vtkIdTypeArray> points, cells;
  // The filter leaves the ids of a surface away, which it passes on.
  if (auto* given = vtkPolyData::SafeDownCast(bare)) {
    points->SetName("vtkOriginalPointIds");
    for (vtkIdType i = 0; i < given->GetNumberOfPoints(); ++i) points->InsertNextValue(i);
    cells->SetName("vtkOriginalCellIds");
    for (vtkIdType i = 0; i < given->GetNumberOfCells(); ++i) cells->InsertNextValue(i);
    given->GetPointData()->AddArray(points);
    given->GetCellData()->AddArray(cells);
  } else {
    surface->PassThroughCellIdsOn();
    surface->PassThroughPointIdsOn();
  }
  vtkNew<vtkTriangleFilter> triangles;
  triangles->SetInputConnection(surface->GetOutputPort());
  triangles->PassVertsOff();
  triangles->PassLinesOff();
  triangles->Update();
  return triangles->GetOutput();
}

Eigen::Vector3d place_of(vtkPolyData* data, vtkIdType point) {
  Eigen::Vector3d place;
  data->GetPoint(point, place.data());
  return place;
}

std::vector<SpacePart> triangles_of(vtkPolyData* surface, bool of_cells) {
  auto* points = vtkIdTypeArray::SafeDownCast(
      surface->GetPointData()->GetAbstractArray("vtkOriginalPointIds"));
  auto* cells =
      vtkIdTypeArray::SafeDownCast(surface->GetCellData()->GetAbstractArray("vtkOriginalCellIds"));
  std::vector<SpacePart> parts;
  if (!points || !cells) return parts;
  for_each_cell(surface, [&](const CellView& cell) {
    SpacePart part;
    for (vtkIdType i = 0; i < cell.size; ++i) {
      part.corners.push_back(place_of(surface, cell.points[i]));
      if (!of_cells)
        part.entries.push_back(static_cast<std::size_t>(points->GetValue(cell.points[i])));
    }
    if (of_cells) part.entries.push_back(static_cast<std::size_t>(cells->GetValue(cell.id)));
    parts.push_back(std::move(part));
  });
  return parts;
}

/// Fewer triangles in place of those of a fine surface. Each corner has the value of the entry that
/// is nearest to it.
std::vector<SpacePart> simplified(vtkPolyData* surface, const std::vector<SpacePart>& fine) {
  vtkNew<vtkPoints> places;
  std::vector<std::size_t> entries;
  for (const SpacePart& part : fine)
    for (std::size_t i = 0; i < part.entries.size(); ++i) {
      const bool of_points = part.entries.size() == part.corners.size();
      const Eigen::Vector3d place = of_points ? part.corners[i] : part.centre();
      places->InsertNextPoint(place.data());
      entries.push_back(part.entries[i]);
    }
  vtkNew<vtkPolyData> cloud;
  cloud->SetPoints(places);
  vtkNew<vtkStaticPointLocator> locator;
  locator->SetDataSet(cloud);
  locator->BuildLocator();

  vtkNew<vtkPolyData> bare;
  bare->SetPoints(surface->GetPoints());
  bare->SetPolys(surface->GetPolys());
  std::vector<SpacePart> parts;
  for (int divisions = 96; divisions > 8 && (parts.empty() || parts.size() > most_body_triangles);
       divisions = divisions * 4 / 5) {
    vtkNew<vtkQuadricClustering> clusters;
    clusters->SetInputData(bare);
    clusters->AutoAdjustNumberOfDivisionsOff();
    // Cubes, so that slender bodies keep their shape.
    double bounds[6];
    bare->GetBounds(bounds);
    const double edge =
        std::max({bounds[1] - bounds[0], bounds[3] - bounds[2], bounds[5] - bounds[4]}) / divisions;
    std::array<int, 3> counts{};
    for (std::size_t axis = 0; axis < 3; ++axis)
      counts[axis] = std::max(
          1, static_cast<int>(std::ceil((bounds[2 * axis + 1] - bounds[2 * axis]) / edge)));
    clusters->SetNumberOfDivisions(counts.data());
    clusters->Update();
    vtkPolyData* coarse = clusters->GetOutput();
    parts.clear();
    for_each_cell(coarse, [&](const CellView& cell) {
      if (cell.size != 3) return;
      SpacePart part;
      for (vtkIdType i = 0; i < 3; ++i) {
        part.corners.push_back(place_of(coarse, cell.points[i]));
        part.entries.push_back(entries[static_cast<std::size_t>(
            locator->FindClosestPoint(part.corners.back().data()))]);
      }
      parts.push_back(std::move(part));
    });
  }
  return parts;
}

std::vector<SpacePart> points_of(const RowMatrix& places) {
  std::vector<SpacePart> parts;
  for (Eigen::Index i = 0; i < places.rows(); ++i)
    if (places.row(i).allFinite())
      parts.push_back({{places.row(i).transpose()}, {static_cast<std::size_t>(i)}});
  return parts;
}

/// Of what is seen: to the right, upwards, towards the eye. Orthonormal rows.
using Camera = Eigen::Matrix3d;

/// Principal axes, the longest first, weighted by areas so that they are those of the surface
/// however it is meshed; where a body has none, those of the coordinates.
Eigen::Matrix3d principal_axes(const std::vector<SpacePart>& parts) {
  Eigen::Vector3d mean = Eigen::Vector3d::Zero();
  double mass = 0;
  const auto weight_of = [](const SpacePart& part) {
    return part.corners.size() < 3 ? 1.0 : part.normal().norm();
  };
  for (const SpacePart& part : parts) {
    mean += weight_of(part) * part.centre();
    mass += weight_of(part);
  }
  mean /= mass;
  Eigen::Matrix3d spread = Eigen::Matrix3d::Zero();
  for (const SpacePart& part : parts) {
    const Eigen::Vector3d from_mean = part.centre() - mean;
    spread += weight_of(part) * from_mean * from_mean.transpose();
  }
  const Eigen::Matrix3d order = Eigen::Vector3d(0.03, 0.02, 0.01).asDiagonal();
  const double trace = spread.trace();
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> solver(
      (trace > 0 ? Eigen::Matrix3d(spread / trace) : spread) + order);
  Eigen::Matrix3d axes = solver.eigenvectors().rowwise().reverse();
  for (int i = 0; i < 3; ++i) {
    Eigen::Index largest = 0;
    axes.col(i).cwiseAbs().maxCoeff(&largest);
    if (axes(largest, i) < 0) axes.col(i) *= -1;
  }
  return axes;
}

Camera camera_for(const std::vector<SpacePart>& parts) {
  const Eigen::Matrix3d axes = principal_axes(parts);
  Eigen::Vector3d low = Eigen::Vector3d::Constant(std::numeric_limits<double>::infinity());
  Eigen::Vector3d high = -low;
  for (const SpacePart& part : parts)
    for (const Eigen::Vector3d& corner : part.corners) {
      const Eigen::Vector3d along = axes.transpose() * corner;
      low = low.cwiseMin(along);
      high = high.cwiseMax(along);
    }
  const Eigen::Vector3d extent = high - low;
  const bool is_flat = extent[2] < flat_extent * extent[1];
  // The longest axis lies across, the shortest one points upwards.
  const Eigen::Vector3d towards =
      is_flat ? Eigen::Vector3d(axes.col(2))
              : (0.5 * axes.col(0) - 0.75 * axes.col(1) + 0.45 * axes.col(2)).normalized();
  const Eigen::Vector3d upwards = is_flat ? axes.col(1) : axes.col(2);
  Camera camera;
  camera.row(0) = upwards.cross(towards).normalized();
  camera.row(1) = towards.cross(Eigen::Vector3d(camera.row(0)));
  camera.row(2) = towards;
  return camera;
}

void show_body(const std::vector<SpacePart>& parts, ViewShape& shape) {
  const Camera camera = camera_for(parts);
  const Eigen::Vector3d lamp = Eigen::Vector3d(0.3, 0.5, 1).normalized();
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < parts.size(); ++i)
    order.emplace_back(camera.row(2).dot(parts[i].centre()), i);
  std::sort(order.begin(), order.end());
  for (const auto& [depth, i] : order) {
    ViewShape::Part shown;
    for (const Eigen::Vector3d& corner : parts[i].corners) {
      const Eigen::Vector3d seen = camera * corner;
      shown.corners.emplace_back(seen[0], seen[1]);
    }
    shown.entries = parts[i].entries;
    const Eigen::Vector3d normal = camera * parts[i].normal();
    // Both sides are lit: not all surfaces say which one is the outer one.
    if (normal.norm() > 0) shown.light = 0.6 + 0.4 * std::abs(normal.normalized().dot(lamp));
    shape.parts.push_back(std::move(shown));
  }
}

}  // namespace

ViewShape view_shape(const Mesh& mesh, Association association) {
  const RowMatrix places = mesh.coordinates(association);
  const RowMatrix corners = mesh.coordinates(Association::point);
  std::array<double, 3> extents{};
  for (int axis = 0; axis < 3; ++axis) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (Eigen::Index i = 0; i < corners.rows(); ++i)
      if (std::isfinite(corners(i, axis))) {
        low = std::min(low, corners(i, axis));
        high = std::max(high, corners(i, axis));
      }
    extents[static_cast<std::size_t>(axis)] = std::max(0.0, high - low);
  }
  const double longest = *std::max_element(extents.begin(), extents.end());
  std::vector<int> axes;
  for (int axis = 0; axis < 3; ++axis)
    if (extents[static_cast<std::size_t>(axis)] > no_extent * longest) axes.push_back(axis);

  ViewShape shape;
  if (axes.size() < 2) {
    const int axis = axes.empty() ? 0 : axes.front();
    for (Eigen::Index i = 0; i < places.rows(); ++i) shape.x.push_back(places(i, axis));
    return shape;
  }
  shape.kind = axes.size() == 2 ? ViewShape::Kind::plane : ViewShape::Kind::body;
  std::vector<SpacePart> parts;
  if (corners.allFinite()) {
    const vtkSmartPointer<vtkPolyData> surface = outer_surface(mesh);
    parts = triangles_of(surface, association == Association::cell);
    const bool is_body = shape.kind == ViewShape::Kind::body;
    if (is_body && parts.size() > most_body_triangles) parts = simplified(surface, parts);
    if (!is_body && parts.size() > most_plane_triangles) parts.clear();
  }
  if (parts.empty()) parts = points_of(places);
  if (shape.kind == ViewShape::Kind::body) {
    show_body(parts, shape);
    return shape;
  }
  shape.horizontal = "xyz"[axes[0]];
  shape.vertical = "xyz"[axes[1]];
  for (const SpacePart& part : parts) {
    ViewShape::Part shown;
    for (const Eigen::Vector3d& corner : part.corners)
      shown.corners.emplace_back(corner[axes[0]], corner[axes[1]]);
    shown.entries = part.entries;
    shape.parts.push_back(std::move(shown));
  }
  return shape;
}

ViewValues view_values(const std::string& name, const RowMatrix& truth,
                       const RowMatrix& predicted) {
  ViewValues values;
  values.name = name;
  const auto listed = [](const Eigen::VectorXd& column) {
    return std::vector<double>(column.data(), column.data() + column.size());
  };
  if (truth.cols() == 1) {
    values.truth = listed(truth.col(0));
    values.predicted = listed(predicted.col(0));
    values.error = listed((predicted - truth).cwiseAbs().col(0));
    return values;
  }
  const auto is_known = [&](Eigen::Index row) { return truth.row(row).allFinite(); };
  bool are_classes = true;
  for (Eigen::Index row = 0; row < truth.rows(); ++row)
    if (is_known(row))
      are_classes = are_classes && (truth.row(row).array() == 1).count() == 1 &&
                    (truth.row(row).array() == 0).count() == truth.cols() - 1;
  if (!are_classes) {
    values.name = "|" + name + "|";
    values.truth = listed(truth.rowwise().norm());
    values.predicted = listed(predicted.rowwise().norm());
    values.error = listed((predicted - truth).rowwise().norm());
    return values;
  }
  values.name = "class of " + name;
  values.are_classes = true;
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  for (Eigen::Index row = 0; row < truth.rows(); ++row) {
    Eigen::Index right = 0, found = 0;
    truth.row(row).maxCoeff(&right);
    predicted.row(row).maxCoeff(&found);
    values.truth.push_back(is_known(row) ? static_cast<double>(right) : unknown);
    values.predicted.push_back(static_cast<double>(found));
    values.error.push_back(is_known(row) ? static_cast<double>(right != found) : unknown);
  }
  return values;
}

void make_classes(ViewValues& values, const Eigen::Array<bool, Eigen::Dynamic, 1>& is_known) {
  values.are_classes = true;
  for (std::size_t i = 0; i < values.error.size(); ++i) {
    if (values.error[i] > 0) values.error[i] = 1;
    if (!is_known[static_cast<Eigen::Index>(i)])
      values.truth[i] = values.error[i] = std::numeric_limits<double>::quiet_NaN();
  }
}

}  // namespace funcattn
