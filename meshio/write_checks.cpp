#include "meshio/write_checks.h"

#include <vtkCellData.h>
#include <vtkErrorCode.h>
#include <vtkFieldData.h>
#include <vtkPointData.h>
#include <vtkPointSet.h>
#include <vtkPoints.h>
#include <vtkRectilinearGrid.h>

#include "core/error.h"
#include "meshio/array_view.h"

namespace funcattn {

void for_each_array(
    vtkDataSet* data,
    const std::function<void(vtkDataArray* array, const std::string& what)>& visit) {
  const auto visit_fields = [&](vtkFieldData* fields, const std::string& kind) {
    for (int i = 0; i < fields->GetNumberOfArrays(); ++i)
      if (auto* array = vtkDataArray::SafeDownCast(fields->GetAbstractArray(i)))
        visit(array, kind + " array '" + array->GetName() + "'");
  };
  visit_fields(data->GetPointData(), "point");
  visit_fields(data->GetCellData(), "cell");
  visit_fields(data->GetFieldData(), "field");
  if (auto* point_set = vtkPointSet::SafeDownCast(data)) {
    if (point_set->GetPoints()) visit(point_set->GetPoints()->GetData(), "the coordinates");
  } else if (auto* grid = vtkRectilinearGrid::SafeDownCast(data)) {
    for (vtkDataArray* axis :
         {grid->GetXCoordinates(), grid->GetYCoordinates(), grid->GetZCoordinates()})
      visit(axis, "the coordinates");
  }
}

void refuse_non_finite(vtkDataSet* data) {
  for_each_array(data, [](vtkDataArray* array, const std::string& what) {
    if (array->GetDataType() != VTK_FLOAT && array->GetDataType() != VTK_DOUBLE) return;
    const Eigen::Index row = ArrayView(array).first_non_finite();
    if (row >= 0)
      throw FileError("row " + std::to_string(row) + " of " + what +
                      " is not finite, which VTK cannot read back from ASCII; choose appended or "
                      "binary encoding");
  });
}

void check_written(int written, unsigned long code) {
  if (code != 0)
    throw FileError(std::string("VTK reports: ") + vtkErrorCode::GetStringFromErrorCode(code));
  if (!written) throw FileError("VTK could not write it");
}

}  // namespace funcattn
