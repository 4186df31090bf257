#include "bench/bench_points.h"

namespace funcattn {

namespace {

std::uint64_t splitmix64(std::uint64_t state) {
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9ULL;
  state = (state ^ (state >> 27)) * 0x94d049bb133111ebULL;
  return state ^ (state >> 31);
}

}  // namespace

Tensor uniform_numbers(std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
  constexpr std::uint64_t increment = 0x9e3779b97f4a7c15ULL;
  Tensor numbers = torch::empty({rows, columns}, torch::kFloat64);
  double* out = numbers.data_ptr<double>();
  std::uint64_t state = seed;
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    state += increment;
    out[i] = static_cast<double>(splitmix64(state) >> 40) * 0x1p-24;
  }
  return numbers;
}

PointSamples bench_points(const Operator& op, std::int64_t points, std::uint64_t seed) {
  const Contract& contract = op.contract();
  PointSamples samples;
  samples.coordinates =
      uniform_numbers(points, contract.coordinates.dimension(), seed + BenchSeeds::coordinates)
          .unsqueeze(0);
  samples.values =
      uniform_numbers(points, contract.value_components(), seed + BenchSeeds::values).unsqueeze(0);
  samples.weights = torch::ones({1, points}, torch::kFloat64);
  return samples;
}

Tensor bench_targets(const Tensor& coordinates, std::int64_t outputs) {
  const auto options = torch::dtype(torch::kFloat64);
  const Tensor phases = torch::arange(coordinates.size(1), options).unsqueeze(1) +
                        torch::arange(outputs, options).unsqueeze(0);
  return (3 * coordinates.to(torch::kFloat64).unsqueeze(2) + phases).sin().sum(1);
}

}  // namespace funcattn
