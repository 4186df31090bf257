#include "examples/parts/figure.h"

#include <vtkDoubleArray.h>
#include <vtkFlyingEdges3D.h>
#include <vtkImageData.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace funcattn {

namespace {

using Eigen::Vector3d;

constexpr double rounding = 0.04;  // Of the body's edges
constexpr double ring_thickness = 0.045;

double capsule_distance(const Vector3d& place, const Vector3d& from, const Vector3d& to,
                        double radius) {
  const Vector3d axis = to - from;
  const double along = std::clamp((place - from).dot(axis) / axis.squaredNorm(), 0.0, 1.0);
  return (place - from - along * axis).norm() - radius;
}

}  // namespace

Figure::Figure(RandomGenerator& random) {
  const double angle = random.uniform(-0.5, 0.5);
  cosine_ = std::cos(angle);
  sine_ = std::sin(angle);
  body_ = {random.uniform(0.28, 0.42), random.uniform(0.16, 0.24), random.uniform(0.12, 0.2)};
  head_radius_ = random.uniform(0.13, 0.2);
  head_ = {body_.x() + 0.7 * head_radius_, random.uniform(-0.05, 0.05),
           body_.z() + random.uniform(-0.1, 0.1)};
  for (const double end : {-1.0, 1.0})
    for (const double side : {-1.0, 1.0}) {
      const Vector3d from(0.75 * end * body_.x(), 0.7 * side * body_.y(), 0);
      const Vector3d to = from + Vector3d(random.uniform(-0.12, 0.12), 0.08 * side,
                                          -body_.z() - random.uniform(0.25, 0.45));
      limbs_.push_back({from, to, random.uniform(0.055, 0.08)});
    }
  ring_radius_ = random.uniform(0.12, 0.17);
  ring_ = {random.uniform(-0.4, 0.2) * body_.x(), random.uniform(-0.05, 0.05),
           body_.z() + 0.7 * ring_radius_};
}

std::pair<FigurePart, double> Figure::nearest(const Vector3d& place) const {
  const Vector3d p(cosine_ * place.x() + sine_ * place.y(), cosine_ * place.y() - sine_ * place.x(),
                   place.z());
  const Vector3d beyond = p.cwiseAbs() - (body_ - Vector3d::Constant(rounding));
  std::pair<FigurePart, double> result(
      FigurePart::body, beyond.cwiseMax(0).norm() + std::min(beyond.maxCoeff(), 0.0) - rounding);
  const auto consider = [&](FigurePart part, double distance) {
    if (distance < result.second) result = {part, distance};
  };
  consider(FigurePart::head, (p - head_).norm() - head_radius_);
  for (const Capsule& limb : limbs_)
    consider(FigurePart::limb, capsule_distance(p, limb.from, limb.to, limb.radius));
  const Vector3d from_ring = p - ring_;
  consider(FigurePart::ring,
           std::hypot(std::hypot(from_ring.x(), from_ring.z()) - ring_radius_, from_ring.y()) -
               ring_thickness);
  return result;
}

Vector3d Figure::normal(const Vector3d& place) const {
  constexpr double step = 1e-5;
  Vector3d slope;
  for (int axis = 0; axis < 3; ++axis) {
    const Vector3d shift = step * Vector3d::Unit(axis);
    slope[axis] = distance(place + shift) - distance(place - shift);
  }
  return slope.norm() > 0 ? Vector3d(slope.normalized()) : Vector3d(Vector3d::UnitZ());
}

Mesh Figure::contour(int cells) const {
  vtkNew<vtkImageData> image;
  image->SetDimensions(cells + 1, cells + 1, cells + 1);
  image->SetOrigin(-1, -1, -1);
  image->SetSpacing(2.0 / cells, 2.0 / cells, 2.0 / cells);
  vtkNew<vtkDoubleArray> distances;
  distances->SetNumberOfTuples(image->GetNumberOfPoints());
  for (vtkIdType i = 0; i < image->GetNumberOfPoints(); ++i)
    distances->SetValue(i, distance(Eigen::Map<const Vector3d>(image->GetPoint(i))));
  image->GetPointData()->SetScalars(distances);
  vtkNew<vtkFlyingEdges3D> filter;
  filter->SetInputData(image);
  filter->SetValue(0, 0);
  filter->ComputeNormalsOff();
  filter->ComputeScalarsOff();
  filter->Update();
  vtkNew<vtkPolyData> surface;
  surface->SetPoints(filter->GetOutput()->GetPoints());
  surface->SetPolys(filter->GetOutput()->GetPolys());
  return Mesh(surface.GetPointer(), "figure");
}

Mesh Figure::surface(int points) const {
  if (points < 200)
    throw UsageError("a surface with parts needs at least 200 points; " + std::to_string(points) +
                     " were asked for");
  // Points grow with the square of the cells along an edge.
  constexpr int trial = 40;
  const auto count = static_cast<double>(contour(trial).count(Association::point));
  return contour(static_cast<int>(std::lround(trial * std::sqrt(points / count))));
}

}  // namespace funcattn
