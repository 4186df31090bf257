#include <c10/core/InferenceMode.h>

#include "bench/bench_points.h"
#include "bench/commands.h"
#include "bench/measurement.h"
#include "core/atomic_file.h"
#include "operators/operator_file.h"
#include "operators/threads.h"

namespace funcattn {

namespace {

/// The result as raw little-endian float32, [points, outputs].
void write_raw(const std::filesystem::path& path, const Tensor& result) {
  const Tensor values = result.to(torch::kFloat32).contiguous();
  write_file_atomically(path,
                        std::string(static_cast<const char*>(values.data_ptr()), values.nbytes()));
}

class InferenceCommand : public Command {
 public:
  std::string name() const override { return "inference"; }
  std::string summary() const override { return "time and memory of Operator::apply"; }
  std::vector<std::string> examples() const override { return {}; }

  void describe(OptionTable& table) override {
    table.value("operator", operator_, "operator file").required();
    table.value("points", points_, "random points in the unit cube").at_least(1);
    table.value("seed", seed_, "of the points");
    table.value("output,o", output_, "file for the result, raw float32").default_text("none");
    declare_threads(table, threads_);
    declare_repeats(table, repeats_);
  }

  int run(Console& console) override {
    const Operator op = load_operator(operator_);
    op.model().eval();
    const ThreadScope threads(threads_);
    const c10::InferenceMode inference;
    const PointSamples source = bench_points(op, points_, seed_);
    const PointSamples query = op.model().separates_query()
                                   ? bench_points(op, points_, seed_ + BenchSeeds::query)
                                   : source;
    const PeakMemory memory;
    Tensor result;
    const Timings timings = measure(repeats_, [&] {
      result = Tensor();
      result = op.apply(source, query);
    });
    const std::int64_t peak = memory.bytes();
    if (!output_.empty()) write_raw(output_, result);
    console.print_json(
        {{"what", "inference"},
         {"points", points_},
         {"threads", threads.threads()},
         {"dtype", c10::toString(op.dtype())},
         {"seconds", timings.to_json()},
         {"microseconds_per_point", 1e6 * timings.best() / static_cast<double>(points_)},
         {"peak_bytes", peak},
         {"start_bytes", memory.start_bytes()},
         {"root_mean_square", result.to(torch::kFloat64).square().mean().sqrt().item<double>()},
         {"model", op.model().config().to_json()}});
    return 0;
  }

 private:
  std::filesystem::path operator_;
  std::filesystem::path output_;
  std::int64_t points_ = 16384;
  std::uint64_t seed_ = 0;
  int threads_ = 0;
  RepeatOptions repeats_;
};

}  // namespace

std::unique_ptr<Command> make_inference_command() {
  return std::make_unique<InferenceCommand>();
}

}  // namespace funcattn
