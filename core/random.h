#pragma once

#include <array>
#include <cstdint>

#include "core/json.h"

namespace funcattn {

/// Random numbers that are the same on every platform and library version (the distributions of
/// the standard library are not) and whose whole state is four words, so that it can be stored and
/// continued: xoshiro256** of Blackman and Vigna (2018), seeded by SplitMix64.
class RandomGenerator {
 public:
  explicit RandomGenerator(std::uint64_t seed);

  std::uint64_t next();
  /// In [0, 1), with 53 random bits.
  double uniform();
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Standard normal. Keeps no second value back, so the state stays complete.
  double normal();
  /// In [0, bound), without bias. @param bound > 0
  std::uint64_t below(std::uint64_t bound);

  /// Array of four unsigned integers.
  Json state() const;
  /// Throws OperatorFileError if `state` is not what state() returns.
  void restore(const Json& state);

 private:
  std::array<std::uint64_t, 4> words_;
};

}  // namespace funcattn
