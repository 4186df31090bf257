#pragma once

#include <vtkDataSet.h>
#include <vtkSmartPointer.h>

#include <string>
#include <vector>

#include "core/array_spec.h"
#include "meshio/array_view.h"

namespace funcattn {

/// A data set with fields, as read from one file or handed over by a pipeline. Shares VTK's data;
/// never modifies what it was made from.
class Mesh {
 public:
  /// @param origin file name or other description for messages
  Mesh(vtkSmartPointer<vtkDataSet> data, std::string origin);

  vtkDataSet* vtk() const { return data_; }
  const std::string& origin() const { return origin_; }

  Eigen::Index count(Association association) const;  ///< Points or cells.

  /// Coordinates of the points, or the centres of the cells (mean of the cell's points), in
  /// float64. [count,3]
  RowMatrix coordinates(Association association) const;

  /// As coordinates(), without a copy where the points are stored in float64.
  DoubleView coordinate_view(Association association) const;

  /// The columns `axes` of coordinates(), written row after row to `target`, [count, axes]. Points
  /// that VTK stores are read in place, without a copy of all coordinates in between.
  void copy_coordinates(Association association, const std::vector<int>& axes,
                        double* target) const;

  /// All numeric arrays, in file order.
  std::vector<ArraySpec> arrays() const;

  bool has_array(const std::string& name, Association association) const;

  /// Values of an array, checked: present exactly once, as many rows as points or cells. Throws
  /// DataError that lists what there is; where the array exists only on the other association, or
  /// a similar name exists, it says so.
  ArrayView array(const std::string& name, Association association) const;

  /// Names of an array's components; empty where a component has none. Throws DataError if there is
  /// no such array.
  std::vector<std::string> component_names(const std::string& name, Association association) const;

  std::vector<std::string> field_names() const;  ///< Of the field data: values of the whole mesh.

  /// Values of an array of the field data. Throws DataError that lists what there is.
  ArrayView field(const std::string& name) const;

  /// A mesh that shares everything and has one more array. Throws DataError if the array exists
  /// and not `overwrite`, or if the row count is wrong.
  Mesh with_array(const ArraySpec& spec, const RowMatrix& values, bool overwrite = false) const;

  /// 1 for ordinary points or cells, 0 for those that VTK's ghost array marks as duplicate, hidden
  /// or refined. [count]
  Eigen::VectorXd presence(Association association) const;

 private:
  RowMatrix cell_centres() const;

  vtkSmartPointer<vtkDataSet> data_;
  std::string origin_;
};

/// Points joined by a poly-line in the given order: the mesh of a function of one variable.
/// @param coordinates [n,3]; n = 1 gives a vertex
Mesh make_polyline(const RowMatrix& coordinates, std::string origin);

/// Points with vertex cells.
Mesh make_point_cloud(const RowMatrix& coordinates, std::string origin);

}  // namespace funcattn
