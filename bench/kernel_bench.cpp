// Google Benchmark of matrix products in the shapes of the network and of single blocks, on one
// thread: `./dev bench kernels --benchmark_filter=Block`.
#include <benchmark/benchmark.h>
#include <c10/core/InferenceMode.h>

#include "operators/model.h"
#include "operators/threads.h"

namespace funcattn {

namespace {

void report_rate(benchmark::State& state, double operations) {
  state.counters["FLOP/s"] = benchmark::Counter(
      operations, benchmark::Counter::kIsIterationInvariantRate, benchmark::Counter::kIs1000);
}

void matrix_product(benchmark::State& state) {
  const c10::InferenceMode inference;
  const std::int64_t m = state.range(0);
  const std::int64_t n = state.range(1);
  const std::int64_t k = state.range(2);
  const Tensor a = torch::rand({m, k});
  const Tensor b = torch::rand({k, n});
  Tensor c = torch::empty({m, n});
  for (auto _ : state) {
    at::mm_out(c, a, b);
    benchmark::DoNotOptimize(c.data_ptr());
  }
  report_rate(state, 2.0 * static_cast<double>(m * n * k));
}
// m x n results of k terms. Points are columns where they are many: a tile has 480.
BENCHMARK(matrix_product)
    ->ArgNames({"m", "n", "k"})
    ->Args({2048, 2048, 2048})
    ->Args({128, 480, 128})  // a projection of a tile
    ->Args({480, 128, 128})  // the same, points as rows
    ->Args({64, 480, 16})    // logits of a head; reconstruction has the same size
    ->Args({480, 64, 16})
    ->Args({64, 16, 480})       // coefficients of a head: a sum over the points of a tile
    ->Args({16384, 128, 128});  // a projection of a whole sample

/// A network of one block, lifting and output layer included.
void block(benchmark::State& state, Form form) {
  const c10::InferenceMode inference;
  ModelConfig config;
  config.form = form;
  config.coordinate_dimension = 3;
  config.width = 128;
  config.heads = 8;
  config.basis = 64;
  config.blocks = 1;
  const auto model = make_model(config, torch::kFloat32, 1);
  model->eval();
  const std::int64_t points = state.range(0);
  PointSamples samples;
  samples.coordinates = torch::rand({1, points, 3});
  samples.weights = torch::ones({1, points});
  for (auto _ : state) benchmark::DoNotOptimize(model->predict(samples, samples).data_ptr());
  state.SetItemsProcessed(state.iterations() * points);
}
BENCHMARK_CAPTURE(block, shared_basis_tied, Form::shared_basis_tied)
    ->ArgName("points")
    ->RangeMultiplier(4)
    ->Range(1024, 65536)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(block, shared_basis, Form::shared_basis)
    ->ArgName("points")
    ->Arg(16384)
    ->Unit(benchmark::kMillisecond);

}  // namespace

}  // namespace funcattn

int main(int argc, char** argv) {
  const funcattn::ThreadScope one_thread(1);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
