#include "examples/darcy/triangulation.h"

#include <vtkCellArray.h>
#include <vtkDelaunay2D.h>
#include <vtkDoubleArray.h>
#include <vtkIdList.h>
#include <vtkNew.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.h"
#include "core/text.h"

namespace funcattn {

namespace {

using Eigen::Vector2d;

constexpr double finest_spacing = 1.0 / 8;
constexpr double grading_radius = 0.5;

/// Least distance of points as a function of the place.
class LocalSpacing {
 public:
  /// So that about `points` points fit.
  LocalSpacing(const DarcyDomain& domain, Spacing kind, int points)
      : focus_(domain.focus()), graded_(kind == Spacing::graded) {
    constexpr int cells = 200;
    double squares = 0;  // Of spacings of coarsest 1, in the domain
    for (int i = 0; i < cells; ++i)
      for (int j = 0; j < cells; ++j) {
        const Vector2d place((i + 0.5) / cells, (j + 0.5) / cells);
        if (domain.contains(place)) squares += 1 / std::pow(relative(place) * cells, 2);
      }
    double lengths = 0;  // and along its boundary.
    const std::vector<Vector2d> corners = domain.corners();
    for (std::size_t c = 0; c < corners.size(); ++c) {
      const Vector2d edge = corners[(c + 1) % corners.size()] - corners[c];
      for (int i = 0; i < cells; ++i)
        lengths += edge.norm() / cells / relative(corners[c] + edge * ((i + 0.5) / cells));
    }
    // Counted on meshes of 800 and 12,800 points: 0.615 a square, 0.56 more a length of boundary.
    const double a = 0.615 * squares, b = 0.56 * lengths;
    coarsest_ = 2 * a / (std::sqrt(b * b + 4 * a * points) - b);
  }

  double operator()(const Vector2d& place) const { return coarsest_ * relative(place); }
  double least() const { return graded_ ? coarsest_ * finest_spacing : coarsest_; }

 private:
  double relative(const Vector2d& place) const {
    if (!graded_) return 1;
    const double distance = std::min(1.0, (place - focus_).norm() / grading_radius);
    return finest_spacing + (1 - finest_spacing) * distance;
  }

  Vector2d focus_;
  bool graded_;
  double coarsest_ = 1;
};

/// Corners and, between them, points no further apart than the spacing.
std::vector<Vector2d> boundary_points(const DarcyDomain& domain, const LocalSpacing& spacing) {
  std::vector<Vector2d> points;
  const std::vector<Vector2d> corners = domain.corners();
  for (std::size_t c = 0; c < corners.size(); ++c) {
    const Vector2d start = corners[c];
    const Vector2d edge = corners[(c + 1) % corners.size()] - start;
    // Spacings along the edge, added up.
    constexpr int parts = 1000;
    std::vector<double> sum(parts + 1, 0.0);
    for (int i = 0; i < parts; ++i)
      sum[static_cast<std::size_t>(i) + 1] =
          sum[static_cast<std::size_t>(i)] +
          edge.norm() / parts / spacing(start + edge * ((i + 0.5) / parts));
    const int segments = std::max(1, static_cast<int>(std::ceil(sum.back())));
    for (int s = 0; s < segments; ++s) {
      const double wanted = sum.back() * s / segments;
      const auto upper = std::upper_bound(sum.begin(), sum.end(), wanted);
      const double index = static_cast<double>(upper - sum.begin()) - 1;
      const double within = (wanted - *(upper - 1)) / (*upper - *(upper - 1));
      points.push_back(start + edge * ((index + within) / parts));
    }
  }
  return points;
}

/// Cells so small that two points of the process never share one.
class OccupancyGrid {
 public:
  explicit OccupancyGrid(double least_distance)
      : cells_(static_cast<int>(std::ceil(std::sqrt(2.0) / least_distance))),
        taken_(static_cast<std::size_t>(cells_) * static_cast<std::size_t>(cells_)) {}

  void add(const Vector2d& point) {
    taken_[cell(index(point.x()), index(point.y()))].push_back(point);
  }

  bool is_free(const Vector2d& point, double distance) const {
    const int reach = static_cast<int>(std::ceil(distance * cells_));
    const int column = index(point.x()), row = index(point.y());
    for (int i = std::max(0, column - reach); i <= std::min(cells_ - 1, column + reach); ++i)
      for (int j = std::max(0, row - reach); j <= std::min(cells_ - 1, row + reach); ++j)
        for (const Vector2d& other : taken_[cell(i, j)])
          if ((other - point).squaredNorm() < distance * distance) return false;
    return true;
  }

 private:
  int index(double coordinate) const {
    return std::min(cells_ - 1, static_cast<int>(coordinate * cells_));
  }
  std::size_t cell(int column, int row) const {
    return static_cast<std::size_t>(column) * static_cast<std::size_t>(cells_) +
           static_cast<std::size_t>(row);
  }

  int cells_;
  std::vector<std::vector<Vector2d>> taken_;
};

/// Bridson's process (2007): around points that are there already, until there is no room.
void fill(const DarcyDomain& domain, const LocalSpacing& spacing, RandomGenerator& random,
          std::vector<Vector2d>& points) {
  constexpr int trials = 20;
  OccupancyGrid grid(spacing.least());
  for (const Vector2d& point : points) grid.add(point);
  std::vector<std::size_t> active(points.size());
  for (std::size_t i = 0; i < active.size(); ++i) active[i] = i;
  while (!active.empty()) {
    const std::size_t chosen = random.below(active.size());
    const Vector2d centre = points[active[chosen]];
    const double around = spacing(centre);
    bool placed = false;
    for (int trial = 0; trial < trials && !placed; ++trial) {
      const double angle = random.uniform(0, 6.28318530717958647692);
      const double distance = around * random.uniform(1, 2);
      const Vector2d place = centre + distance * Vector2d(std::cos(angle), std::sin(angle));
      if (!domain.contains(place) || !grid.is_free(place, spacing(place))) continue;
      active.push_back(points.size());
      points.push_back(place);
      grid.add(place);
      placed = true;
    }
    if (placed) continue;
    active[chosen] = active.back();
    active.pop_back();
  }
}

/// The triangles of the Delaunay mesh whose centres lie in the domain.
std::vector<Eigen::Vector3i> delaunay(const DarcyDomain& domain,
                                      const std::vector<Vector2d>& points) {
  vtkNew<vtkDoubleArray> coordinates;
  coordinates->SetNumberOfComponents(3);
  const auto add = [&](const Vector2d& point) {
    coordinates->InsertNextTuple3(point.x(), point.y(), 0);
  };
  for (const Vector2d& point : points) add(point);
  // The square's sides are then inside the triangulated region: VTK loses some of the triangles at
  // the hull, where points lie on one line.
  for (const double x : {-1.0, 2.0})
    for (const double y : {-1.0, 2.0}) add({x, y});
  vtkNew<vtkPoints> places;
  places->SetData(coordinates);
  vtkNew<vtkPolyData> input;
  input->SetPoints(places);
  vtkNew<vtkDelaunay2D> filter;
  filter->SetInputData(input);
  filter->SetTolerance(0);
  filter->Update();
  std::vector<Eigen::Vector3i> triangles;
  const auto count = static_cast<vtkIdType>(points.size());
  vtkCellArray* cells = filter->GetOutput()->GetPolys();
  vtkNew<vtkIdList> ids;
  for (vtkIdType c = 0; c < cells->GetNumberOfCells(); ++c) {
    cells->GetCellAtId(c, ids);
    if (ids->GetNumberOfIds() != 3) continue;
    Eigen::Vector3i corner;
    bool own = true;
    for (int i = 0; i < 3; ++i) {
      own = own && ids->GetId(i) < count;
      corner[i] = static_cast<int>(ids->GetId(i));
    }
    if (!own) continue;
    const auto at = [&](int i) { return points[static_cast<std::size_t>(corner[i])]; };
    if (!domain.contains((at(0) + at(1) + at(2)) / 3)) continue;
    const Vector2d a = at(1) - at(0), b = at(2) - at(0);
    if (a.x() * b.y() < a.y() * b.x()) std::swap(corner[1], corner[2]);
    triangles.push_back(corner);
  }
  return triangles;
}

double covered_area(const TriangleMesh& mesh) {
  double area = 0;
  for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
    const Vector2d a =
        mesh.points.row(mesh.triangles(t, 1)) - mesh.points.row(mesh.triangles(t, 0));
    const Vector2d b =
        mesh.points.row(mesh.triangles(t, 2)) - mesh.points.row(mesh.triangles(t, 0));
    area += 0.5 * (a.x() * b.y() - a.y() * b.x());
  }
  return area;
}

}  // namespace

TriangleMesh triangulate(const DarcyDomain& domain, Spacing spacing, int points,
                         RandomGenerator& random) {
  if (points < 20)
    throw UsageError("a mesh of the square needs at least 20 points; " + std::to_string(points) +
                     " were asked for");
  const LocalSpacing local(domain, spacing, points);
  std::vector<Vector2d> places = boundary_points(domain, local);
  const std::size_t boundary = places.size();
  fill(domain, local, random, places);

  TriangleMesh mesh;
  const std::vector<Eigen::Vector3i> triangles = delaunay(domain, places);
  mesh.points.resize(static_cast<Eigen::Index>(places.size()), 2);
  for (std::size_t i = 0; i < places.size(); ++i)
    mesh.points.row(static_cast<Eigen::Index>(i)) = places[i].transpose();
  mesh.triangles.resize(static_cast<Eigen::Index>(triangles.size()), 3);
  for (std::size_t t = 0; t < triangles.size(); ++t)
    mesh.triangles.row(static_cast<Eigen::Index>(t)) = triangles[t].transpose();
  mesh.on_boundary.assign(places.size(), false);
  std::fill_n(mesh.on_boundary.begin(), boundary, true);

  const double covered = covered_area(mesh);
  if (std::abs(covered - domain.area()) > 1e-9)
    throw NumericError("the triangles cover an area of " + format_number(covered) + " instead of " +
                       format_number(domain.area()) + "; give another number of points or seed");
  return mesh;
}

TriangleMesh move_notch(TriangleMesh mesh, const DarcyDomain& from, const DarcyDomain& to) {
  const double half = 0.5 * from.notch_width;
  const double left = from.notch_place - half, right = from.notch_place + half;
  for (Eigen::Index i = 0; i < mesh.points.rows(); ++i) {
    double& x = mesh.points(i, 0);
    if (x < left)
      x *= (to.notch_place - half) / left;
    else if (x > right)
      x = 1 - (1 - x) * (1 - to.notch_place - half) / (1 - right);
    else
      x += to.notch_place - from.notch_place;
  }
  return mesh;
}

}  // namespace funcattn
