#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace funcattn {

/// Whether all ids of a signed type are in [0, end). Without a branch or a comparison, so that
/// compilers vectorise it for every processor: a number below 0 or above the last one makes the
/// sign bit of one of two terms 1.
template <class Id>
inline bool ids_are_inside(const Id* ids, std::int64_t count, std::int64_t end) {
  const auto last =
      static_cast<Id>(std::min<std::int64_t>(end, std::numeric_limits<Id>::max()) - 1);
  if (last < 0) return count == 0;
  // The difference of a negative id may overflow, which is defined for unsigned numbers.
  using Unsigned = std::make_unsigned_t<Id>;
  Unsigned outside = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto id = static_cast<Unsigned>(ids[i]);
    outside |= id | (static_cast<Unsigned>(last) - id);
  }
  return static_cast<Id>(outside) >= 0;
}

}  // namespace funcattn
