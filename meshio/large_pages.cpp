#include "meshio/large_pages.h"

#include <sys/mman.h>

#include <cstdint>

namespace funcattn {

void advise_large_pages(const double* begin, const double* end) {
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t page = std::uintptr_t{1} << 21;
  const std::uintptr_t first = (reinterpret_cast<std::uintptr_t>(begin) + page - 1) / page * page;
  const std::uintptr_t last = reinterpret_cast<std::uintptr_t>(end) / page * page;
  // Only advice: a system without large pages goes on as it would.
  if (first < last) (void)::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
}

}  // namespace funcattn
