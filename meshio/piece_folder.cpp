#include "meshio/piece_folder.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <set>

#include "core/error.h"
#include "meshio/file_bytes.h"
#include "meshio/xml_tree.h"

namespace funcattn {

namespace fs = std::filesystem;

namespace {

/// Names that are tried for a folder before giving up.
constexpr int kMostFolders = 1000;

/// Room is left for numbers and extensions of pieces and for the name of a temporary folder.
std::string stem_of(const fs::path& index) {
  return short_stem(index, 200);
}

void collect_references(const XmlElement& element, std::set<fs::path>& files) {
  for (const char* key : {"file", "Source"})
    if (const std::string file = element.attribute(key); !file.empty()) files.insert(file);
  for (const XmlElement& child : element.children) collect_references(child, files);
}

/// Files that an index file names; none if it is damaged or no index file.
std::set<fs::path> references(const fs::path& index) {
  std::set<fs::path> files;
  try {
    collect_references(parse_vtk_xml(FileBytes(index)).root, files);
  } catch (const Error&) {
    files.clear();
  }
  return files;
}

/// Files in `folder` or below that index files in it name, relative to it.
std::set<fs::path> all_references(const fs::path& folder) {
  std::set<fs::path> all;
  std::error_code failure;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failure)) {
    const std::string extension = entry.path().extension().string();
    const bool is_index = extension == ".vtm" || extension == ".vtmb" || extension == ".vtpd" ||
                          extension == ".vtpc" || extension == ".pvd" ||
                          extension.rfind(".pvt", 0) == 0;
    std::error_code ignored;
    if (!is_index || !entry.is_regular_file(ignored)) continue;
    for (const fs::path& file : references(entry.path())) all.insert(file.lexically_normal());
  }
  return all;
}

}  // namespace

PieceFolder::PieceFolder(const fs::path& index)
    : index_(index),
      parent_(index_.path().has_parent_path() ? index_.path().parent_path() : fs::path(".")) {
  temporary_ = index_.temporary_path();
  temporary_ += ".pieces";
  std::error_code failure;
  if (!fs::create_directory(temporary_, failure))
    throw FileError("cannot write '" + index.string() + "': " + failure.message());
  notes_.emplace_back(temporary_);
  const std::string stem = stem_of(index_.path());
  name_ = stem;
  // Made at once, so that nobody else takes the name before the pieces are there.
  for (int i = 1; ::mkdir((parent_ / name_).c_str(), 0777) != 0; ++i) {
    const int code = errno;
    if (code != EEXIST || i > kMostFolders) {
      std::error_code ignored;
      fs::remove_all(temporary_, ignored);
      throw FileError("cannot write '" + index.string() + "': " +
                      (code != EEXIST ? std::string(std::strerror(code))
                                      : "there are too many folders '" + stem +
                                            "-N' beside it; remove those that no file uses"));
    }
    name_ = stem + "-" + std::to_string(i);
  }
  notes_.emplace_back(parent_ / name_);
}

PieceFolder::~PieceFolder() {
  std::error_code ignored;
  if (committed_) return;
  fs::remove_all(temporary_, ignored);
  fs::remove(parent_ / name_, ignored);  // Empty, unless the pieces have moved there.
}

std::string PieceFolder::piece_name(std::size_t number, const std::string& extension) const {
  return stem_of(index_.path()) + "_" + std::to_string(number) + extension;
}

fs::path PieceFolder::piece(std::size_t number, const std::string& extension) {
  const fs::path file = temporary_ / piece_name(number, extension);
  notes_.emplace_back(file);
  return file;
}

std::string PieceFolder::reference(std::size_t number, const std::string& extension) const {
  return name_ + "/" + piece_name(number, extension);
}

void PieceFolder::commit(std::string_view index_content) {
  const auto old_pieces =
      fs::exists(index_.path()) ? references(index_.path()) : std::set<fs::path>();
  index_.write(index_content);
  // Here rather than in between, so that little can happen between the two renamings.
  index_.flush();
  std::error_code failure;
  fs::rename(temporary_, parent_ / name_, failure);
  if (failure)
    throw FileError("cannot write '" + (parent_ / name_).string() + "': " + failure.message());
  temporary_ = parent_ / name_;
  index_.commit();
  committed_ = true;

  // A copy of the old index may still name its pieces.
  const std::set<fs::path> in_use = all_references(parent_);
  const std::string stem = stem_of(index_.path());
  for (const fs::path& file : old_pieces) {
    if (in_use.count(file.lexically_normal()) > 0) continue;
    const std::string folder = file.parent_path().string();
    const bool ours = (folder == stem || folder.rfind(stem + "-", 0) == 0) && folder != name_ &&
                      folder.find('/') == std::string::npos &&
                      file.filename().string().rfind(stem + "_", 0) == 0;
    if (!ours) continue;
    fs::remove(parent_ / file, failure);
    fs::remove(parent_ / folder, failure);  // Succeeds with the last piece only.
  }
}

}  // namespace funcattn
