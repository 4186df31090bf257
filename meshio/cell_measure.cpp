#include "meshio/cell_measure.h"

#include <vtkGenericCell.h>
#include <vtkIdList.h>
#include <vtkPoints.h>

#include <Eigen/Geometry>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "meshio/solid_volumes.h"

namespace funcattn {

namespace {

using Eigen::Vector3d;

double triple(const Vector3d& a, const Vector3d& b, const Vector3d& c) {
  return a.dot(b.cross(c));
}

/// The two Gauss points of [0,1]; each has weight 1/2. Exact for cubics.
const std::array<double, 2> kTwoGaussPoints = {0.5 - std::sqrt(3.0) / 6, 0.5 + std::sqrt(3.0) / 6};

/// Gauss rule with five points on [0,1]: exact to degree 9.
struct FivePointGauss {
  std::array<double, 5> position;
  std::array<double, 5> weight;
  FivePointGauss() {
    const double inner = std::sqrt(5 - 2 * std::sqrt(10.0 / 7)) / 3;
    const double outer = std::sqrt(5 + 2 * std::sqrt(10.0 / 7)) / 3;
    const double inner_weight = (322 + 13 * std::sqrt(70.0)) / 1800;
    const double outer_weight = (322 - 13 * std::sqrt(70.0)) / 1800;
    position = {0.5 - outer / 2, 0.5 - inner / 2, 0.5, 0.5 + inner / 2, 0.5 + outer / 2};
    weight = {outer_weight, inner_weight, 64.0 / 225, inner_weight, outer_weight};
  }
};

/// Parametric domain of VTK's quadratic cells.
enum class Domain { none, line, triangle, square, tetrahedron, cube, wedge };

Domain domain_of(int type) {
  switch (type) {
    case VTK_QUADRATIC_EDGE:
    case VTK_CUBIC_LINE:
      return Domain::line;
    case VTK_QUADRATIC_TRIANGLE:
    case VTK_BIQUADRATIC_TRIANGLE:
      return Domain::triangle;
    case VTK_QUADRATIC_QUAD:
    case VTK_BIQUADRATIC_QUAD:
    case VTK_QUADRATIC_LINEAR_QUAD:
      return Domain::square;
    case VTK_QUADRATIC_TETRA:
      return Domain::tetrahedron;
    case VTK_QUADRATIC_HEXAHEDRON:
    case VTK_TRIQUADRATIC_HEXAHEDRON:
    case VTK_BIQUADRATIC_QUADRATIC_HEXAHEDRON:
    case VTK_QUADRATIC_PYRAMID:
      return Domain::cube;
    case VTK_QUADRATIC_WEDGE:
    case VTK_QUADRATIC_LINEAR_WEDGE:
    case VTK_BIQUADRATIC_QUADRATIC_WEDGE:
      return Domain::wedge;
    default:
      return Domain::none;
  }
}

/// Maps a point of the unit cube into the domain (simplices by collapsing the cube) and returns the
/// determinant of that map.
double map_into(Domain domain, std::array<double, 3>& p) {
  if (domain == Domain::triangle || domain == Domain::wedge) {
    const double scale = 1 - p[0];
    p[1] *= scale;
    return scale;
  }
  if (domain == Domain::tetrahedron) {
    const double first = 1 - p[0];
    const double second = first * (1 - p[1]);
    p[1] *= first;
    p[2] *= second;
    return first * second;
  }
  return 1;
}

}  // namespace

double CellMeasure::operator()(const CellView& cell) const {
  if (cell.size == 0) return 0;
  switch (cell.type) {
    case VTK_VERTEX:
    case VTK_POLY_VERTEX:
      return 0;
    case VTK_LINE:
    case VTK_POLY_LINE:
      return polyline(cell);
    case VTK_TRIANGLE:
    case VTK_QUAD:
    case VTK_POLYGON:
    case VTK_PIXEL:
      return polygon(cell);
    case VTK_TRIANGLE_STRIP:
      return strip(cell);
    case VTK_TETRA:
    case VTK_VOXEL:
    case VTK_HEXAHEDRON:
      return solid(cell);
    case VTK_WEDGE:
      return wedge(cell, {0, 1, 2, 3, 4, 5});
    case VTK_PYRAMID:
      return pyramid(cell);
    case VTK_PENTAGONAL_PRISM:
    case VTK_HEXAGONAL_PRISM:
      return prism(cell);
    case VTK_POLYHEDRON:
      return polyhedron(cell);
    default:
      break;
  }
  if (domain_of(cell.type) != Domain::none) return isoparametric(cell);
  return cell_dimension(cell.type) > 0 ? decomposed(cell) : 0;
}

double CellMeasure::polyline(const CellView& cell) const {
  double length = 0;
  for (vtkIdType i = 1; i < cell.size; ++i)
    length += (point(cell.points[i]) - point(cell.points[i - 1])).norm();
  return length;
}

// Each triangle of the fan counts with its whole area (a bent quad is not flattened), negative
// where it turns against the polygon's mean normal, as happens at reflex corners.
double CellMeasure::polygon(const CellView& cell) const {
  const auto corner = [&](vtkIdType i) {
    // VTK's pixel lists the upper edge from left to right.
    if (cell.type == VTK_PIXEL && i >= 2) i = 5 - i;
    return relative(cell, i);
  };
  Vector3d normal = Vector3d::Zero();
  for (vtkIdType i = 1; i + 1 < cell.size; ++i) normal += corner(i).cross(corner(i + 1));
  double area = 0;
  for (vtkIdType i = 1; i + 1 < cell.size; ++i) {
    const Vector3d part = corner(i).cross(corner(i + 1));
    area += part.dot(normal) < 0 ? -part.norm() : part.norm();
  }
  return std::abs(area) / 2;
}

double CellMeasure::strip(const CellView& cell) const {
  double area = 0;
  for (vtkIdType i = 2; i < cell.size; ++i) {
    const Vector3d base = relative(cell, i - 2);
    area += (relative(cell, i - 1) - base).cross(relative(cell, i) - base).norm() / 2;
  }
  return area;
}

double CellMeasure::solid(const CellView& cell) const {
  std::array<std::array<double, 8>, 3> at;
  for (vtkIdType corner = 0; corner < cell.size; ++corner) {
    // VTK's voxel lists the far edges of its two faces from left to right.
    const bool swapped = cell.type == VTK_VOXEL && (corner & 2) != 0;
    const Vector3d p = relative(cell, swapped ? corner ^ 1 : corner);
    for (std::size_t axis = 0; axis < 3; ++axis)
      at[axis][static_cast<std::size_t>(corner)] = p[static_cast<Eigen::Index>(axis)];
  }
  const CornerAxis<1> x{at[0].data()}, y{at[1].data()}, z{at[2].data()};
  return cell.size == 4 ? tetrahedron_volume(x, y, z) : hexahedron_volume(x, y, z);
}

double CellMeasure::wedge(const CellView& cell, const std::array<vtkIdType, 6>& corners) const {
  std::array<Vector3d, 6> p;
  for (std::size_t i = 0; i < 6; ++i) p[i] = relative(cell, corners[i]);
  double volume = 0;
  for (const double t : kTwoGaussPoints) {
    const Vector3d by_r = (1 - t) * (p[1] - p[0]) + t * (p[4] - p[3]);
    const Vector3d by_s = (1 - t) * (p[2] - p[0]) + t * (p[5] - p[3]);
    const Vector3d by_t = (p[3] + p[4] + p[5] - p[0] - p[1] - p[2]) / 3;
    volume += triple(by_r, by_s, by_t) / 4;
  }
  return std::abs(volume);
}

// x = (1-t) base(r,s) + t apex: the determinant is (1-t)^2 times its value at t = 0.
double CellMeasure::pyramid(const CellView& cell) const {
  std::array<Vector3d, 5> p;
  for (std::size_t i = 0; i < 5; ++i) p[i] = relative(cell, static_cast<vtkIdType>(i));
  double volume = 0;
  for (const double r : kTwoGaussPoints)
    for (const double s : kTwoGaussPoints) {
      const Vector3d by_r = (1 - s) * (p[1] - p[0]) + s * (p[2] - p[3]);
      const Vector3d by_s = (1 - r) * (p[3] - p[0]) + r * (p[2] - p[1]);
      const Vector3d base = (1 - s) * ((1 - r) * p[0] + r * p[1]) + s * ((1 - r) * p[3] + r * p[2]);
      volume += triple(by_r, by_s, p[4] - base) / 12;
    }
  return std::abs(volume);
}

double CellMeasure::prism(const CellView& cell) const {
  const vtkIdType sides = cell.size / 2;
  double volume = 0;
  for (vtkIdType i = 1; i + 1 < sides; ++i)
    volume += wedge(cell, {0, i, i + 1, sides, sides + i, sides + i + 1});
  return volume;
}

// Divergence theorem. With consistently turned faces the signed sum is exact for any shape;
// otherwise each face counts with its own sign against the centre, exact for convex cells.
double CellMeasure::polyhedron(const CellView& cell) const {
  auto* grid = vtkUnstructuredGrid::SafeDownCast(data_);
  if (!grid || !grid->GetFaces() || !grid->GetFaceLocations()) return decomposed(cell);
  Vector3d centre = Vector3d::Zero();
  for (vtkIdType i = 1; i < cell.size; ++i) centre += relative(cell, i);
  centre /= static_cast<double>(cell.size);
  centre += point(cell.points[0]);

  const vtkIdType* stream =
      grid->GetFaces()->GetPointer(grid->GetFaceLocations()->GetValue(cell.id));
  const vtkIdType face_count = *stream++;
  double signed_sum = 0;
  double absolute_sum = 0;
  std::map<std::pair<vtkIdType, vtkIdType>, int> half_edges;
  for (vtkIdType face = 0; face < face_count; ++face) {
    const vtkIdType size = *stream++;
    const auto corner = [&](vtkIdType i) -> Vector3d { return point(stream[i]) - centre; };
    double part = 0;
    for (vtkIdType i = 1; i + 1 < size; ++i)
      part += triple(corner(0), corner(i), corner(i + 1)) / 6;
    for (vtkIdType i = 0; i < size; ++i) ++half_edges[{stream[i], stream[(i + 1) % size]}];
    signed_sum += part;
    absolute_sum += std::abs(part);
    stream += size;
  }
  for (const auto& [edge, uses] : half_edges) {
    const auto reverse = half_edges.find({edge.second, edge.first});
    if (uses != 1 || reverse == half_edges.end()) return absolute_sum;
  }
  return std::abs(signed_sum);
}

double CellMeasure::isoparametric(const CellView& cell) const {
  static const FivePointGauss gauss;
  vtkNew<vtkGenericCell> shape;
  shape->SetCellType(cell.type);
  const Domain domain = domain_of(cell.type);
  const auto dimension = static_cast<std::size_t>(cell_dimension(cell.type));
  const auto size = static_cast<std::size_t>(cell.size);
  std::vector<double> slopes(dimension * size);  // VTK's order: all by r, then by s, then by t.

  double measure = 0;
  const std::size_t s_count = dimension > 1 ? 5 : 1;
  const std::size_t t_count = dimension > 2 ? 5 : 1;
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < s_count; ++j)
      for (std::size_t k = 0; k < t_count; ++k) {
        std::array<double, 3> p = {gauss.position[i], dimension > 1 ? gauss.position[j] : 0.0,
                                   dimension > 2 ? gauss.position[k] : 0.0};
        double weight = gauss.weight[i] * (dimension > 1 ? gauss.weight[j] : 1.0) *
                        (dimension > 2 ? gauss.weight[k] : 1.0) * map_into(domain, p);
        if (cell.type == VTK_CUBIC_LINE) {  // The one cell that VTK defines on [-1,1].
          p[0] = 2 * p[0] - 1;
          weight *= 2;
        }
        shape->InterpolateDerivs(p.data(), slopes.data());
        std::array<Vector3d, 3> tangent = {Vector3d::Zero(), Vector3d::Zero(), Vector3d::Zero()};
        for (std::size_t axis = 0; axis < dimension; ++axis)
          for (std::size_t n = 1; n < size; ++n)
            tangent[axis] += slopes[axis * size + n] * relative(cell, static_cast<vtkIdType>(n));
        measure += weight * (dimension == 1   ? tangent[0].norm()
                             : dimension == 2 ? tangent[0].cross(tangent[1]).norm()
                                              : triple(tangent[0], tangent[1], tangent[2]));
      }
  return std::abs(measure);
}

double CellMeasure::decomposed(const CellView& cell) const {
  // VTK's decomposition is not made for such points.
  for (vtkIdType i = 0; i < cell.size; ++i)
    if (!point(cell.points[i]).allFinite()) return std::numeric_limits<double>::quiet_NaN();
  vtkNew<vtkGenericCell> shape;
  vtkNew<vtkIdList> ids;
  vtkNew<vtkPoints> corners;
  corners->SetDataTypeToDouble();
  data_->GetCell(cell.id, shape);
  shape->Triangulate(0, ids, corners);
  const int dimension = shape->GetCellDimension();
  double measure = 0;
  for (vtkIdType first = 0; first + dimension < corners->GetNumberOfPoints();
       first += dimension + 1) {
    std::array<Vector3d, 3> edge = {Vector3d::Zero(), Vector3d::Zero(), Vector3d::Zero()};
    Vector3d origin;
    corners->GetPoint(first, origin.data());
    for (int i = 0; i < dimension; ++i) {
      auto& to = edge[static_cast<std::size_t>(i)];
      corners->GetPoint(first + i + 1, to.data());
      to -= origin;
    }
    measure += dimension == 1   ? edge[0].norm()
               : dimension == 2 ? edge[0].cross(edge[1]).norm() / 2
                                : std::abs(triple(edge[0], edge[1], edge[2])) / 6;
  }
  return measure;
}

}  // namespace funcattn
