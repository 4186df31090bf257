#include "meshio/h1_seminorm.h"

#include <vtkGenericCell.h>
#include <vtkIdList.h>
#include <vtkNew.h>
#include <vtkPoints.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.h"
#include "meshio/cells.h"

namespace funcattn {

namespace {

/// Calls `visit(ids)` for each simplex of a cell, with the ids of its dimension + 1 points.
template <class Visit>
void for_each_simplex(const CellView& cell, vtkDataSet* data, vtkGenericCell* scratch,
                      vtkIdList* ids, vtkPoints* corners, const Visit& visit) {
  switch (cell.type) {
    case VTK_LINE:
    case VTK_POLY_LINE:
    case VTK_TRIANGLE_STRIP: {
      const vtkIdType size = cell.type == VTK_TRIANGLE_STRIP ? 3 : 2;
      for (vtkIdType i = 0; i + size <= cell.size; ++i) visit(cell.points + i);
      return;
    }
    case VTK_TRIANGLE:
    case VTK_TETRA:
      visit(cell.points);
      return;
    default:
      data->GetCell(cell.id, scratch);
      scratch->Triangulate(0, ids, corners);
      const vtkIdType size = scratch->GetCellDimension() + 1;
      for (vtkIdType i = 0; i + size <= ids->GetNumberOfIds(); i += size) visit(ids->GetPointer(i));
  }
}

int highest_dimension(vtkDataSet* data) {
  int highest = 0;
  for_each_cell(data, [&](const CellView& cell) {
    if (cell.size > 0) highest = std::max(highest, cell_dimension(cell.type));
  });
  return highest;
}

using SmallMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, 3, 3>;

}  // namespace

std::optional<std::vector<double>> h1_seminorms(const Mesh& mesh,
                                                const std::vector<RowMatrix>& fields) {
  for (const RowMatrix& field : fields)
    if (field.rows() != mesh.count(Association::point))
      throw DataError(mesh.origin() + ": a field has " + std::to_string(field.rows()) +
                      " values for " + std::to_string(mesh.count(Association::point)) + " points");
  // GetCell() of a vtkPolyData builds links in it.
  const auto data = vtkSmartPointer<vtkDataSet>::Take(mesh.vtk()->NewInstance());
  data->CopyStructure(mesh.vtk());
  const int dimension = highest_dimension(data);
  if (dimension < 1) return std::nullopt;
  const RowMatrix places = mesh.coordinates(Association::point);
  const Eigen::VectorXd present = mesh.presence(Association::cell);

  std::vector<double> integrals(fields.size(), 0.0);
  bool any = false;
  vtkNew<vtkGenericCell> scratch;
  vtkNew<vtkIdList> ids;
  vtkNew<vtkPoints> corners;
  SmallMatrix edges(dimension, 3);
  for_each_cell(data, [&](const CellView& cell) {
    if (cell_dimension(cell.type) != dimension || present[cell.id] == 0) return;
    for_each_simplex(cell, data, scratch, ids, corners, [&](const vtkIdType* points) {
      for (const RowMatrix& field : fields)
        for (int i = 0; i <= dimension; ++i)
          if (!field.row(points[i]).allFinite()) return;
      for (int i = 0; i < dimension; ++i)
        edges.row(i) = places.row(points[i + 1]) - places.row(points[0]);
      // The gradient g satisfies edges g = differences: |g|^2 = d^T (E E^T)^-1 d.
      const SmallMatrix gram = edges * edges.transpose();
      const double determinant = gram.determinant();
      if (!(determinant > 0)) return;
      const double measure =
          std::sqrt(determinant) / (dimension == 3 ? 6 : dimension);  // d! for d = 1, 2, 3
      const Eigen::LDLT<SmallMatrix> solver(gram);
      for (std::size_t f = 0; f < fields.size(); ++f)
        for (Eigen::Index c = 0; c < fields[f].cols(); ++c) {
          Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 3, 1> differences(dimension);
          for (int i = 0; i < dimension; ++i)
            differences[i] = fields[f](points[i + 1], c) - fields[f](points[0], c);
          integrals[f] += measure * differences.dot(solver.solve(differences));
        }
      any = true;
    });
  });
  if (!any) return std::nullopt;
  for (double& integral : integrals) integral = std::sqrt(std::max(0.0, integral));
  return integrals;
}

}  // namespace funcattn
