#include <fstream>

#include "core/atomic_file.h"
#include "operators/operator_file.h"
#include "operators/threads.h"
#include "operators/training/training_state.h"
#include "tests/operators/training/fixtures.h"

namespace funcattn {
namespace {

using test::message_of;
using test::pointwise_operator;
using test::pointwise_samples;

namespace fs = std::filesystem;

/// Seven samples in batches of 3, 3 and 1, so that step 20 lies within an epoch.
class Resume : public test::TrainingFolderTest {
 protected:
  TrainerOptions options_in(const std::string& name) {
    TrainerOptions options = files_in(name);
    options.steps = 40;
    options.schedule.kind = ScheduleKind::cosine;
    options.schedule.peak = 0.02;
    options.schedule.warmup_steps = 5;
    options.weight_decay = 0.01;
    options.clip_norm = 0.3;
    options.log_every = 6;
    options.validate_every = 8;
    return options;
  }

  static std::unique_ptr<BatchSource> source() {
    return make_dataset_source(pointwise_samples(7), 3, 42);
  }

  static TrainerResult run(Operator& op, const TrainerOptions& options,
                           const std::function<void(const TrainerProgress&)>& report = {}) {
    const ThreadScope one_thread(1);
    const auto batches = source();
    return train(op, *batches, pointwise_samples(3, 900), options, Json::object(), report);
  }

  /// The run to be continued: stopped after 20 steps.
  static void run_first_half(TrainerOptions options) {
    std::int64_t steps = 0;
    options.should_stop = [&steps] { return ++steps == 20; };
    Operator op = pointwise_operator();
    const TrainerResult result = run(op, options);
    EXPECT_EQ(result.steps, 20);
    EXPECT_FALSE(result.completed);
    EXPECT_EQ(op.training()["completed"], false);
  }

  static std::vector<Json> log_without_seconds(const TrainerOptions& options) {
    std::ifstream stream(options.log_path);
    std::vector<Json> records;
    for (std::string line; std::getline(stream, line);) {
      records.push_back(Json::parse(line));
      records.back().erase("seconds");
    }
    return records;
  }

  static void expect_same_tensors(const fs::path& a, const fs::path& b) {
    const Safetensors expected = read_safetensors(a);
    const Safetensors found = read_safetensors(b);
    ASSERT_EQ(found.tensors.size(), expected.tensors.size());
    for (const auto& [name, tensor] : expected.tensors) {
      ASSERT_NE(found.find(name), nullptr) << name;
      EXPECT_TRUE(test::bit_equal(*found.find(name), tensor)) << name;
    }
  }

  void expect_bit_equal_continuation(double average_decay);

  static void expect_same_run(const TrainerOptions& a, const TrainerOptions& b) {
    expect_same_tensors(a.best_path, b.best_path);
    expect_same_tensors(a.last_path, b.last_path);
    expect_same_tensors(a.state_path, b.state_path);
    EXPECT_EQ(log_without_seconds(a), log_without_seconds(b));
  }
};

void Resume::expect_bit_equal_continuation(double average_decay) {
  TrainerOptions whole = options_in("whole");
  whole.average_decay = average_decay;
  Operator expected = pointwise_operator();
  const TrainerResult expected_result = run(expected, whole);

  TrainerOptions halves = options_in("halves");
  halves.average_decay = average_decay;
  run_first_half(halves);
  EXPECT_TRUE(fs::exists(halves.last_path));
  halves.resume = true;
  Operator found = pointwise_operator();
  const TrainerResult result = run(found, halves);

  EXPECT_TRUE(result.completed);
  EXPECT_EQ(result.steps, expected_result.steps);
  EXPECT_EQ(result.final_loss, expected_result.final_loss);
  EXPECT_EQ(result.best_validation, expected_result.best_validation);
  EXPECT_EQ(result.best_step, expected_result.best_step);
  expect_same_run(whole, halves);
  for (const auto& item : expected.model().named_parameters())
    EXPECT_TRUE(test::bit_equal(found.model().named_parameters()[item.key()].detach(),
                                item.value().detach()))
        << item.key();
}

TEST_F(Resume, AnInterruptedRunContinuesBitEqual) {
  expect_bit_equal_continuation(0);
}

TEST_F(Resume, AnInterruptedRunWithAveragedWeightsContinuesBitEqual) {
  expect_bit_equal_continuation(0.9);
}

TEST_F(Resume, ACrashedRunContinuesFromItsLastState) {
  const TrainerOptions whole = options_in("whole");
  Operator expected = pointwise_operator();
  run(expected, whole);

  TrainerOptions crashed = options_in("crashed");
  crashed.state_every = 7;
  Operator op = pointwise_operator();
  EXPECT_THROW(run(op, crashed,
                   [](const TrainerProgress& progress) {
                     if (progress.step == 30) throw std::runtime_error("crash");
                   }),
               std::runtime_error);
  EXPECT_EQ(read_training_state(crashed.state_path).step, 28);
  // The log is ahead of the state, and its last line was cut off.
  EXPECT_EQ(log_without_seconds(crashed).back()["step"], 30);
  std::ofstream(crashed.log_path, std::ios::app) << "{\"step\": 3";
  crashed.resume = true;
  Operator found = pointwise_operator();
  run(found, crashed);
  expect_same_run(whole, crashed);
}

TEST_F(Resume, AFinishedRunReturnsAtOnce) {
  TrainerOptions options = options_in("run");
  options.average_decay = 0.9;
  Operator op = pointwise_operator();
  const TrainerResult first = run(op, options);
  const std::string last = read_file(options.last_path);
  const std::string log = read_file(options.log_path);
  options.resume = true;
  Operator again = pointwise_operator();
  const TrainerResult second =
      run(again, options, [](const TrainerProgress&) { ADD_FAILURE() << "a step was reported"; });
  EXPECT_TRUE(second.completed);
  EXPECT_EQ(second.final_loss, first.final_loss);
  EXPECT_EQ(second.best_step, first.best_step);
  EXPECT_GE(second.seconds, read_training_state(options.state_path).seconds);
  EXPECT_EQ(read_file(options.last_path), last);
  EXPECT_EQ(read_file(options.log_path), log);
  EXPECT_TRUE(test::bit_equal(again.model().named_parameters()["out_weight"].detach(),
                              op.model().named_parameters()["out_weight"].detach()));
}

TEST_F(Resume, RefusesAnotherCourse) {
  TrainerOptions options = options_in("run");
  run_first_half(options);
  options.resume = true;
  const auto message = [&](const std::function<void(TrainerOptions&)>& change) {
    TrainerOptions changed = options;
    change(changed);
    Operator op = pointwise_operator();
    return message_of<UsageError>([&] { run(op, changed); });
  };
  const std::string begin = "cannot resume from '" + options.state_path.string() + "': ";
  const std::string end = "; give the options of that run, or start a new run";
  EXPECT_EQ(message([](auto& o) { o.steps = 50; }), begin + "steps was 40, now 50" + end);
  EXPECT_EQ(message([](auto& o) { o.schedule.peak = 0.5; }),
            begin + "schedule.peak was 0.02, now 0.5" + end);
  EXPECT_EQ(message([](auto& o) { o.loss = Loss::relative_l2; }),
            begin + "loss was \"mse\", now \"relative_l2\"" + end);
  EXPECT_EQ(message([](auto& o) { o.beta1 = 0.8, o.clip_norm = 1.0; }),
            begin + "optimiser.beta1 was 0.9, now 0.8; optimiser.clip_norm was 0.3, now 1.0" + end);

  Operator wider = pointwise_operator(torch::kFloat32, 16);
  EXPECT_CONTAINS(message_of<UsageError>([&] { run(wider, options); }),
                  "model.width was 8, now 16");
  Operator precise = pointwise_operator(torch::kFloat64);
  EXPECT_CONTAINS(message_of<UsageError>([&] { run(precise, options); }),
                  "dtype was \"float32\", now \"float64\"");
  Operator other_units(std::make_shared<test::PointwiseModel>(),
                       test::pointwise_contract(100.0, 6.0));
  EXPECT_CONTAINS(message_of<UsageError>([&] { run(other_units, options); }), "contract.");
}

TEST(TrainingCourse, StatisticsMayDifferByRounding) {
  // As pieces of samples add up to, in another number of processes.
  const auto course = [](double mean, double scale) {
    Json contract = test::pointwise_contract(mean, scale).to_json();
    return Json{{"contract", contract}, {"optimiser", {{"beta1", 0.9}}}};
  };
  EXPECT_NO_THROW(require_same_course(course(1e-3, 5), course(1e-3 + 4e-9, 5 * (1 + 1e-15)), "s"));
  EXPECT_CONTAINS(message_of<UsageError>(
                      [&] { require_same_course(course(1e-3, 5), course(1e-3 + 1e-7, 5), "s"); }),
                  "contract.output_normalisation.mean.0 was 0.001, now");
  EXPECT_CONTAINS(
      message_of<UsageError>([&] { require_same_course(course(0, 5), course(0, 5 + 1e-6), "s"); }),
      "contract.output_normalisation.scale.0 was 5.0, now");
}

TEST_F(Resume, RefusesAnotherKindOfBatches) {
  struct Generator final : BatchSource {
    Batch next() override { return collate(pointwise_samples(1)); }
    std::int64_t batches_per_epoch() const override { return 0; }
    Json state() const override { return Json{{"kind", "generator"}}; }
    void restore(const Json&) override { ADD_FAILURE() << "restored"; }
  } generator;
  TrainerOptions options = options_in("run");
  run_first_half(options);
  options.resume = true;
  Operator op = pointwise_operator();
  EXPECT_CONTAINS(
      message_of<UsageError>([&] { train(op, generator, {}, options, Json::object(), {}); }),
      "the batch source was \"dataset\", now \"generator\"");
}

TEST_F(Resume, RefusesADamagedState) {
  TrainerOptions options = options_in("run");
  run_first_half(options);
  options.resume = true;
  const std::string intact = read_file(options.state_path);
  const auto message = [&](const std::string& bytes) {
    write_file_atomically(options.state_path, bytes);
    Operator op = pointwise_operator();
    const Tensor before = op.model().named_parameters()["out_weight"].detach().clone();
    const std::string text = message_of<OperatorFileError>([&] { run(op, options); });
    EXPECT_TRUE(torch::equal(op.model().named_parameters()["out_weight"].detach(), before));
    return text;
  };
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{5}, intact.size() / 2, intact.size() - 1})
    EXPECT_CONTAINS(message(intact.substr(0, size)), options.state_path.string());
  for (std::size_t at = 9; at < intact.size(); at += intact.size() / 40) {
    std::string flipped = intact;
    flipped[at] = static_cast<char>(flipped[at] ^ 4);
    EXPECT_CONTAINS(message(flipped), options.state_path.string());
  }
  EXPECT_CONTAINS(message(read_file(options.last_path)),
                  "is not a training state: its format is 'funcattn-operator'");
}

TEST_F(Resume, RefusesAStateWhoseTensorsDoNotFit) {
  TrainerOptions options = options_in("run");
  run_first_half(options);
  options.resume = true;
  const TrainingState intact = read_training_state(options.state_path);
  const auto message = [&](const std::function<void(TrainingState&)>& change) {
    TrainingState changed = intact;
    change(changed);
    write_training_state(options.state_path, changed);
    Operator op = pointwise_operator();
    return message_of<OperatorFileError>([&] { run(op, options); });
  };
  EXPECT_CONTAINS(message([](auto& s) { s.tensors.tensors.back().first = "second_moment.no"; }),
                  "' is missing");
  EXPECT_CONTAINS(message([](auto& s) {
                    s.tensors.tensors.push_back({"weights.surplus", torch::ones({2})});
                  }),
                  "'weights.surplus'");
  EXPECT_CONTAINS(
      message([](auto& s) { s.tensors.tensors[0].second = torch::ones({3}, torch::kFloat64); }),
      "is Double [3], expected Float [8, 2]");
  EXPECT_CONTAINS(message([](auto& s) { s.step = 41; }), "is at step 41, expected 1 to 40");
  EXPECT_CONTAINS(message([](auto& s) { s.batches.erase("position"); }),
                  "is damaged in its batch source");
}

TEST_F(Resume, NeedsItsFiles) {
  TrainerOptions options = options_in("run");
  options.resume = true;
  Operator op = pointwise_operator();
  EXPECT_EQ(message_of<FileError>([&] { run(op, options); }),
            "cannot resume: training state '" + options.state_path.string() +
                "' does not exist; give the state file of an earlier run, or start a new run");
  options.resume = false;
  run_first_half(options);
  options.resume = true;
  fs::remove(options.best_path);
  EXPECT_CONTAINS(message_of<FileError>([&] { run(op, options); }),
                  "best.safetensors', does not exist; put it back");
}

TEST_F(Resume, AStateIsNoOperator) {
  const TrainerOptions options = options_in("run");
  run_first_half(options);
  EXPECT_CONTAINS(message_of<OperatorFileError>([&] { (void)load_operator(options.state_path); }),
                  "it is the state of a training, whose operator is the file without '.state'");
}

TEST_F(Resume, AStateOfAnotherVersionIsRefused) {
  const TrainerOptions options = options_in("run");
  run_first_half(options);
  Safetensors file = read_safetensors(options.state_path);
  for (auto& [key, value] : file.metadata)
    if (key == "format_version") value = "2";
  write_safetensors(options.state_path, file);
  EXPECT_CONTAINS(message_of<OperatorFileError>([&] { read_training_state(options.state_path); }),
                  "has version 2, expected 1");
}

}  // namespace
}  // namespace funcattn
