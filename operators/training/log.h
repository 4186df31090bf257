#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>

#include "core/json.h"

namespace funcattn {

/// Training log: one JSON object per line, each on the disk's side of the process as soon as it is
/// written, so that a run can be watched and a crash loses nothing.
class TrainingLog {
 public:
  /// Starts a new log, or continues one: lines past `done` steps, and a last line that was cut
  /// off, are then removed, so that each step appears once. Throws FileError.
  /// @param done steps done already; 0 starts anew
  TrainingLog(std::filesystem::path path, std::int64_t done);

  /// Numbers that are not finite become null. Throws FileError, on a full disk too.
  void write(const Json& record);

 private:
  void require_success();

  std::filesystem::path path_;
  std::ofstream stream_;
};

}  // namespace funcattn
