// Google Benchmark of matrix products in the shapes of the network and of single blocks, on one
// thread: `./dev bench kernels --benchmark_filter=Block`.
#include <benchmark/benchmark.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>

#include "operators/engine/inference_engine.h"
#include "operators/engine/panel_memory.h"
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

/// Memory of panels, filled with numbers of order one.
AlignedBuffer<float> panel_numbers(int count) {
  AlignedBuffer<float> buffer(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    buffer[static_cast<std::size_t>(i)] = 0.1f * static_cast<float>(i % 19 - 9);
  return buffer;
}

/// A linear map of a panel; the rate counts its multiplications and additions.
void panel_linear(benchmark::State& state) {
  const PanelKernels<float>& kernels = panel_kernels<float>();
  const int outs = static_cast<int>(state.range(0));
  const int ins = static_cast<int>(state.range(1));
  const auto weights = panel_numbers(outs * ins);
  const auto x = panel_numbers(ins * kernels.points);
  auto y = panel_numbers(outs * kernels.points);
  for (auto _ : state) {
    kernels.linear(weights.data(), nullptr, outs, ins, x.data(), nullptr, false, y.data());
    benchmark::DoNotOptimize(y.data());
  }
  state.SetLabel(kernels.name);
  report_rate(state, 2.0 * outs * ins * kernels.points);
}
BENCHMARK(panel_linear)
    ->ArgNames({"outs", "ins"})
    ->Args({128, 128})  // a projection
    ->Args({64, 16})    // logits of a head
    ->Args({16, 64});   // reconstruction of a head

/// Sums over the points of a panel: coefficients of a head, gradient of a projection.
void panel_accumulate(benchmark::State& state) {
  const PanelKernels<float>& kernels = panel_kernels<float>();
  const int rows = static_cast<int>(state.range(0));
  const int columns = static_cast<int>(state.range(1));
  const auto x = panel_numbers(rows * kernels.points);
  const auto by_point = panel_numbers(columns * kernels.points);
  auto sums = panel_numbers(rows * columns);
  for (auto _ : state) {
    kernels.accumulate(x.data(), rows, by_point.data(), columns, sums.data());
    benchmark::DoNotOptimize(sums.data());
  }
  report_rate(state, 2.0 * rows * columns * kernels.points);
}
BENCHMARK(panel_accumulate)->ArgNames({"rows", "columns"})->Args({64, 16})->Args({128, 128});

/// What happens to every feature of a point besides products.
void panel_exponentials(benchmark::State& state) {
  const PanelKernels<float>& kernels = panel_kernels<float>();
  const auto logits = panel_numbers(64 * kernels.points);
  auto x = panel_numbers(64 * kernels.points);
  auto sums = panel_numbers(kernels.points);
  for (auto _ : state) {
    std::copy(logits.data(), logits.data() + logits.size(), x.data());
    kernels.exponentials(x.data(), 64, sums.data());
    benchmark::DoNotOptimize(x.data());
  }
  state.SetItemsProcessed(state.iterations() * kernels.points);
}
BENCHMARK(panel_exponentials);

void panel_normalise(benchmark::State& state) {
  const PanelKernels<float>& kernels = panel_kernels<float>();
  const auto x = panel_numbers(128 * kernels.points);
  auto y = panel_numbers(128 * kernels.points);
  for (auto _ : state) {
    kernels.normalise(x.data(), 128, y.data(), nullptr);
    benchmark::DoNotOptimize(y.data());
  }
  state.SetItemsProcessed(state.iterations() * kernels.points);
}
BENCHMARK(panel_normalise);

void panel_gelu(benchmark::State& state) {
  const PanelKernels<float>& kernels = panel_kernels<float>();
  const auto x = panel_numbers(128 * kernels.points);
  auto y = panel_numbers(128 * kernels.points);
  for (auto _ : state) {
    std::copy(x.data(), x.data() + x.size(), y.data());
    kernels.activate(Activation::gelu, y.data(), 128);
    benchmark::DoNotOptimize(y.data());
  }
  state.SetItemsProcessed(state.iterations() * kernels.points);
}
BENCHMARK(panel_gelu);

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
  const InferenceEngine engine(*model);
  for (auto _ : state) benchmark::DoNotOptimize(engine.predict(samples, samples).data_ptr());
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
