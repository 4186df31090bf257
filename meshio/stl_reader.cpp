#include <vtkNew.h>
#include <vtkPolyData.h>
#include <vtkSTLReader.h>

#include <cctype>

#include "meshio/checked_read.h"
#include "meshio/file_bytes.h"
#include "meshio/inspection.h"
#include "meshio/memory_file.h"
#include "meshio/signature.h"
#include "meshio/surface_formats.h"
#include "meshio/vtk_messages.h"

namespace funcattn {

namespace {

vtkSmartPointer<vtkDataObject> read_with_vtk(const std::filesystem::path& path,
                                             const DeclaredContents& declared) {
  const VtkMessages messages;
  const vtkNew<vtkSTLReader> reader;
  messages.observe(reader);
  reader->SetFileName(path.c_str());
  // The numbers of the solids, in an array of the cells.
  if (declared.parts > 1) reader->ScalarTagsOn();
  return read_and_compare(reader, "vtkPolyData", declared, messages);
}

}  // namespace

vtkSmartPointer<vtkDataObject> read_stl(const std::filesystem::path& path, const ReadOptions&) {
  const FileBytes file(path);
  const DeclaredContents declared = inspect_stl(file);
  // VTK stumbles at what stands before the text or behind the triangles.
  const auto binary_size = binary_stl_size(file);
  const std::uint64_t end = binary_size.value_or(file.size());
  std::uint64_t begin = 0;
  while (!binary_size && std::isspace(static_cast<unsigned char>(file.read(begin, 1)[0]))) ++begin;
  if (begin == 0 && end == file.size()) return read_with_vtk(path, declared);
  return read_with_vtk(MemoryFile(file.read(begin, end - begin)).path(), declared);
}

}  // namespace funcattn
