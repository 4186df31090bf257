#include "meshio/checked_read.h"

#include <vtkCellData.h>
#include <vtkDataSetAttributes.h>
#include <vtkFieldData.h>
#include <vtkImageData.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkUnsignedCharArray.h>

#include "core/error.h"
#include "meshio/data_set_check.h"

namespace funcattn {

namespace {

void compare_names(vtkFieldData* fields, const std::vector<std::string>& declared,
                   const std::string& kind) {
  for (const std::string& name : declared)
    if (!fields->HasArray(name.c_str()) &&
        !(name == "vtkGhostLevels" && fields->HasArray(vtkDataSetAttributes::GhostArrayName())))
      throw DataError("VTK could not read its " + kind + " array '" + name + "'");
}

/// As VTK does with XML files, but not with legacy ones.
void turn_ghost_levels_into_flags(vtkDataSetAttributes* fields, unsigned char duplicate) {
  const char* name = vtkDataSetAttributes::GhostArrayName();
  auto* levels = vtkUnsignedCharArray::SafeDownCast(fields->GetAbstractArray("vtkGhostLevels"));
  if (!levels || levels->GetNumberOfComponents() != 1 || fields->HasArray(name)) return;
  const vtkNew<vtkUnsignedCharArray> flags;
  flags->SetName(name);
  flags->SetNumberOfValues(levels->GetNumberOfValues());
  for (vtkIdType i = 0; i < levels->GetNumberOfValues(); ++i)
    flags->SetValue(i, levels->GetValue(i) > 0 ? duplicate : 0);
  fields->RemoveArray("vtkGhostLevels");
  fields->AddArray(flags);
}

void compare(vtkDataSet* data, const DeclaredContents& declared) {
  const auto compare_count = [](const char* what, std::int64_t found, std::int64_t expected) {
    if (found != expected)
      throw DataError("VTK read " + std::to_string(found) + " " + what +
                      ", but the file declares " + std::to_string(expected));
  };
  if (declared.points != DeclaredContents::unknown)
    compare_count("points", data->GetNumberOfPoints(), declared.points);
  compare_count("cells", data->GetNumberOfCells(), declared.cells);
  check_arrays(data);
  check_cells(data);
  if (declared.points == 0) return;  // VTK drops the arrays of empty meshes.
  compare_names(data->GetPointData(), declared.point_arrays, "point");
  compare_names(data->GetCellData(), declared.cell_arrays, "cell");
  compare_names(data->GetFieldData(), declared.field_arrays, "field");
}

}  // namespace

vtkSmartPointer<vtkDataSet> read_and_compare(vtkAlgorithm* reader, const char* data_class,
                                             const DeclaredContents& declared,
                                             const VtkMessages& messages) {
  reader->Update();
  // VTK calls its own files of empty meshes damaged.
  const bool empty = declared.points == 0 && declared.cells == 0;
  if (messages.has_errors() && !empty) throw DataError(messages.first_error());
  if (reader->GetErrorCode() != 0 && !empty)
    throw DataError("VTK reports error code " + std::to_string(reader->GetErrorCode()));
  auto* output = vtkDataSet::SafeDownCast(reader->GetOutputDataObject(0));
  if (!output || !output->IsA(data_class)) throw DataError("VTK found no data set in it");
  vtkSmartPointer<vtkDataSet> data;
  // Legacy images come as vtkStructuredPoints, a class that only that reader still makes.
  if (vtkImageData::SafeDownCast(output))
    data = vtkSmartPointer<vtkImageData>::New();
  else
    data.TakeReference(output->NewInstance());
  data->ShallowCopy(output);
  turn_ghost_levels_into_flags(data->GetPointData(), vtkDataSetAttributes::DUPLICATEPOINT);
  turn_ghost_levels_into_flags(data->GetCellData(), vtkDataSetAttributes::DUPLICATECELL);
  compare(data, declared);
  return data;
}

}  // namespace funcattn
