#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/atomic_file.h"

namespace funcattn {

/// A file of several: an index file and a folder of pieces beside it, which appear together or not
/// at all.
///
/// The pieces are written into a hidden folder, while an empty one keeps a name that is free
/// ("wing" for wing.vtm, or "wing-1", ...), also from others that write there at the same time.
/// `commit()` puts the pieces in its place and then replaces the index file, the one step that
/// switches from the old result to the new one. Only then the pieces of the old index file are
/// removed, as far as they lie in such a folder and are named like pieces.
class PieceFolder {
 public:
  /// Throws FileError if nothing can be written there.
  explicit PieceFolder(const std::filesystem::path& index);
  ~PieceFolder();
  PieceFolder(const PieceFolder&) = delete;
  PieceFolder& operator=(const PieceFolder&) = delete;

  /// Where to write the piece of this number.
  std::filesystem::path piece(std::size_t number, const std::string& extension);

  /// The piece's file as the index must name it.
  std::string reference(std::size_t number, const std::string& extension) const;

  /// Throws FileError; the old result then still stands.
  void commit(std::string_view index_content);

 private:
  std::string piece_name(std::size_t number, const std::string& extension) const;

  AtomicFile index_;
  std::filesystem::path parent_;
  std::filesystem::path temporary_;
  std::vector<TemporaryPath> notes_;  ///< Of the folder and the pieces.
  std::string name_;                  ///< Of the folder in the end.
  bool committed_ = false;
};

}  // namespace funcattn
