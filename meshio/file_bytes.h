#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace funcattn {

/// Random access to the bytes of a regular file, for checks that need not hold all of it.
class FileBytes {
 public:
  /// Throws FileError if the file is missing, a folder or otherwise not a regular file, unreadable
  /// or empty.
  explicit FileBytes(const std::filesystem::path& path);
  ~FileBytes();
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  std::uint64_t size() const { return size_; }

  /// `count` bytes from `offset` on, or fewer at the end of the file.
  std::string read(std::uint64_t offset, std::uint64_t count) const;

 private:
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace funcattn
