#pragma once

#include <vtkAlgorithm.h>
#include <vtkDataSet.h>
#include <vtkSmartPointer.h>

#include <filesystem>
#include <string>
#include <vector>

#include "meshio/inspection.h"
#include "meshio/reader.h"
#include "meshio/vtk_messages.h"
#include "meshio/writer.h"

namespace funcattn {

/// All that reading and writing need to know about a format; a new one is one more entry of the
/// table in formats.cpp.
struct FormatSupport {
  FileFormat format;
  /// Class of data sets that the format can hold, as for vtkObject::IsA.
  const char* data_class;
  /// Checks the file before VTK sees it. Throws DataError.
  DeclaredContents (*inspect)(const FileBytes& file);
  /// A reader set up for the file; what it reports goes to `messages`.
  vtkSmartPointer<vtkAlgorithm> (*make_reader)(const std::string& path,
                                               const VtkMessages& messages);
  /// The content of the file. In memory, because VTK 9.1's XML writers crash on a full disk.
  std::string (*write)(vtkDataSet* data, const WriteOptions& options, const VtkMessages& messages);
};

const std::vector<FormatSupport>& format_table();

/// Entry for the extension of `path`, in any case; null if there is none.
const FormatSupport* find_format(const std::filesystem::path& path);

/// ".vti, .vtk, ..." for messages.
std::string known_extensions();

}  // namespace funcattn
