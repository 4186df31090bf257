#include "bench/bench_points.h"
#include "bench/commands.h"
#include "bench/measurement.h"
#include "core/error.h"
#include "operators/operator_file.h"
#include "operators/threads.h"
#include "operators/training/trainer.h"

namespace funcattn {

namespace {

/// The same batch for ever.
class FixedBatch : public BatchSource {
 public:
  explicit FixedBatch(Batch batch) : batch_(std::move(batch)) {}
  Batch next() override { return batch_; }
  std::int64_t batches_per_epoch() const override { return 1; }
  Json state() const override { return {{"kind", "fixed"}}; }
  void restore(const Json&) override {}

 private:
  Batch batch_;
};

Batch bench_batch(const Operator& op, std::int64_t points, std::uint64_t seed) {
  Batch batch;
  batch.names = {"bench"};
  batch.source = bench_points(op, points, seed);
  batch.query = batch.source;
  batch.targets =
      bench_targets(batch.source.coordinates.squeeze(0), op.contract().output_components())
          .unsqueeze(0);
  return batch;
}

class TrainingCommand : public Command {
 public:
  std::string name() const override { return "training"; }
  std::string summary() const override { return "time and memory of steps of the trainer"; }
  std::vector<std::string> examples() const override { return {}; }

  void describe(OptionTable& table) override {
    table.value("operator", operator_, "operator file").required();
    table.value("points", points_, "points of the sample").at_least(1);
    table.value("seed", seed_, "of the points");
    table.value("lr", rate_, "learning rate of AdamW").above(0);
    declare_threads(table, threads_);
    declare_repeats(table, repeats_);
  }

  int run(Console& console) override {
    Operator op = load_operator(operator_);
    if (op.model().separates_query())
      throw UsageError("option '--operator': '" + operator_.string() +
                       "' takes separate queries; only self-attention is measured here");
    const ThreadScope threads(threads_);
    FixedBatch batches(bench_batch(op, points_, seed_));
    const PeakMemory memory;
    std::vector<double> losses;
    const Timings timings = train_steps(op, batches, losses);
    console.print_json(
        {{"what", "training"},
         {"points", points_},
         {"threads", threads.threads()},
         {"dtype", c10::toString(op.dtype())},
         {"seconds", timings.to_json()},
         {"microseconds_per_point", 1e6 * timings.best() / static_cast<double>(points_)},
         {"peak_bytes", memory.bytes()},
         {"start_bytes", memory.start_bytes()},
         {"losses", losses},
         {"model", op.model().config().to_json()}});
    return 0;
  }

 private:
  /// The trainer as it is, with a report after every step; a step is what lies between two.
  Timings train_steps(Operator& op, BatchSource& batches, std::vector<double>& losses) const {
    TrainerOptions options;
    options.steps = 1 + repeats_.repeats;
    options.schedule.kind = ScheduleKind::constant;
    options.schedule.peak = rate_;
    options.loss = Loss::relative_l2;
    options.log_every = 1;
    std::vector<double> ends;
    options.should_stop = [&] { return ends.back() > repeats_.seconds; };
    train(op, batches, {}, options, Json::object(), [&](const TrainerProgress& progress) {
      ends.push_back(progress.seconds);
      losses.push_back(progress.loss);
    });
    Timings timings;
    timings.first = ends.front();
    for (std::size_t i = 1; i < ends.size(); ++i) timings.repeats.push_back(ends[i] - ends[i - 1]);
    if (timings.repeats.empty()) timings.repeats.push_back(timings.first);
    return timings;
  }

  std::filesystem::path operator_;
  std::int64_t points_ = 16384;
  std::uint64_t seed_ = 0;
  double rate_ = 1e-4;
  int threads_ = 0;
  RepeatOptions repeats_;
};

}  // namespace

std::unique_ptr<Command> make_training_command() {
  return std::make_unique<TrainingCommand>();
}

}  // namespace funcattn
