#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/temporary_paths.h"

namespace funcattn {

/// A file that appears under its name complete or not at all.
///
/// A symbolic link stays, and what it leads to is replaced. Content is written to a temporary name
/// in the same folder, flushed to the disk and renamed by `commit()`; without `commit()` the
/// temporary file is removed and whatever stood under the final name before is untouched.
///
/// Either write through `temporary_path()` with a library of your own, or call `write()`.
class AtomicFile {
 public:
  /// Creates the temporary file, keeping the extension of `path` (some writers choose the format
  /// by it). Throws FileError as check_target() does.
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Where the file appears: behind all links.
  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& temporary_path() const { return temporary_; }

  /// Appends `bytes`. Throws FileError on a full disk or any other failure.
  void write(std::string_view bytes);

  /// Flushes to the disk. Throws FileError.
  void flush();

  /// flush(), and renames. Throws FileError; the old file then still stands.
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  std::optional<TemporaryPath> note_;
  int descriptor_ = -1;
  bool committed_ = false;
};

/// The name of a file without its extension, cut to so many bytes between two characters, for names
/// that are made of it. Most systems end names at 255 bytes.
std::string short_stem(const std::filesystem::path& path, std::size_t bytes);

/// Throws FileError, as AtomicFile does, if no file can be made or replaced under this name: its
/// folder is missing or write-protected, or it is a folder, a device or a write-protected file.
void check_target(const std::filesystem::path& path);

/// Writes `bytes` to `path` through an AtomicFile.
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

/// Whole content of a file. Throws FileError if it is missing, a folder, or unreadable.
std::string read_file(const std::filesystem::path& path);

}  // namespace funcattn
