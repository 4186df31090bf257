#include "meshio/association_conversion.h"

#include <vtkCellData.h>
#include <vtkCellDataToPointData.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPointDataToCellData.h>

#include "core/error.h"
#include "meshio/vtk_messages.h"

namespace funcattn {

namespace {

vtkDataSetAttributes* attributes(vtkDataSet* data, Association association) {
  if (association == Association::point) return data->GetPointData();
  return data->GetCellData();
}

}  // namespace

Mesh convert_arrays(const Mesh& mesh, const std::vector<std::string>& names, Association wanted) {
  if (names.empty()) return mesh;
  const Association given = wanted == Association::point ? Association::cell : Association::point;
  const auto alone = vtkSmartPointer<vtkDataSet>::Take(mesh.vtk()->NewInstance());
  alone->CopyStructure(mesh.vtk());
  for (const std::string& name : names) {
    (void)mesh.array(name, given);  // Says what there is where the array is absent.
    attributes(alone, given)
        ->AddArray(attributes(mesh.vtk(), given)->GetAbstractArray(name.c_str()));
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

  const auto result = vtkSmartPointer<vtkDataSet>::Take(mesh.vtk()->NewInstance());
  result->ShallowCopy(mesh.vtk());
  for (const std::string& name : names) {
    vtkAbstractArray* converted =
        attributes(filter->GetOutput(), wanted)->GetAbstractArray(name.c_str());
    if (!converted)
      throw DataError(mesh.origin() + ": VTK could not convert the " + to_string(given) +
                      " array '" + name + "'");
    attributes(result, wanted)->AddArray(converted);
  }
  return Mesh(result, mesh.origin());
}

}  // namespace funcattn
