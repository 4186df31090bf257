#pragma once

#include <filesystem>
#include <vector>

namespace funcattn {

/// Files of a data set, one sample each: a folder (its readable files sorted by name, numbers in
/// names by value, without hidden files and subfolders), a text file (.txt, .lst) with one path per
/// line relative to that file and # comments, a .pvd collection, or a single mesh file. Lists and
/// collections keep their order. Throws FileError if there is none.
std::vector<std::filesystem::path> list_samples(const std::filesystem::path& location);

}  // namespace funcattn
