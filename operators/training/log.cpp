#include "operators/training/log.h"

#include <cerrno>
#include <cstring>
#include <sstream>

#include "core/atomic_file.h"
#include "core/error.h"

namespace funcattn {

namespace {

std::string lines_up_to(const std::string& text, std::int64_t done) {
  std::istringstream lines(text);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    const Json record = Json::parse(line, nullptr, false);
    if (record.is_object() && record.contains("step") && record["step"].is_number_integer() &&
        record["step"].get<std::int64_t>() <= done)
      kept += line + "\n";
  }
  return kept;
}

}  // namespace

TrainingLog::TrainingLog(std::filesystem::path path, std::int64_t done) : path_(std::move(path)) {
  std::error_code ignored;
  const bool continued = done > 0 && std::filesystem::exists(path_, ignored);
  if (continued) write_file_atomically(path_, lines_up_to(read_file(path_), done));
  errno = 0;
  stream_.open(path_, std::ios::binary | (continued ? std::ios::app : std::ios::trunc));
  require_success();
}

void TrainingLog::write(const Json& record) {
  errno = 0;
  stream_ << record.dump() << '\n' << std::flush;
  require_success();
}

void TrainingLog::require_success() {
  if (!stream_)
    throw FileError("cannot write the training log '" + path_.string() +
                    "': " + (errno != 0 ? std::strerror(errno) : "the stream failed"));
}

}  // namespace funcattn
