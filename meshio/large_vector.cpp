#include "meshio/large_vector.h"

#include <sys/mman.h>

#include <cstdint>

namespace funcattn {

Eigen::VectorXd large_vector(Eigen::Index size) {
  Eigen::VectorXd numbers(size);
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t page = std::uintptr_t{1} << 21;
  const auto begin = reinterpret_cast<std::uintptr_t>(numbers.data());
  const std::uintptr_t end = begin + static_cast<std::uintptr_t>(size) * sizeof(double);
  const std::uintptr_t first = (begin + page - 1) / page * page;
  const std::uintptr_t last = end / page * page;
  // Only advice: a system without large pages goes on as it would.
  if (first < last) (void)::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
  return numbers;
}

}  // namespace funcattn
