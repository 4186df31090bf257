#include "meshio/structured_resampling.h"

#include <vtkCellCenters.h>
#include <vtkCellData.h>
#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkImageData.h>
#include <vtkMatrix3x3.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkProbeFilter.h>
#include <vtkRectilinearGrid.h>
#include <vtkStructuredGrid.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/text.h"
#include "meshio/memory_need.h"
#include "meshio/vtk_messages.h"

namespace funcattn {

namespace {

using Dimensions = std::array<int, 3>;

constexpr const char* coordinates_name = "funcattn coordinates";

Dimensions dimensions_of(vtkDataSet* data) {
  Dimensions dimensions = {0, 0, 0};
  if (auto* image = vtkImageData::SafeDownCast(data)) image->GetDimensions(dimensions.data());
  if (auto* grid = vtkRectilinearGrid::SafeDownCast(data)) grid->GetDimensions(dimensions.data());
  if (auto* grid = vtkStructuredGrid::SafeDownCast(data)) grid->GetDimensions(dimensions.data());
  return dimensions;
}

Dimensions scaled(vtkDataSet* data, const Dimensions& dimensions, double factor) {
  std::array<double, 3> sizes;
  double points = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const int size = dimensions[axis];
    sizes[axis] = size > 1 ? std::max(1.0, std::round((size - 1) * factor)) + 1 : size;
    points *= sizes[axis];
  }
  require_memory(data, points, 0, 0);
  Dimensions result;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (sizes[axis] > std::numeric_limits<int>::max())
      throw DataError("it would have " + format_number(sizes[axis]) + " points along an axis, of " +
                      std::to_string(std::numeric_limits<int>::max()) +
                      " that VTK can count; ask for fewer");
    result[axis] = static_cast<int>(sizes[axis]);
  }
  return result;
}

/// The lattice of indices, 0 to size - 1 along each axis of `from`, with `size` points.
vtkSmartPointer<vtkImageData> lattice(const Dimensions& from, const Dimensions& size) {
  auto image = vtkSmartPointer<vtkImageData>::New();
  image->SetDimensions(size.data());
  double spacing[3];
  for (std::size_t axis = 0; axis < 3; ++axis)
    spacing[axis] = size[axis] > 1 ? static_cast<double>(from[axis] - 1) / (size[axis] - 1) : 1.0;
  image->SetSpacing(spacing);
  return image;
}

/// Point arrays of the result of probing `source` at the points of `places`.
vtkSmartPointer<vtkPointData> probe(vtkImageData* source, vtkDataSet* places) {
  VtkMessages messages;
  vtkNew<vtkProbeFilter> filter;
  messages.observe(filter);
  filter->SetInputData(places);
  filter->SetSourceData(source);
  filter->Update();
  if (messages.has_errors())
    throw DataError("VTK could not resample it: " + messages.first_error());
  if (filter->GetValidPoints()->GetNumberOfTuples() != places->GetNumberOfPoints())
    throw DataError("VTK resampled only " +
                    std::to_string(filter->GetValidPoints()->GetNumberOfTuples()) + " of " +
                    std::to_string(places->GetNumberOfPoints()) + " places");
  vtkSmartPointer<vtkPointData> fields = filter->GetOutput()->GetPointData();
  fields->RemoveArray(filter->GetValidPointMaskArrayName());
  return fields;
}

vtkSmartPointer<vtkDataArray> coordinates_array(vtkDataSet* data) {
  if (auto* grid = vtkStructuredGrid::SafeDownCast(data)) {
    auto copy = vtkSmartPointer<vtkDataArray>::Take(grid->GetPoints()->GetData()->NewInstance());
    copy->DeepCopy(grid->GetPoints()->GetData());
    copy->SetName(coordinates_name);
    return copy;
  }
  const auto copy = vtkSmartPointer<vtkDoubleArray>::New();
  copy->SetName(coordinates_name);
  copy->SetNumberOfComponents(3);
  copy->SetNumberOfTuples(data->GetNumberOfPoints());
  for (vtkIdType i = 0; i < data->GetNumberOfPoints(); ++i)
    data->GetPoint(i, copy->GetPointer(3 * i));
  return copy;
}

/// The coordinates along one axis of a rectilinear grid, from those of all points.
vtkSmartPointer<vtkDoubleArray> axis_of(vtkDataArray* points, const Dimensions& size,
                                        std::size_t axis) {
  const vtkIdType strides[3] = {1, size[0], vtkIdType{size[0]} * size[1]};
  auto values = vtkSmartPointer<vtkDoubleArray>::New();
  for (int i = 0; i < size[axis]; ++i)
    values->InsertNextValue(points->GetComponent(i * strides[axis], static_cast<int>(axis)));
  return values;
}

vtkSmartPointer<vtkDataSet> structure(vtkDataSet* data, vtkDataArray* points,
                                      const Dimensions& from, const Dimensions& size) {
  if (auto* image = vtkImageData::SafeDownCast(data)) {
    auto result = vtkSmartPointer<vtkImageData>::New();
    result->SetDimensions(size.data());
    double spacing[3];
    image->GetSpacing(spacing);
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (size[axis] > 1) spacing[axis] *= static_cast<double>(from[axis] - 1) / (size[axis] - 1);
    result->SetSpacing(spacing);
    result->SetDirectionMatrix(image->GetDirectionMatrix());
    double origin[3];
    image->GetPoint(0, origin);  // Its extent need not begin at 0.
    result->SetOrigin(origin);
    return result;
  }
  if (data->IsA("vtkRectilinearGrid")) {
    auto result = vtkSmartPointer<vtkRectilinearGrid>::New();
    result->SetDimensions(size.data());
    result->SetXCoordinates(axis_of(points, size, 0));
    result->SetYCoordinates(axis_of(points, size, 1));
    result->SetZCoordinates(axis_of(points, size, 2));
    return result;
  }
  auto result = vtkSmartPointer<vtkStructuredGrid>::New();
  result->SetDimensions(size.data());
  vtkNew<vtkPoints> places;
  points->SetName(nullptr);
  places->SetData(points);
  result->SetPoints(places);
  return result;
}

}  // namespace

bool is_structured(const Mesh& mesh) {
  return mesh.vtk()->IsA("vtkImageData") || mesh.vtk()->IsA("vtkRectilinearGrid") ||
         mesh.vtk()->IsA("vtkStructuredGrid");
}

int structured_dimension(const Mesh& mesh) {
  const Dimensions dimensions = dimensions_of(mesh.vtk());
  return static_cast<int>(
      std::count_if(dimensions.begin(), dimensions.end(), [](int size) { return size > 1; }));
}

Mesh resample_structured(const Mesh& mesh, double axis_factor) {
  if (!is_structured(mesh))
    throw DataError(mesh.origin() + " is a " + mesh.vtk()->GetClassName() +
                    ", expected an image, a rectilinear or a structured grid");
  vtkDataSet* data = mesh.vtk();
  const Dimensions from = dimensions_of(data);
  try {
    const Dimensions size = scaled(data, from, axis_factor);
    const auto points_lattice = lattice(from, from);
    points_lattice->GetPointData()->ShallowCopy(data->GetPointData());
    points_lattice->GetPointData()->AddArray(coordinates_array(data));
    const auto places = lattice(from, size);
    const auto fields = probe(points_lattice, places);
    const vtkSmartPointer<vtkDataArray> points = fields->GetArray(coordinates_name);
    fields->RemoveArray(coordinates_name);
    const auto result = structure(data, points, from, size);
    result->GetPointData()->ShallowCopy(fields);

    if (data->GetCellData()->GetNumberOfArrays() > 0 && data->GetNumberOfCells() > 0) {
      const auto cells_lattice = lattice(from, from);
      cells_lattice->GetCellData()->ShallowCopy(data->GetCellData());
      vtkNew<vtkCellCenters> centres;
      centres->SetInputData(places);
      centres->CopyArraysOff();
      centres->Update();
      result->GetCellData()->ShallowCopy(probe(cells_lattice, centres->GetOutput()));
    }
    result->GetFieldData()->PassData(data->GetFieldData());
    return Mesh(result, mesh.origin());
  } catch (const DataError& error) {
    throw DataError(mesh.origin() + ": " + error.what());
  }
}

}  // namespace funcattn
