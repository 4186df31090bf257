#include "meshio/association_conversion.h"

#include <vtkCellDataToPointData.h>
#include <vtkDataArray.h>
#include <vtkNew.h>
#include <vtkPointDataToCellData.h>

#include "core/error.h"
#include "meshio/attributes.h"
#include "meshio/cells.h"
#include "meshio/joined_pieces.h"
#include "meshio/vtk_messages.h"

namespace funcattn {

namespace {

std::vector<vtkIdType> points_without_cells(vtkDataSet& data) {
  if (!data.IsA("vtkUnstructuredGrid") && !data.IsA("vtkPolyData")) return {};
  std::vector<bool> has_cell(static_cast<std::size_t>(data.GetNumberOfPoints()), false);
  for_each_cell(&data, [&](const CellView& cell) {
    for (vtkIdType i = 0; i < cell.size; ++i)
      has_cell[static_cast<std::size_t>(cell.points[i])] = true;
  });
  std::vector<vtkIdType> found;
  for (std::size_t i = 0; i < has_cell.size(); ++i)
    if (!has_cell[i]) found.push_back(static_cast<vtkIdType>(i));
  return found;
}

/// VTK leaves what happens to be in its memory there.
void set_to_zero(vtkAbstractArray* array, const std::vector<vtkIdType>& rows) {
  auto* values = vtkDataArray::SafeDownCast(array);
  for (const vtkIdType row : rows)
    for (int component = 0; values && component < values->GetNumberOfComponents(); ++component)
      values->SetComponent(row, component, 0);
}

}  // namespace

Mesh convert_arrays(const Mesh& mesh, const std::vector<std::string>& names, Association wanted) {
  if (names.empty()) return mesh;
  const Association given = wanted == Association::point ? Association::cell : Association::point;
  const auto alone = vtkSmartPointer<vtkDataSet>::Take(mesh.vtk()->NewInstance());
  alone->CopyStructure(mesh.vtk());
  for (const std::string& name : names) {
    (void)mesh.array(name, given);  // Says what there is where the array is absent.
    attributes_of(alone, given)
        ->AddArray(attributes_of(mesh.vtk(), given)->GetAbstractArray(name.c_str()));
  }

  VtkMessages messages;
  vtkSmartPointer<vtkDataSetAlgorithm> filter;
  if (wanted == Association::point)
    filter = vtkSmartPointer<vtkCellDataToPointData>::New();
  else
    filter = vtkSmartPointer<vtkPointDataToCellData>::New();
  messages.observe(filter);
  filter->SetInputData(alone);
  filter->Update();
  if (messages.has_errors())
    throw DataError(mesh.origin() + ": VTK could not convert " + to_string(given) +
                    " arrays: " + messages.first_error());

  const std::vector<vtkIdType> alone_points =
      wanted == Association::point ? points_without_cells(*mesh.vtk()) : std::vector<vtkIdType>();
  const auto result = shallow_copy(*mesh.vtk());
  for (const std::string& name : names) {
    vtkAbstractArray* converted =
        attributes_of(filter->GetOutput(), wanted)->GetAbstractArray(name.c_str());
    if (!converted)
      throw DataError(mesh.origin() + ": VTK could not convert the " + to_string(given) +
                      " array '" + name + "'");
    set_to_zero(converted, alone_points);
    attributes_of(result, wanted)->AddArray(converted);
  }
  return Mesh(result, mesh.origin());
}

}  // namespace funcattn
