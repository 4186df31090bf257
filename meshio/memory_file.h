#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace funcattn {

/// Bytes under a name that VTK can open, on no disk.
class MemoryFile {
 public:
  /// Throws FileError if there is no memory for them.
  explicit MemoryFile(std::string_view bytes);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace funcattn
