#include "meshio/density.h"

#include <vtkDoubleArray.h>
#include <vtkIdList.h>
#include <vtkNew.h>
#include <vtkPointSet.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkStaticPointLocator.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.h"

namespace funcattn {

namespace {

constexpr int kNeighbours = 8;
constexpr int kNear = 4;
constexpr int kFar = 16;
/// Points from which the dimension is estimated.
constexpr Eigen::Index kDimensionSample = 2000;
/// Extent below which the cloud is flat, as a share of its longest extent.
constexpr double kFlat = 1e-6;

/// Distances to neighbours, by a static point locator.
class Neighbours {
 public:
  explicit Neighbours(const RowMatrix& points) : points_(points) {
    vtkNew<vtkDoubleArray> values;
    values->SetNumberOfComponents(3);
    values->SetNumberOfTuples(points.rows());
    std::copy_n(points.data(), points.size(), values->GetPointer(0));
    const vtkNew<vtkPoints> set;
    set->SetData(values);
    data_->SetPoints(set);
    locator_->SetDataSet(data_);
    locator_->BuildLocator();
  }

  /// To the k-th nearest other point. @param k at least 1, below the number of points
  double distance(Eigen::Index point, int k) {
    locator_->FindClosestNPoints(k + 1, points_.row(point).data(), found_);
    double farthest = 0;
    for (vtkIdType i = 0; i < found_->GetNumberOfIds(); ++i)
      farthest = std::max(farthest, (points_.row(found_->GetId(i)) - points_.row(point)).norm());
    return farthest;
  }

 private:
  const RowMatrix& points_;
  vtkNew<vtkPolyData> data_;
  vtkNew<vtkStaticPointLocator> locator_;
  vtkNew<vtkIdList> found_;
};

/// Number of directions in which the cloud extends.
int extent_dimension(const RowMatrix& points) {
  const RowMatrix centred = points.rowwise() - points.colwise().mean();
  const Eigen::Matrix3d scatter = centred.transpose() * centred;
  const Eigen::Vector3d spread =
      Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(scatter).eigenvalues().cwiseMax(0).cwiseSqrt();
  return std::max(1, static_cast<int>((spread.array() > kFlat * spread[2]).count()));
}

double unit_ball(int dimension) {
  return dimension == 1 ? 2.0 : dimension == 2 ? M_PI : 4 * M_PI / 3;
}

int dimension_of(const RowMatrix& points, Neighbours& neighbours) {
  const auto others = static_cast<int>(std::min<Eigen::Index>(points.rows() - 1, kFar));
  const int far = others;
  const int near = std::max(1, std::min(kNear, others / 2));
  const int limit = extent_dimension(points);
  if (far <= near || limit == 1) return limit;
  std::vector<double> estimates;
  const Eigen::Index step = std::max<Eigen::Index>(1, points.rows() / kDimensionSample);
  for (Eigen::Index i = 0; i < points.rows(); i += step) {
    const double inner = neighbours.distance(i, near);
    const double outer = neighbours.distance(i, far);
    if (inner > 0 && outer > inner)
      estimates.push_back(std::log(static_cast<double>(far) / near) / std::log(outer / inner));
  }
  if (estimates.empty()) return limit;
  const auto middle = estimates.begin() + static_cast<std::ptrdiff_t>(estimates.size() / 2);
  std::nth_element(estimates.begin(), middle, estimates.end());
  return std::clamp(static_cast<int>(std::lround(*middle)), 1, limit);
}

}  // namespace

int cloud_dimension(const RowMatrix& points) {
  if (points.rows() < 2) return 1;
  Neighbours neighbours(points);
  return dimension_of(points, neighbours);
}

Eigen::VectorXd density_weights(const RowMatrix& points, const Eigen::VectorXd& present) {
  std::vector<Eigen::Index> rows;
  for (Eigen::Index i = 0; i < points.rows(); ++i)
    if (present[i] > 0) rows.push_back(i);
  RowMatrix used(static_cast<Eigen::Index>(rows.size()), 3);
  for (std::size_t i = 0; i < rows.size(); ++i)
    used.row(static_cast<Eigen::Index>(i)) = points.row(rows[i]);
  if (!used.allFinite())
    throw DataError(
        "the density cannot be estimated: coordinates are NaN or Inf; remove those "
        "points or use uniform weights");
  Eigen::VectorXd weights = Eigen::VectorXd::Zero(points.rows());
  if (rows.size() == 1) weights[rows[0]] = 1;
  if (rows.size() < 2) return weights;

  Neighbours neighbours(used);
  const int dimension = dimension_of(used, neighbours);
  const int k = static_cast<int>(std::min<std::size_t>(kNeighbours, rows.size() - 1));
  double smallest = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double radius = neighbours.distance(static_cast<Eigen::Index>(i), k);
    const double weight = unit_ball(dimension) * std::pow(radius, dimension) / k;
    weights[rows[i]] = weight;
    if (weight > 0 && (smallest == 0 || weight < smallest)) smallest = weight;
  }
  for (const Eigen::Index row : rows)
    if (!(weights[row] > 0)) weights[row] = smallest > 0 ? smallest : 1;
  return weights;
}

}  // namespace funcattn
