#include "meshio/ghosts.h"

#include <vtkCellData.h>
#include <vtkPointData.h>

#include <string>

#include "core/error.h"

namespace funcattn {

vtkUnsignedCharArray* ghost_flags(vtkDataSet* data, Association association) {
  const char* name = vtkDataSetAttributes::GhostArrayName();
  const bool point = association == Association::point;
  vtkFieldData* fields = point ? static_cast<vtkFieldData*>(data->GetPointData())
                               : static_cast<vtkFieldData*>(data->GetCellData());
  const vtkIdType expected = point ? data->GetNumberOfPoints() : data->GetNumberOfCells();
  vtkAbstractArray* array = fields->GetAbstractArray(name);
  if (!array) {
    // Bytes become flags when a file is read; others would be taken for no ghosts.
    if (fields->HasArray("vtkGhostLevels"))
      throw DataError(std::string(to_string(association)) +
                      " array 'vtkGhostLevels' marks ghosts as old files do; turn it into an array "
                      "'vtkGhostType' of unsigned char, or remove it");
    return nullptr;
  }
  const std::string named = std::string(to_string(association)) + " array '" + name + "'";
  // Flags of another type would be taken for no flags, and ghosts for ordinary points.
  auto* flags = vtkUnsignedCharArray::SafeDownCast(array);
  if (!flags || flags->GetNumberOfComponents() != 1)
    throw DataError(named + " is of type " + array->GetDataTypeAsString() + " with " +
                    std::to_string(array->GetNumberOfComponents()) +
                    " component(s), expected unsigned char with 1; convert or remove it");
  if (flags->GetNumberOfValues() != expected)
    throw DataError(named + " has " + std::to_string(flags->GetNumberOfValues()) +
                    " rows, expected " + std::to_string(expected));
  return flags;
}

}  // namespace funcattn
