#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "meshio/mesh.h"

namespace funcattn {

/// A file format, for listings and for choosing a reader or writer by extension.
struct FileFormat {
  std::string extension;  ///< With the dot, lower case.
  std::string description;
  bool readable = true;
  bool writable = true;
};

const std::vector<FileFormat>& file_formats();

/// Reads one data set through VTK. Every event by which VTK signals an error becomes a FileError
/// that names the file, and what VTK leaves silent is checked here: counts against the header,
/// appended blocks against the file's size, connectivity against the number of points, duplicate,
/// unnamed and wrongly sized arrays. Throws FileError.
Mesh read_mesh(const std::filesystem::path& path);

}  // namespace funcattn
