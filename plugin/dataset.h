#pragma once

#include <filesystem>
#include <istream>
#include <vector>

#include "meshio/series.h"

namespace funcattn {

/// Files that one location stands for, one sample each.
struct InputFiles {
  std::filesystem::path location;
  std::vector<TimedFile> files;
  bool is_series = false;  ///< Steps of a .pvd collection.
};

/// A folder (its readable files sorted by name, numbers in names by value, without hidden files and
/// subfolders), a text file (.txt, .lst) with one path per line relative to that file and #
/// comments, a .pvd collection, or a single mesh file. Lists and collections keep their order.
/// Throws FileError if there is none, or a list or collection names a file that is not there.
InputFiles list_input(const std::filesystem::path& location,
                      MissingFiles missing = MissingFiles::refuse);

/// The files of list_input() alone.
std::vector<std::filesystem::path> list_samples(const std::filesystem::path& location);

/// A list as in a text file, with paths relative to the current folder. Throws FileError.
std::vector<std::filesystem::path> read_list(std::istream& stream,
                                             MissingFiles missing = MissingFiles::refuse);

/// Whether the path has wildcards (*, ?, [) and is no file itself.
bool is_pattern(const std::filesystem::path& path);

/// Files and folders that match, sorted with numbers by value. Throws FileError if there is none.
std::vector<std::filesystem::path> match_pattern(const std::filesystem::path& pattern);

}  // namespace funcattn
