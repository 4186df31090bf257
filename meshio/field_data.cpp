#include "meshio/field_data.h"

#include <vtkAbstractArray.h>
#include <vtkDataArray.h>
#include <vtkDataObject.h>
#include <vtkFieldData.h>

#include "core/error.h"
#include "core/text.h"
#include "meshio/array_view.h"

namespace funcattn {

std::optional<std::vector<double>> field_values(vtkDataObject* data, const std::string& name,
                                                const std::string& origin) {
  vtkFieldData* fields = data ? data->GetFieldData() : nullptr;
  vtkAbstractArray* found = fields ? fields->GetAbstractArray(name.c_str()) : nullptr;
  if (!found) return std::nullopt;
  auto* array = vtkDataArray::SafeDownCast(found);
  if (!array)
    throw DataError(origin + ": the field array '" + name + "' is a " + found->GetClassName() +
                    ", expected numbers");
  try {
    const RowMatrix values = ArrayView(array).to_double();
    return std::vector<double>(values.data(), values.data() + values.size());
  } catch (const DataError& error) {
    throw DataError(origin + ": the field array '" + name + "': " + error.what());
  }
}

std::string field_text(const std::vector<double>& values) {
  std::vector<std::string> texts;
  for (const double value : values) texts.push_back(format_significant(value, 6));
  return texts.size() == 1 ? texts.front() : "(" + join(texts, ", ") + ")";
}

std::vector<std::string> field_names(vtkDataObject* data) {
  std::vector<std::string> names;
  vtkFieldData* fields = data ? data->GetFieldData() : nullptr;
  for (int i = 0; fields && i < fields->GetNumberOfArrays(); ++i)
    if (const char* name = fields->GetAbstractArray(i)->GetName()) names.emplace_back(name);
  return names;
}

}  // namespace funcattn
