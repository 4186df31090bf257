#include "meshio/file_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/error.h"

namespace funcattn {

FileBytes::FileBytes(const std::filesystem::path& path) {
  const auto refuse = [&](const std::string& why) {
    if (descriptor_ >= 0) ::close(descriptor_);
    throw FileError("cannot read '" + path.string() + "': " + why);
  };
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0)
    refuse(errno == ENOENT ? std::string("no such file") : std::string(std::strerror(errno)));
  if (S_ISDIR(status.st_mode)) refuse("it is a folder; give a file");
  if (!S_ISREG(status.st_mode)) refuse("it is not a regular file");
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) refuse(std::strerror(errno));
  size_ = static_cast<std::uint64_t>(status.st_size);
  if (size_ == 0) refuse("the file is empty");
}

FileBytes::~FileBytes() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::string FileBytes::read(std::uint64_t offset, std::uint64_t count) const {
  if (offset >= size_) return {};
  std::string bytes(static_cast<std::size_t>(std::min(count, size_ - offset)), '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::pread(descriptor_, bytes.data() + done, bytes.size() - done,
                                static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

}  // namespace funcattn
