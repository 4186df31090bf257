#pragma once

#include <filesystem>
#include <vector>

namespace funcattn {

/// Files of a data set, one sample each, sorted by name: a folder (its readable files, not its
/// subfolders), a text file (.txt, .lst) with one path per line relative to that file, a .pvd
/// collection, or a single mesh file. Throws FileError if there is none.
std::vector<std::filesystem::path> list_samples(const std::filesystem::path& location);

}  // namespace funcattn
