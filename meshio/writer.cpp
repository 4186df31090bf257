#include "meshio/writer.h"

#include <unistd.h>
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkFieldData.h>
#include <vtkImageData.h>
#include <vtkMatrix3x3.h>
#include <vtkPointData.h>
#include <vtkPointSet.h>
#include <vtkPoints.h>
#include <vtkRectilinearGrid.h>

#include <limits>
#include <new>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/json.h"
#include "meshio/data_set_check.h"
#include "meshio/formats.h"

namespace funcattn {

namespace {

/// Calls `visit(array, description)` for all numbers of a data set, coordinates included.
template <class Visit>
void for_each_array(vtkDataSet* data, const Visit& visit) {
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

/// VTK writes names into XML as they are, and then cannot read the file.
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

/// What the legacy format would lose without a word.
void refuse_legacy_losses(vtkDataSet* data) {
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

std::string unwritable(const Mesh& mesh, const FormatSupport& support) {
  std::string suitable;
  for (const FormatSupport& other : format_table())
    if (other.format.writable && mesh.vtk()->IsA(other.data_class))
      suitable += (suitable.empty() ? "" : " or ") + other.format.extension;
  return "the mesh is a " + std::string(mesh.vtk()->GetClassName()) + ", which " +
         support.format.extension + " cannot hold; use " + suitable;
}

void write_checked(const Mesh& mesh, const FormatSupport& support,
                   const std::filesystem::path& path, const WriteOptions& options) {
  vtkDataSet* data = mesh.vtk();
  if (!data->IsA(support.data_class)) throw UsageError(unwritable(mesh, support));
  check_arrays(data);
  check_cells(data);
  if (options.encoding == Encoding::ascii) refuse_non_finite(data);
  if (support.format.extension == ".vtk")
    refuse_legacy_losses(data);
  else
    refuse_xml_names(data);

  // Writers set up an information pass on their input: they get a copy that shares the data.
  const auto copy = vtkSmartPointer<vtkDataSet>::Take(data->NewInstance());
  copy->ShallowCopy(data);
  AtomicFile file(path);  // First, so that a bad target is found before the work.
  VtkMessages messages;
  const std::string bytes = support.write(copy, options, messages);
  if (messages.has_errors()) throw FileError(messages.first_error());
  file.write(bytes);
  file.commit();
}

}  // namespace

void write_mesh(const Mesh& mesh, const std::filesystem::path& path, const WriteOptions& options) {
  const std::string failed = "cannot write '" + path.string() + "': ";
  const FormatSupport* support = find_format(path);
  if (!support)
    throw UsageError(failed + "the extension '" + path.extension().string() +
                     "' is not known; known: " + known_extensions());
  // Renaming would replace a file that its owner has write-protected.
  if (::access(path.c_str(), F_OK) == 0 && ::access(path.c_str(), W_OK) != 0)
    throw FileError(failed + "the file is write-protected");
  try {
    write_checked(mesh, *support, path, options);
  } catch (const UsageError& error) {
    throw UsageError(failed + error.what());
  } catch (const Error& error) {
    const std::string message = error.what();
    throw FileError(message.rfind(failed, 0) == 0 ? message : failed + message);
  } catch (const std::bad_alloc&) {
    throw FileError(failed + "there is not enough memory");
  } catch (const std::exception& error) {
    throw FileError(failed + error.what());
  }
}

}  // namespace funcattn
