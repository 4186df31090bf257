#include "meshio/class_array.h"

#include <vtkDataSetAttributes.h>
#include <vtkIntArray.h>
#include <vtkNew.h>

#include <algorithm>

#include "meshio/added_arrays.h"
#include "meshio/attributes.h"

namespace funcattn {

Mesh with_class_array(const Mesh& mesh, const std::string& name, Association association,
                      const Eigen::VectorXi& values) {
  vtkNew<vtkIntArray> array;
  array->SetName(name.c_str());
  array->SetNumberOfTuples(values.size());
  std::copy_n(values.data(), values.size(), array->GetPointer(0));
  return with_arrays(mesh, {array.Get()}, association);
}

Mesh with_component_names(const Mesh& mesh, const std::string& name, Association association,
                          const std::vector<std::string>& names) {
  (void)mesh.array(name, association);  // Says what there is where the array is absent.
  vtkDataArray* given = attributes_of(mesh.vtk(), association)->GetArray(name.c_str());
  const auto array = vtkSmartPointer<vtkDataArray>::Take(given->NewInstance());
  array->ShallowCopy(given);
  for (std::size_t i = 0; i < names.size(); ++i)
    array->SetComponentName(static_cast<vtkIdType>(i), names[i].c_str());
  return with_arrays(mesh, {array}, association);
}

}  // namespace funcattn
