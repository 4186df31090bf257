#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>

namespace funcattn::testing {

/// While it lives, the process gets no more than so many bytes beyond what it has.
class TightMemory {
 public:
  explicit TightMemory(rlim_t bytes) {
    long pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    if (::getrlimit(RLIMIT_AS, &before_) != 0) throw std::runtime_error("getrlimit");
    struct rlimit tight = before_;
    tight.rlim_cur =
        static_cast<rlim_t>(pages) * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + bytes;
    if (::setrlimit(RLIMIT_AS, &tight) != 0) throw std::runtime_error("setrlimit");
  }
  ~TightMemory() { ::setrlimit(RLIMIT_AS, &before_); }
  TightMemory(const TightMemory&) = delete;
  TightMemory& operator=(const TightMemory&) = delete;

 private:
  struct rlimit before_ {};
};

}  // namespace funcattn::testing
