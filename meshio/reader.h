#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "meshio/mesh.h"
#include "meshio/mesh_tree.h"

namespace funcattn {

/// A file format, for listings.
struct FileFormat {
  std::string extension;  ///< With the dot, lower case.
  std::string description;
  bool readable = true;
  bool writable = true;
  bool has_time = false;  ///< One file can hold several time steps.
  bool is_tree = false;   ///< One file can hold a tree of data sets.
};

const std::vector<FileFormat>& file_formats();

struct ReadOptions {
  /// One of time_steps(); without, the first step of a file that has several.
  std::optional<double> time;
};

/// Reads a file through VTK. The format is what the content says, whatever the extension; the
/// extension decides only where the content has no mark of its own. Every event by which VTK
/// signals an error becomes a FileError that names the file (and the piece of a file of several),
/// and what VTK leaves silent is checked here: counts against the header, appended blocks against
/// the file's size, connectivity against the number of points, duplicate, unnamed and wrongly sized
/// arrays. Throws FileError, also for a time that the file does not have.
MeshTree read_mesh_tree(const std::filesystem::path& path, const ReadOptions& options = {});

/// As read_mesh_tree, for those who need one data set. Throws FileError for a tree that does not
/// have exactly one.
Mesh read_mesh(const std::filesystem::path& path);

/// The times that the file offers, ascending; empty if it says nothing of time. Throws FileError.
std::vector<double> time_steps(const std::filesystem::path& path);

}  // namespace funcattn
