#include "meshio/xml_names.h"

#include <vtkAbstractArray.h>
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkDataSetAttributes.h>
#include <vtkPointData.h>

#include <vector>

#include "core/error.h"
#include "core/json.h"

namespace funcattn {

namespace {

void refuse_unless_utf8(const std::string& name, const std::string& what) {
  for (const char byte : name)
    if (static_cast<unsigned char>(byte) < ' ')
      throw FileError("the name of " + what +
                      " holds a control character, which XML cannot hold; rename it");
  try {
    (void)Json(name).dump();
  } catch (const Json::exception&) {
    throw FileError("the name of " + what +
                    " is not valid UTF-8, which XML cannot hold; rename it");
  }
}

/// The array itself if its names can stay.
vtkSmartPointer<vtkAbstractArray> with_escaped_names(vtkAbstractArray* array,
                                                     const std::string& kind) {
  const std::string name = array->GetName() ? array->GetName() : "";
  const std::string what = kind + " array '" + name + "'";
  refuse_unless_utf8(name, what);
  const std::string escaped = xml_escaped(name);
  bool changed = escaped != name;
  std::vector<std::string> components(static_cast<std::size_t>(array->GetNumberOfComponents()));
  for (std::size_t i = 0; i < components.size(); ++i) {
    const char* component = array->GetComponentName(static_cast<vtkIdType>(i));
    if (!component) continue;
    refuse_unless_utf8(component, "a component of " + what);
    components[i] = xml_escaped(component);
    changed = changed || components[i] != component;
  }
  if (!changed) return array;
  const auto copy = vtkSmartPointer<vtkAbstractArray>::Take(array->NewInstance());
  if (auto* numbers = vtkDataArray::SafeDownCast(copy))
    numbers->ShallowCopy(vtkDataArray::SafeDownCast(array));
  else
    copy->DeepCopy(array);
  copy->SetName(escaped.c_str());
  if (array->HasInformation()) copy->CopyInformation(array->GetInformation());
  for (std::size_t i = 0; i < components.size(); ++i)
    if (!components[i].empty())
      copy->SetComponentName(static_cast<vtkIdType>(i), components[i].c_str());
  return copy;
}

void escape(vtkFieldData* fields, const std::string& kind) {
  std::vector<vtkSmartPointer<vtkAbstractArray>> arrays;
  bool changed = false;
  for (int i = 0; i < fields->GetNumberOfArrays(); ++i) {
    arrays.push_back(with_escaped_names(fields->GetAbstractArray(i), kind));
    changed = changed || arrays.back() != fields->GetAbstractArray(i);
  }
  if (!changed) return;
  int active[vtkDataSetAttributes::NUM_ATTRIBUTES];
  auto* attributes = vtkDataSetAttributes::SafeDownCast(fields);
  if (attributes) attributes->GetAttributeIndices(active);
  for (int i = fields->GetNumberOfArrays(); i-- > 0;) fields->RemoveArray(i);
  for (const auto& array : arrays) fields->AddArray(array);
  if (!attributes) return;
  for (int type = 0; type < vtkDataSetAttributes::NUM_ATTRIBUTES; ++type)
    if (active[type] >= 0) attributes->SetActiveAttribute(active[type], type);
}

}  // namespace

std::string xml_escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped.push_back(c);
    }
  }
  return escaped;
}

void escape_names(vtkDataSet* data) {
  escape(data->GetPointData(), "point");
  escape(data->GetCellData(), "cell");
  escape(data->GetFieldData(), "field");
}

void escape_names(vtkFieldData* fields) {
  escape(fields, "field");
}

}  // namespace funcattn
