#pragma once

#include <atomic>
#include <filesystem>

namespace funcattn {

/// Notes that a file or folder is temporary for as long as the object lives, so that a program that
/// a signal ends can remove it. The object itself neither makes nor removes anything.
class TemporaryPath {
 public:
  explicit TemporaryPath(const std::filesystem::path& path);
  ~TemporaryPath();
  TemporaryPath(TemporaryPath&& other) noexcept : slot_(other.slot_) { other.slot_ = nullptr; }
  TemporaryPath& operator=(TemporaryPath&&) = delete;

 private:
  std::atomic<char*>* slot_;
};

/// Removes all files and then all empty folders that are noted at this moment. Safe in a signal
/// handler, after which the process must end: threads that want to note another path wait forever.
void remove_temporary_paths() noexcept;

}  // namespace funcattn
