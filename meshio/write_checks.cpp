#include "meshio/write_checks.h"

#include <vtkCellData.h>
#include <vtkErrorCode.h>
#include <vtkFieldData.h>
#include <vtkPointData.h>
#include <vtkPointSet.h>
#include <vtkPoints.h>
#include <vtkRectilinearGrid.h>

#include "core/error.h"
#include "core/json.h"
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

void refuse_xml_names(vtkDataSet* data) {
  const auto check = [](const char* name, const std::string& what) {
    if (!name) return;
    const std::string text = name;
    for (const char byte : text)
      if (byte == '&' || byte == '<' || byte == '"' || static_cast<unsigned char>(byte) < ' ')
        throw FileError("the name of " + what + " holds " +
                        (byte < ' ' ? "a control character" : "'" + std::string(1, byte) + "'") +
                        ", which VTK cannot read back from XML; rename it");
    try {
      (void)Json(text).dump();
    } catch (const Json::exception&) {
      throw FileError("the name of " + what +
                      " is not valid UTF-8, which VTK cannot read back from XML; rename it");
    }
  };
  const auto visit = [&](vtkFieldData* fields, const std::string& kind) {
    for (int i = 0; i < fields->GetNumberOfArrays(); ++i) {
      vtkAbstractArray* array = fields->GetAbstractArray(i);
      const std::string what = kind + " array '" + array->GetName() + "'";
      check(array->GetName(), what);
      for (int component = 0; component < array->GetNumberOfComponents(); ++component)
        check(array->GetComponentName(component), "a component of " + what);
    }
  };
  visit(data->GetPointData(), "point");
  visit(data->GetCellData(), "cell");
  visit(data->GetFieldData(), "field");
}

void check_written(int written, unsigned long code) {
  if (code != 0)
    throw FileError(std::string("VTK reports: ") + vtkErrorCode::GetStringFromErrorCode(code));
  if (!written) throw FileError("VTK could not write it");
}

}  // namespace funcattn
