#pragma once

// Internal to the contract.

#include <cstdint>

namespace funcattn {

inline constexpr int most_components = 1 << 20;
/// Of a reader with doubles.
inline constexpr std::int64_t largest_exact_integer = std::int64_t{1} << 53;

}  // namespace funcattn
