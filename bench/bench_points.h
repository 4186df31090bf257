#pragma once

#include <cstdint>

#include "operators/operator.h"

// Inputs that bench/eager.py draws bit-equal, so that nothing needs to be handed over.

namespace funcattn {

/// Seeds of the streams of one measurement follow each other.
struct BenchSeeds {
  static constexpr std::uint64_t coordinates = 0, values = 1, query = 2;
};

/// Uniform in [0, 1): element i of the result in row-major order is the upper 24 bits of the i-th
/// number of SplitMix64 (Steele, Lea and Flood 2014) seeded by `seed`, times 2^-24; so every number
/// is exact in float32.
/// @return [rows, columns], float64
Tensor uniform_numbers(std::int64_t rows, std::int64_t columns, std::uint64_t seed);

/// n points in the unit cube with random values and equal weights, as the operator takes them:
/// physical units, float64, a batch of one.
PointSamples bench_points(const Operator& op, std::int64_t points, std::uint64_t seed);

/// A smooth function of the coordinates to train on: output j is the sum over the axes a of
/// sin(3 x_a + a + j).
/// @param coordinates [n,D]
/// @return [n,outputs], float64
Tensor bench_targets(const Tensor& coordinates, std::int64_t outputs);

}  // namespace funcattn
