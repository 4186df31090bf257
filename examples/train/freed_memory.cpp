#include "examples/train/freed_memory.h"

#include <cstdlib>
#include <cstring>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace funcattn {

#ifdef __GLIBC__
namespace {

constexpr int block = 1 << 30;  ///< Bytes; larger buffers are still the system's own.
constexpr int margin =
    64 << 20;  ///< Bytes by which the heap grows ahead; untouched they cost none.

void set(int parameter, const char* variable, int value) {
  if (std::getenv(variable) == nullptr) ::mallopt(parameter, value);
}

}  // namespace

// Every step of training asks for the same buffers. By default those above 128 kB to 32 MB are
// given back to the system, and each page of the next one costs a fault and is cleared again.
void keep_freed_memory() {
  const char* tunables = std::getenv("GLIBC_TUNABLES");
  if (tunables != nullptr && std::strstr(tunables, "glibc.malloc.") != nullptr) return;
  set(M_MMAP_THRESHOLD, "MALLOC_MMAP_THRESHOLD_", block);
  set(M_TRIM_THRESHOLD, "MALLOC_TRIM_THRESHOLD_", block);
  set(M_TOP_PAD, "MALLOC_TOP_PAD_", margin);
}
#else
void keep_freed_memory() {}
#endif

}  // namespace funcattn
