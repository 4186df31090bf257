#include "plugin/stage_cache.h"

#include <sys/stat.h>

#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace funcattn {

bool operator==(const FileState& left, const FileState& right) {
  return left.size == right.size && left.modified_ns == right.modified_ns &&
         left.identity == right.identity;
}

FileState state_of(const std::filesystem::path& file) {
  struct stat status = {};
  if (::stat(file.c_str(), &status) != 0) return {};
  FileState state;
  state.size = status.st_size;
  state.modified_ns = status.st_mtim.tv_sec * std::int64_t{1000000000} + status.st_mtim.tv_nsec;
  state.identity = (static_cast<std::uint64_t>(status.st_dev) << 40) ^ status.st_ino;
  return state;
}

namespace {

/// Holds no stage by itself, so that nothing of LibTorch outlives its users.
struct Entry {
  FileState state;
  std::weak_ptr<const OperatorStage> stage;
};

struct Cache {
  std::mutex mutex;
  std::map<std::string, Entry> entries;
};

Cache& cache() {
  static Cache instance;
  return instance;
}

}  // namespace

std::shared_ptr<const OperatorStage> shared_stage(const std::filesystem::path& operator_file) {
  std::error_code failure;
  const std::filesystem::path absolute = std::filesystem::absolute(operator_file, failure);
  const std::string key = failure ? operator_file.string() : absolute.lexically_normal().string();
  const std::lock_guard lock(cache().mutex);
  auto& entries = cache().entries;
  for (auto entry = entries.begin(); entry != entries.end();)
    entry = entry->second.stage.expired() ? entries.erase(entry) : std::next(entry);

  // Taken before reading: a file that changes meanwhile then counts as another one.
  const FileState state = state_of(operator_file);
  const auto known = entries.find(key);
  if (known != entries.end() && known->second.state == state)
    if (auto stage = known->second.stage.lock()) return stage;
  auto stage = std::make_shared<const OperatorStage>(operator_file);
  entries[key] = {state, stage};
  return stage;
}

}  // namespace funcattn
