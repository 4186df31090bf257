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
  auto* flags = vtkUnsignedCharArray::SafeDownCast(fields->GetAbstractArray(name));
  if (flags && flags->GetNumberOfValues() != expected)
    throw DataError(std::string(to_string(association)) + " array '" + name + "' has " +
                    std::to_string(flags->GetNumberOfValues()) + " rows, expected " +
                    std::to_string(expected));
  return flags;
}

}  // namespace funcattn
