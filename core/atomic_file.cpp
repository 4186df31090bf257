#include "core/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "core/error.h"

namespace funcattn {

namespace fs = std::filesystem;

namespace {

std::string reason() {
  return std::strerror(errno);
}

/// What a symbolic link leads to, whether it exists or not; any other path itself. A chain that has
/// no end is left as it is.
fs::path without_links(fs::path path) {
  std::error_code failure;
  for (int i = 0; i < 40 && fs::is_symlink(fs::symlink_status(path, failure)); ++i) {
    const fs::path target = fs::read_symlink(path, failure);
    if (failure) break;
    path = path.parent_path() / target;  // Which is the target where that is absolute.
  }
  return path;
}

}  // namespace

std::string short_stem(const fs::path& path, std::size_t bytes) {
  std::string stem = path.stem().string();
  if (stem.size() <= bytes) return stem;
  const auto inside_character = [&] { return (static_cast<unsigned char>(stem[bytes]) >> 6) == 2; };
  while (bytes > 1 && inside_character()) --bytes;
  return stem.substr(0, bytes);
}

void check_target(const fs::path& given) {
  const std::string failed = "cannot write '" + given.string() + "': ";
  struct stat existing {};
  if (::stat(given.c_str(), &existing) != 0 && (errno == ENAMETOOLONG || errno == ELOOP))
    throw FileError(failed + reason());
  const fs::path path = without_links(given);
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code ignored;
  if (path.filename().empty() || fs::is_directory(path, ignored))
    throw FileError(failed + "it is a folder; give a file name");
  if (!fs::is_directory(folder, ignored))
    throw FileError(failed + "the folder '" + folder.string() +
                    "' does not exist; create it first");
  if (::access(folder.c_str(), W_OK) != 0)
    throw FileError(failed + "the folder '" + folder.string() + "' is write-protected");
  // A device such as /dev/full or /dev/stdout can be written but not replaced by a renamed file.
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored))
    throw FileError(failed + "it is not a regular file; give the name of a file");
  // Renaming would replace a file that its owner has write-protected.
  if (fs::exists(path, ignored) && ::access(path.c_str(), W_OK) != 0)
    throw FileError(failed + "the file is write-protected");
}

AtomicFile::AtomicFile(fs::path path) : path_(without_links(path)) {
  check_target(path);
  const fs::path folder = path_.has_parent_path() ? path_.parent_path() : fs::path(".");
  static std::atomic<unsigned> counter{0};
  for (int attempt = 0; attempt < 100 && descriptor_ < 0; ++attempt) {
    const std::string stem = "." + short_stem(path_, 100) + ".part" + std::to_string(::getpid()) +
                             "-" + std::to_string(counter++);
    // One so long is none by which a writer chooses its format.
    const std::string extension = path_.extension().string();
    temporary_ = folder / (stem + (extension.size() > 100 ? "" : extension));
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
  if (descriptor_ < 0) throw FileError("cannot write '" + path_.string() + "': " + reason());
  note_.emplace(temporary_);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!committed_) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      throw FileError("cannot write '" + path_.string() + "': " + reason());
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void AtomicFile::flush() {
  // A library may have written through the name: open it anew, so that fsync sees that file.
  const int by_name = ::open(temporary_.c_str(), O_RDONLY | O_CLOEXEC);
  if (by_name < 0) throw FileError("cannot write '" + path_.string() + "': " + reason());
  const bool flushed = ::fsync(by_name) == 0;
  const std::string why = flushed ? "" : reason();
  ::close(by_name);
  if (!flushed) throw FileError("cannot write '" + path_.string() + "': " + why);
}

void AtomicFile::commit() {
  flush();
  struct stat existing {};
  if (::stat(path_.c_str(), &existing) == 0) ::chmod(temporary_.c_str(), existing.st_mode & 07777);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0)
    throw FileError("cannot write '" + path_.string() + "': " + reason());
  committed_ = true;
  const fs::path folder = path_.has_parent_path() ? path_.parent_path() : fs::path(".");
  const int folder_descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder_descriptor >= 0) {
    ::fsync(folder_descriptor);
    ::close(folder_descriptor);
  }
}

void write_file_atomically(const fs::path& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

std::string read_file(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    throw FileError("cannot read '" + path.string() + "': no such file");
  if (fs::is_directory(path, ignored))
    throw FileError("cannot read '" + path.string() + "': it is a folder; give a file");
  std::ifstream stream(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = stream ? static_cast<std::streamoff>(stream.tellg()) : -1;
  std::string bytes(size > 0 ? static_cast<std::size_t>(size) : 0, '\0');
  if (size < 0 || !stream.seekg(0) || !stream.read(bytes.data(), size))
    throw FileError("cannot read '" + path.string() + "': " + reason());
  return bytes;
}

}  // namespace funcattn
