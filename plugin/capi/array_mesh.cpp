#include "plugin/capi/array_mesh.h"

#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDoubleArray.h>
#include <vtkFloatArray.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkTypeInt32Array.h>
#include <vtkTypeInt64Array.h>
#include <vtkTypeUInt8Array.h>

namespace funcattn {

namespace {

template <class Array>
vtkSmartPointer<vtkDataArray> borrow(const StridedArray& values) {
  const auto array = vtkSmartPointer<Array>::New();
  array->SetNumberOfComponents(values.components);
  constexpr int keep_memory = 1;  // It is not VTK's to free.
  array->SetArray(static_cast<typename Array::ValueType*>(values.data),
                  values.rows * values.components, keep_memory);
  return array;
}

vtkSmartPointer<vtkDoubleArray> make_doubles(Eigen::Index rows, int components) {
  const auto array = vtkSmartPointer<vtkDoubleArray>::New();
  array->SetNumberOfComponents(components);
  array->SetNumberOfTuples(rows);
  return array;
}

vtkSmartPointer<vtkDataArray> as_vtk(const StridedArray& values) {
  if (!values.is_packed()) {
    const auto copy = make_doubles(values.rows, values.components);
    copy_to(values, copy->GetPointer(0), values.components);
    return copy;
  }
  switch (values.type) {
    case ScalarType::uint8:
      return borrow<vtkTypeUInt8Array>(values);
    case ScalarType::int32:
      return borrow<vtkTypeInt32Array>(values);
    case ScalarType::int64:
      return borrow<vtkTypeInt64Array>(values);
    case ScalarType::float32:
      return borrow<vtkFloatArray>(values);
    default:
      return borrow<vtkDoubleArray>(values);
  }
}

vtkSmartPointer<vtkPoints> make_points(Eigen::Index count,
                                       const std::optional<StridedArray>& coordinates,
                                       const std::array<std::optional<StridedArray>, 3>& axes) {
  const auto points = vtkSmartPointer<vtkPoints>::New();
  const bool floating = coordinates && (coordinates->type == ScalarType::float32 ||
                                        coordinates->type == ScalarType::float64);
  if (floating && coordinates->components == 3 && coordinates->is_packed()) {
    points->SetData(as_vtk(*coordinates));
    return points;
  }
  const auto all = make_doubles(count, 3);
  all->Fill(0);
  for (int axis = 0; axis < 3; ++axis)
    if (axes[axis]) copy_to(*axes[axis], all->GetPointer(axis), 3);
  points->SetData(all);
  return points;
}

}  // namespace

Mesh make_array_mesh(Eigen::Index count, const std::optional<StridedArray>& coordinates,
                     const std::array<std::optional<StridedArray>, 3>& axes,
                     const std::vector<NamedArray>& arrays, Association association,
                     const std::string& origin) {
  const auto cloud = vtkSmartPointer<vtkPolyData>::New();
  cloud->SetPoints(make_points(count, coordinates, axes));
  if (association == Association::cell) {
    const auto vertices = vtkSmartPointer<vtkCellArray>::New();
    vertices->AllocateExact(count, count);
    for (vtkIdType point = 0; point < count; ++point) vertices->InsertNextCell(1, &point);
    cloud->SetVerts(vertices);
  }
  vtkDataSetAttributes* fields = cloud->GetPointData();
  if (association == Association::cell) fields = cloud->GetCellData();
  for (const NamedArray& array : arrays) {
    const vtkSmartPointer<vtkDataArray> values = as_vtk(array.values);
    values->SetName(array.name.c_str());
    fields->AddArray(values);
  }
  return {cloud, origin};
}

}  // namespace funcattn
