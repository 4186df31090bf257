#include "meshio/surface_formats.h"

#include <vtkCellData.h>
#include <vtkNew.h>
#include <vtkOBJReader.h>
#include <vtkPolyData.h>
#include <vtkSTLReader.h>

#include <string>

#include "core/error.h"
#include "meshio/checked_read.h"
#include "meshio/file_bytes.h"
#include "meshio/inspection.h"
#include "meshio/memory_file.h"
#include "meshio/trial.h"
#include "meshio/vtk_messages.h"

namespace funcattn {

namespace {

/// VTK's reader of OBJ files numbers groups and materials of the faces only, and so makes arrays
/// that do not fit where there are lines or points as well.
void remove_misfits(vtkPolyData* data) {
  vtkCellData* fields = data->GetCellData();
  for (int i = fields->GetNumberOfArrays(); i-- > 0;)
    if (fields->GetAbstractArray(i)->GetNumberOfTuples() != data->GetNumberOfCells())
      fields->RemoveArray(i);
}

template <class Reader, class Prepare>
vtkSmartPointer<vtkDataObject> read_surface(const std::filesystem::path& path,
                                            const DeclaredContents& declared,
                                            const Prepare& prepare) {
  const VtkMessages messages;
  const vtkNew<Reader> reader;
  messages.observe(reader);
  reader->SetFileName(path.c_str());
  prepare(reader.GetPointer());
  reader->Update();
  remove_misfits(reader->GetOutput());
  return read_and_compare(reader, "vtkPolyData", declared, messages);
}

/// For readers that small mistakes in a file lead out of their memory.
template <class Reader>
vtkSmartPointer<vtkDataObject> read_after_trial(const std::filesystem::path& path,
                                                const std::filesystem::path& folder,
                                                const DeclaredContents& declared) {
  const auto read = [&] { return read_surface<Reader>(path, declared, [](Reader*) {}); };
  require_to_survive(folder, [&] { (void)read(); });
  return read();
}

}  // namespace

vtkSmartPointer<vtkDataObject> read_stl(const std::filesystem::path& path, const ReadOptions&) {
  const DeclaredContents declared = inspect_stl(FileBytes(path));
  return read_surface<vtkSTLReader>(path, declared, [&](vtkSTLReader* reader) {
    // The numbers of the solids, in an array of the cells.
    if (declared.parts > 1) reader->ScalarTagsOn();
  });
}

vtkSmartPointer<vtkDataObject> read_obj(const std::filesystem::path& path, const ReadOptions&) {
  const FileBytes file(path);
  const std::string bytes = file.read(0, file.size());
  const std::string text = without_trailing_comments(bytes);
  const DeclaredContents declared = inspect_obj(text);
  if (text == bytes) return read_after_trial<vtkOBJReader>(path, path.parent_path(), declared);
  const MemoryFile cleaned(text);
  return read_after_trial<vtkOBJReader>(cleaned.path(), path.parent_path(), declared);
}

}  // namespace funcattn
