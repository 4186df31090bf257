#include "meshio/added_arrays.h"

#include <vtkFieldData.h>

#include "core/error.h"
#include "meshio/attributes.h"
#include "meshio/joined_pieces.h"

namespace funcattn {

namespace {

void check_name(const Mesh& mesh, vtkDataArray& array) {
  if (!array.GetName() || !*array.GetName())
    throw DataError(mesh.origin() + ": a new array needs a name");
}

}  // namespace

Mesh with_arrays(const Mesh& mesh, const VtkArrays& arrays, Association association) {
  const auto copy = shallow_copy(*mesh.vtk());
  vtkDataSetAttributes* attributes = attributes_of(copy, association);
  for (const auto& array : arrays) {
    check_name(mesh, *array);
    if (array->GetNumberOfTuples() != mesh.count(association))
      throw DataError(mesh.origin() + ": " + to_string(association) + " array '" +
                      array->GetName() + "' would have " +
                      std::to_string(array->GetNumberOfTuples()) + " tuples, expected " +
                      std::to_string(mesh.count(association)));
    attributes->AddArray(array);
  }
  return Mesh(copy, mesh.origin());
}

Mesh with_field_arrays(const Mesh& mesh, const VtkArrays& arrays) {
  const auto copy = shallow_copy(*mesh.vtk());
  // A shallow copy of the mesh may share the field data themselves.
  const auto fields = vtkSmartPointer<vtkFieldData>::New();
  if (mesh.vtk()->GetFieldData()) fields->ShallowCopy(mesh.vtk()->GetFieldData());
  for (const auto& array : arrays) {
    check_name(mesh, *array);
    fields->AddArray(array);
  }
  copy->SetFieldData(fields);
  return Mesh(copy, mesh.origin());
}

}  // namespace funcattn
