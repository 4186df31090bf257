#include "meshio/association_conversion.h"

#include <vtkCellDataToPointData.h>
#include <vtkNew.h>
#include <vtkPointDataToCellData.h>

#include "core/error.h"
#include "meshio/attributes.h"
#include "meshio/joined_pieces.h"
#include "meshio/vtk_messages.h"

namespace funcattn {

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

  const auto result = shallow_copy(*mesh.vtk());
  for (const std::string& name : names) {
    vtkAbstractArray* converted =
        attributes_of(filter->GetOutput(), wanted)->GetAbstractArray(name.c_str());
    if (!converted)
      throw DataError(mesh.origin() + ": VTK could not convert the " + to_string(given) +
                      " array '" + name + "'");
    attributes_of(result, wanted)->AddArray(converted);
  }
  return Mesh(result, mesh.origin());
}

}  // namespace funcattn
