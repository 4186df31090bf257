#include "meshio/legacy_format.h"

#include <vtkCellData.h>
#include <vtkDataSetReader.h>
#include <vtkDataSetWriter.h>
#include <vtkImageData.h>
#include <vtkMatrix3x3.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPolyDataReader.h>
#include <vtkRectilinearGridReader.h>
#include <vtkStructuredGridReader.h>
#include <vtkStructuredPointsReader.h>
#include <vtkUnstructuredGridReader.h>

#include <limits>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/text.h"
#include "meshio/checked_read.h"
#include "meshio/file_bytes.h"
#include "meshio/inspection.h"
#include "meshio/legacy_cursor.h"
#include "meshio/vtk_messages.h"
#include "meshio/write_checks.h"

namespace funcattn {

namespace {

// vtkDataSetReader would do it all, but makes a reader inside that nobody can observe.
vtkSmartPointer<vtkDataReader> make_reader(const std::string& path, const VtkMessages& messages) {
  vtkNew<vtkDataSetReader> kind;
  messages.observe(kind);
  kind->SetFileName(path.c_str());
  vtkSmartPointer<vtkDataReader> reader;
  switch (kind->ReadOutputType()) {
    case VTK_POLY_DATA:
      reader = vtkSmartPointer<vtkPolyDataReader>::New();
      break;
    case VTK_UNSTRUCTURED_GRID:
      reader = vtkSmartPointer<vtkUnstructuredGridReader>::New();
      break;
    case VTK_STRUCTURED_GRID:
      reader = vtkSmartPointer<vtkStructuredGridReader>::New();
      break;
    case VTK_RECTILINEAR_GRID:
      reader = vtkSmartPointer<vtkRectilinearGridReader>::New();
      break;
    case VTK_STRUCTURED_POINTS:
      reader = vtkSmartPointer<vtkStructuredPointsReader>::New();
      break;
    default:
      throw DataError("VTK does not know the data set type of this file");
  }
  messages.observe(reader);
  reader->SetFileName(path.c_str());
  // Without these only the first array of each kind would be read.
  reader->ReadAllScalarsOn();
  reader->ReadAllVectorsOn();
  reader->ReadAllNormalsOn();
  reader->ReadAllTensorsOn();
  reader->ReadAllColorScalarsOn();
  reader->ReadAllTCoordsOn();
  reader->ReadAllFieldsOn();
  return reader;
}

/// VTK writes spacing and origin with six digits only; this puts them in full.
void restore_image_digits(vtkDataSet* data, std::string& bytes) {
  auto* image = vtkImageData::SafeDownCast(data);
  if (!image) return;
  const auto spacing_at = bytes.find("\nSPACING ", bytes.find("\nDATASET STRUCTURED_POINTS\n"));
  const auto origin_at = bytes.find("\nORIGIN ", spacing_at);
  if (origin_at == std::string::npos) throw FileError("VTK wrote no origin and spacing");
  std::string lines = "\nSPACING";
  for (int axis = 0; axis < 3; ++axis) lines += " " + format_number(image->GetSpacing()[axis]);
  lines += "\nORIGIN";
  // The legacy format counts from 0: its origin is the first point.
  for (int axis = 0; axis < 3; ++axis)
    lines += " " + format_number(image->GetOrigin()[axis] +
                                 image->GetExtent()[2 * axis] * image->GetSpacing()[axis]);
  bytes.replace(spacing_at, bytes.find('\n', origin_at + 1) - spacing_at, lines);
}

/// VTK writes a name with blanks, quotes, percent signs and bytes outside ASCII as %20.
std::size_t encoded_length(const std::string& name) {
  std::size_t length = 0;
  for (const char c : name) length += c <= ' ' || c > '~' || c == '"' || c == '%' ? 3 : 1;
  return length;
}

/// Longer names crash VTK's reader.
void refuse_long_names(vtkFieldData* fields, const std::string& kind) {
  for (int i = 0; i < fields->GetNumberOfArrays(); ++i) {
    vtkAbstractArray* array = fields->GetAbstractArray(i);
    if (!array->GetName()) continue;  // Refused by check_arrays().
    const std::string what = kind + " array '" + array->GetName() + "'";
    const auto refuse = [](const std::string& named, const char* name) {
      if (name && encoded_length(name) > kLongestLegacyWord)
        throw UsageError("the name of " + named + " takes " + std::to_string(encoded_length(name)) +
                         " bytes in .vtk, which can hold " + std::to_string(kLongestLegacyWord) +
                         "; write XML");
    };
    refuse(what, array->GetName());
    for (int component = 0; component < array->GetNumberOfComponents(); ++component)
      refuse("a component of " + what, array->GetComponentName(component));
  }
}

}  // namespace

void refuse_legacy_losses(vtkDataSet* data) {
  refuse_long_names(data->GetPointData(), "point");
  refuse_long_names(data->GetCellData(), "cell");
  refuse_long_names(data->GetFieldData(), "field");
  if (auto* image = vtkImageData::SafeDownCast(data))
    if (!image->GetDirectionMatrix()->IsIdentity())
      throw UsageError("the image has a direction matrix, which .vtk cannot hold; write .vti");
  for_each_array(data, [](vtkDataArray* array, const std::string& what) {
    if (array->GetDataType() != VTK_ID_TYPE || array->GetNumberOfTuples() == 0) return;
    double range[2];
    for (int component = 0; component < array->GetNumberOfComponents(); ++component) {
      array->GetRange(range, component);
      if (range[0] < std::numeric_limits<int>::min() || range[1] > std::numeric_limits<int>::max())
        throw UsageError(what + " holds ids beyond 32 bits, which .vtk cannot hold; write XML");
    }
  });
}

vtkSmartPointer<vtkDataObject> read_legacy(const std::filesystem::path& path, const ReadOptions&) {
  const FileBytes file(path);
  const DeclaredContents declared = inspect_legacy(file);
  const VtkMessages messages;
  const auto reader = make_reader(path.string(), messages);
  return read_and_compare(reader, "vtkDataSet", declared, messages);
}

void write_legacy(vtkDataObject* data, const std::filesystem::path& path,
                  const WriteOptions& options) {
  AtomicFile file(path);  // First, so that a bad target is found before the work.
  auto* data_set = vtkDataSet::SafeDownCast(data);
  refuse_legacy_losses(data_set);
  const VtkMessages messages;
  vtkNew<vtkDataSetWriter> writer;
  messages.observe(writer);
  writer->WriteToOutputStringOn();
  writer->SetInputData(data);
  if (options.encoding == Encoding::ascii)
    writer->SetFileTypeToASCII();
  else
    writer->SetFileTypeToBinary();
  const int written = writer->Write();
  check_written(written, writer->GetErrorCode());
  if (messages.has_errors()) throw FileError(messages.first_error());
  std::string bytes(writer->GetOutputString(),
                    static_cast<std::size_t>(writer->GetOutputStringLength()));
  restore_image_digits(data_set, bytes);
  file.write(bytes);
  file.commit();
}

}  // namespace funcattn
