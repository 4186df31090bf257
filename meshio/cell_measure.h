#pragma once

#include "meshio/cells.h"
#include "meshio/mesh.h"

namespace funcattn {

/// Measures cells from their points: length, area or volume by the cell's own dimension, always
/// >= 0. Linear cells by formulas relative to the cell's first point, so that nothing cancels far
/// from the origin; hexahedra, wedges and pyramids by the exact integral of their (bi-, tri-)linear
/// maps; quadratic cells by Gauss quadrature of theirs, exact for solids and for flat cells; all
/// others (Lagrange, Bezier, convex point sets, quadratic polygons) from VTK's decomposition into
/// simplices through their points, exact where edges and faces are straight. Inverted cells measure
/// what their mirror images do, degenerate ones 0.
class CellMeasure {
 public:
  /// @param points [n,3], which must outlive this
  CellMeasure(vtkDataSet* data, Eigen::Map<const RowMatrix> points)
      : data_(data), coordinates_(points.data()) {}

  /// Vertices and empty cells measure 0. The connectivity must have been checked.
  double operator()(const CellView& cell) const;

 private:
  Eigen::Map<const Eigen::Vector3d> point(vtkIdType id) const {
    return Eigen::Map<const Eigen::Vector3d>(coordinates_ + 3 * id);
  }
  Eigen::Vector3d relative(const CellView& cell, vtkIdType i) const {
    return point(cell.points[i]) - point(cell.points[0]);
  }
  double polygon(const CellView& cell) const;
  double strip(const CellView& cell) const;
  double polyline(const CellView& cell) const;
  double solid(const CellView& cell) const;  ///< Tetrahedra, voxels, hexahedra.
  double wedge(const CellView& cell, const std::array<vtkIdType, 6>& corners) const;
  double pyramid(const CellView& cell) const;
  double prism(const CellView& cell) const;
  double polyhedron(const CellView& cell) const;
  double isoparametric(const CellView& cell) const;
  double decomposed(const CellView& cell) const;

  vtkDataSet* data_;
  const double* coordinates_;
};

}  // namespace funcattn
