#include <c10/core/InferenceMode.h>

#include "bench/commands.h"
#include "bench/measurement.h"
#include "operators/threads.h"
#include "operators/torch_compat.h"

namespace funcattn {

namespace {

class MatrixCommand : public Command {
 public:
  std::string name() const override { return "matrix"; }
  std::string summary() const override {
    return "rate of square float32 matrix products by LibTorch's BLAS";
  }
  std::vector<std::string> examples() const override { return {}; }

  void describe(OptionTable& table) override {
    table.value("size", size_, "rows and columns").at_least(1);
    declare_threads(table, threads_);
    declare_repeats(table, repeats_);
  }

  int run(Console& console) override {
    const ThreadScope threads(threads_);
    const c10::InferenceMode inference;
    const Tensor a = torch::linspace(-1, 1, size_ * size_).view({size_, size_});
    const Tensor b = torch::linspace(1, 2, size_ * size_).view({size_, size_});
    Tensor c = torch::empty({size_, size_});
    const Timings timings = measure(repeats_, [&] { at::mm_out(c, a, b); });
    const double operations =
        2.0 * static_cast<double>(size_) * static_cast<double>(size_) * static_cast<double>(size_);
    console.print_json({{"what", "matrix"},
                        {"size", size_},
                        {"threads", threads.threads()},
                        {"seconds", timings.to_json()},
                        {"gflops", 1e-9 * operations / timings.best()}});
    return 0;
  }

 private:
  std::int64_t size_ = 2048;
  int threads_ = 0;
  RepeatOptions repeats_;
};

}  // namespace

std::unique_ptr<Command> make_matrix_command() {
  return std::make_unique<MatrixCommand>();
}

}  // namespace funcattn
