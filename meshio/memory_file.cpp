#include "meshio/memory_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.h"

namespace funcattn {

MemoryFile::MemoryFile(std::string_view bytes)
    : descriptor_(::memfd_create("funcattn", MFD_CLOEXEC)) {
  while (descriptor_ >= 0 && !bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  if (descriptor_ >= 0 && bytes.empty()) return;
  const std::string why = std::strerror(errno);
  if (descriptor_ >= 0) ::close(descriptor_);
  throw FileError("there is no memory for a cleaned copy of it: " + why);
}

MemoryFile::~MemoryFile() {
  ::close(descriptor_);
}

}  // namespace funcattn
