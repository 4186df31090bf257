#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "plugin/stage.h"

namespace funcattn {

/// What tells one state of a file from another without reading it. A file that is replaced (as
/// operator files are: written beside, then renamed) or written to differs in at least one.
struct FileState {
  std::int64_t size = -1;  ///< -1: there is no such file.
  std::int64_t modified_ns = 0;
  std::uint64_t identity = 0;  ///< Device and inode.
};
bool operator==(const FileState& left, const FileState& right);
inline bool operator!=(const FileState& left, const FileState& right) {
  return !(left == right);
}

FileState state_of(const std::filesystem::path& file);

/// The stage of an operator file, shared by everybody in the process who holds the one of the same
/// state of the same file: a pipeline of many filters keeps the weights once. Nothing is kept once
/// the last holder lets go. Throws as the constructor of OperatorStage does. May be called from
/// several threads.
std::shared_ptr<const OperatorStage> shared_stage(const std::filesystem::path& operator_file);

}  // namespace funcattn
