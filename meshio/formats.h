#pragma once

#include <vtkDataObject.h>
#include <vtkSmartPointer.h>

#include <filesystem>
#include <string>
#include <vector>

#include "meshio/file_bytes.h"
#include "meshio/reader.h"
#include "meshio/writer.h"

namespace funcattn {

/// All that reading and writing need to know about a format; a new one is one more entry of the
/// table in formats.cpp. The functions throw DataError, FileError or UsageError without the name of
/// the file.
struct FormatSupport {
  FileFormat format;
  /// As signature_of() gives them; none where the content has no mark.
  std::vector<std::string> signatures;
  /// Class of data that the format can hold, as for vtkObject::IsA.
  const char* data_class;
  vtkSmartPointer<vtkDataObject> (*read)(const std::filesystem::path& path,
                                         const ReadOptions& options);
  /// Null where a file holds one step at most, whose time stands in its data.
  std::vector<double> (*time_steps)(const std::filesystem::path& path);
  /// Null for formats that are only read. Gets data that passed check_writable().
  void (*write)(vtkDataObject* data, const std::filesystem::path& path,
                const WriteOptions& options);
};

const std::vector<FormatSupport>& format_table();

/// Entry for the extension of `path`, in any case; null if there is none.
const FormatSupport* find_format(const std::filesystem::path& path);

/// Entry for the content of the file, or for its extension where the content has no mark. Throws
/// DataError if there is none.
const FormatSupport& format_of(const std::filesystem::path& path);

/// ".vti, .vtk, ..." for messages.
std::string known_extensions();
std::string writable_extensions();

}  // namespace funcattn
