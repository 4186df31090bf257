#include "operators/training/trainer.h"

#include <ATen/Parallel.h>
#include <malloc.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <set>

#include "core/atomic_file.h"
#include "operators/safetensors.h"
#include "operators/training/objective.h"
#include "tests/operators/training/fixtures.h"

namespace funcattn {
namespace {

using test::message_of;
using test::pointwise_operator;
using test::pointwise_samples;

namespace fs = std::filesystem;

class Trainer : public test::FolderTest {
 protected:
  Trainer() {
    options_.steps = 30;
    options_.schedule.kind = ScheduleKind::constant;
    options_.schedule.peak = 0.02;
    options_.log_every = 10;
    options_.best_path = folder_ / "best.safetensors";
    options_.last_path = folder_ / "last.safetensors";
    options_.log_path = folder_ / "log.jsonl";
  }

  TrainerResult train_on(Operator& op, const std::vector<Sample>& samples,
                         const std::vector<Sample>& validation = {},
                         const std::function<void(const TrainerProgress&)>& report = {}) {
    const auto source = make_dataset_source(samples, 3, 1);
    return train(op, *source, validation, options_, Json{{"task", "test"}, {"seed", 1}}, report);
  }

  std::vector<Json> log_records() const {
    std::ifstream stream(options_.log_path);
    std::vector<Json> records;
    for (std::string line; std::getline(stream, line);) records.push_back(Json::parse(line));
    return records;
  }

  static Json training_of(const fs::path& path) {
    return Json::parse(*read_safetensors(path).find_metadata("training"));
  }

  static Tensor weight_of(const fs::path& path, const std::string& name) {
    return *read_safetensors(path).find(name);
  }

  TrainerOptions options_;
};

TEST_F(Trainer, LearnsASmoothFunction) {
  options_.steps = 600;
  options_.schedule.kind = ScheduleKind::one_cycle;
  Operator op = pointwise_operator();
  const auto samples = pointwise_samples(12);
  const TrainerResult result = train_on(op, samples, pointwise_samples(4, 900));
  EXPECT_TRUE(result.completed);
  EXPECT_EQ(result.steps, 600);
  EXPECT_LT(result.final_loss, 0.01);
  EXPECT_LT(result.best_validation, 0.02);
  EXPECT_GT(log_records().front()["loss"].get<double>(), 10 * result.final_loss);
}

TEST_F(Trainer, WritesTheLogAndTheRecord) {
  options_.validate_every = 15;
  Operator op = pointwise_operator();
  std::vector<std::int64_t> reported;
  const TrainerResult result =
      train_on(op, pointwise_samples(7), pointwise_samples(2, 900),
               [&](const TrainerProgress& progress) { reported.push_back(progress.step); });
  EXPECT_EQ(reported, (std::vector<std::int64_t>{10, 15, 20, 30}));

  const auto records = log_records();
  ASSERT_EQ(records.size(), 4u);
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i]["step"], reported[i]);
    EXPECT_EQ(records[i]["lr"], 0.02);
    EXPECT_GT(records[i]["grad_norm"].get<double>(), 0.0);
    EXPECT_GT(records[i]["seconds"].get<double>(), 0.0);
    EXPECT_EQ(records[i].contains("validation"), reported[i] % 15 == 0);
  }
  EXPECT_EQ(records[3]["loss"].get<double>(), result.final_loss);

  for (const Json& record : {op.training(), training_of(options_.last_path)}) {
    EXPECT_EQ(record["task"], "test");
    EXPECT_EQ(record["seed"], 1);
    EXPECT_EQ(record["steps"], 30);
    EXPECT_EQ(record["completed"], true);
    EXPECT_EQ(record["final_loss"].get<double>(), result.final_loss);
    EXPECT_EQ(record["best_validation"].get<double>(), result.best_validation);
    EXPECT_EQ(record["best_step"], result.best_step);
    EXPECT_EQ(record["threads"], at::get_num_threads());
    EXPECT_EQ(record["options"]["loss"], "mse");
    EXPECT_EQ(record["options"]["optimiser"]["beta2"], 0.999);
    EXPECT_EQ(record["options"]["schedule"]["peak"], 0.02);
  }
  EXPECT_TRUE(test::bit_equal(weight_of(options_.last_path, "out_weight"),
                              op.model().named_parameters()["out_weight"].detach()));
}

TEST_F(Trainer, ReportsTheMeanOverSamplesNotOverBatches) {
  // With a rate this small the weights stay; 7 samples in batches of 3, 3 and 1.
  options_.schedule.peak = 1e-30;
  options_.steps = 3;
  Operator op = pointwise_operator(torch::kFloat64);
  const auto samples = pointwise_samples(7);
  const TrainerResult result = train_on(op, samples, samples);
  EXPECT_NEAR(result.final_loss, result.best_validation, 1e-13);
}

TEST_F(Trainer, ClipsTheGradientOfEveryStep) {
  // AdamW does not see the length of a constant gradient, but does that of a changing one.
  const auto weights_after = [&](double clip) {
    options_.clip_norm = clip;
    options_.log_path = folder_ / "log.jsonl";
    Operator op = pointwise_operator(torch::kFloat64);
    train_on(op, pointwise_samples(7));
    return op.model().named_parameters()["hidden_weight"].detach().clone();
  };
  const Tensor unclipped = weights_after(0);
  EXPECT_TRUE(torch::equal(weights_after(1e6), unclipped));
  EXPECT_FALSE(torch::allclose(weights_after(0.05), unclipped, 1e-4, 1e-4));
  const auto records = log_records();
  EXPECT_GT(records[0]["grad_norm"].get<double>(), 0.05);  // Measured before clipping.
}

TEST_F(Trainer, WithoutValidationBestIsTheLastOperator) {
  Operator op = pointwise_operator();
  const TrainerResult result = train_on(op, pointwise_samples(7));
  EXPECT_TRUE(std::isnan(result.best_validation));
  EXPECT_EQ(result.best_step, 0);
  EXPECT_TRUE(test::bit_equal(weight_of(options_.best_path, "out_weight"),
                              weight_of(options_.last_path, "out_weight")));
  EXPECT_FALSE(training_of(options_.best_path).contains("best_validation"));
}

TEST_F(Trainer, HandsOnTheAveragedWeights) {
  options_.average_decay = 0.7;
  options_.state_path = folder_ / "state.safetensors";
  options_.validate_every = 30;
  Operator op = pointwise_operator(torch::kFloat64);
  const auto weights = [&] {
    return op.model().named_parameters()["hidden_weight"].detach().clone();
  };
  Tensor expected = weights();
  std::int64_t steps = 0;
  const auto take = [&](const Tensor& now) {
    const double t = static_cast<double>(++steps);
    const double decay = std::min(0.7, (1 + t) / (10 + t));
    expected = decay * expected + (1 - decay) * now;
  };
  options_.should_stop = [&] {
    take(weights());
    return false;
  };
  const auto validation = pointwise_samples(2, 900);
  const TrainerResult result = train_on(op, pointwise_samples(7), validation);
  // The last step is not asked about; its own weights are in the state.
  const Tensor last = weight_of(options_.state_path, "weights.hidden_weight");
  take(last);
  ASSERT_EQ(steps, 30);
  EXPECT_FALSE(torch::allclose(last, expected, 1e-3, 1e-3));
  EXPECT_TRUE(torch::allclose(weights(), expected, 1e-12, 1e-12));
  for (const fs::path& path : {options_.best_path, options_.last_path})
    EXPECT_TRUE(test::bit_equal(weight_of(path, "hidden_weight"), weights())) << path;
  EXPECT_TRUE(test::bit_equal(weight_of(options_.state_path, "average.hidden_weight"), weights()));
  EXPECT_EQ(result.best_validation, Objective(op, options_.loss).mean_loss(validation));
  EXPECT_EQ(op.training()["options"]["optimiser"]["average_decay"], 0.7);
}

TEST_F(Trainer, ANaNScoreIsNeverBestAndIsNullInTheLog) {
  options_.validate_every = 10;
  Operator op = pointwise_operator();
  auto validation = pointwise_samples(2, 900);
  const TrainerResult result =
      train_on(op, pointwise_samples(7), validation, [&](const TrainerProgress& progress) {
        if (progress.step == 10) validation[1].targets.fill_(std::nan(""));
        if (progress.step == 20) {
          ASSERT_TRUE(progress.validation.has_value());
          EXPECT_TRUE(std::isnan(*progress.validation));
        }
      });
  EXPECT_EQ(result.best_step, 10);
  EXPECT_TRUE(std::isfinite(result.best_validation));
  EXPECT_EQ(training_of(options_.best_path)["steps"], 10);
  EXPECT_TRUE(log_records()[1]["validation"].is_null());

  fs::remove(options_.best_path);
  const TrainerResult never = train_on(op, pointwise_samples(7), validation);
  EXPECT_TRUE(std::isnan(never.best_validation));
  EXPECT_EQ(never.best_step, 0);
  EXPECT_FALSE(fs::exists(options_.best_path));
}

TEST_F(Trainer, ANonFiniteLossNamesTheSamplesAndTouchesNothing) {
  Operator op = pointwise_operator();
  train_on(op, pointwise_samples(7));
  const std::string best = read_file(options_.best_path);
  const std::string last = read_file(options_.last_path);
  const Tensor before = op.model().named_parameters()["out_weight"].detach().clone();

  auto samples = pointwise_samples(2);
  samples[1].targets[0].fill_(std::numeric_limits<double>::infinity());
  EXPECT_EQ(message_of<NumericError>([&] { train_on(op, samples); }),
            "training stopped at step 1: the loss is not finite for 'sample1'; look for "
            "non-finite or huge values there, or lower the learning rate");
  EXPECT_EQ(read_file(options_.best_path), best);
  EXPECT_EQ(read_file(options_.last_path), last);
  EXPECT_TRUE(torch::equal(op.model().named_parameters()["out_weight"].detach(), before));
}

TEST_F(Trainer, NaNAtMaskedPointsIsNoFault) {
  Operator op = pointwise_operator();
  auto samples = pointwise_samples(4);
  for (auto& sample : samples) {
    sample.source.weights[1].fill_(0);
    sample.source.values[1].fill_(std::nan(""));
    sample.targets[1].fill_(std::nan(""));
  }
  EXPECT_TRUE(std::isfinite(train_on(op, samples).final_loss));
}

TEST_F(Trainer, ANonFiniteGradientNamesTheParameter) {
  const auto model = std::make_shared<test::PointwiseModel>();
  model->poison_gradient();
  Operator op(model, test::pointwise_contract());
  const Tensor before = model->named_parameters()["out_weight"].detach().clone();
  const std::string message = message_of<NumericError>([&] { train_on(op, pointwise_samples(2)); });
  EXPECT_CONTAINS(message, "training stopped at step 1: the gradient of 'poisoned' is not finite");
  EXPECT_CONTAINS(message, "sample0");
  EXPECT_TRUE(torch::equal(model->named_parameters()["out_weight"].detach(), before));
  EXPECT_FALSE(fs::exists(options_.last_path));
}

TEST_F(Trainer, WeightsThatAreNotFiniteReachNoFile) {
  options_.schedule.peak = 1e300;  // The first update overflows float32.
  options_.steps = 1;
  Operator op = pointwise_operator();
  EXPECT_CONTAINS(message_of<NumericError>([&] { train_on(op, pointwise_samples(2)); }),
                  "training stopped after step 1: the weights of ");
  EXPECT_FALSE(fs::exists(options_.last_path));
  EXPECT_FALSE(fs::exists(options_.best_path));
}

TEST_F(Trainer, LeavesTheProcessAndTheModelAsFound) {
  Operator op = pointwise_operator();
  op.model().eval();
  auto generator = at::globalContext().defaultGenerator(torch::kCPU);
  const Tensor random_before = generator.get_state();
  const int threads = at::get_num_threads();
  {
    const torch::NoGradGuard no_grad;
    train_on(op, pointwise_samples(7), pointwise_samples(2, 900));
    EXPECT_FALSE(at::GradMode::is_enabled());
  }
  EXPECT_TRUE(at::GradMode::is_enabled());
  EXPECT_TRUE(torch::equal(generator.get_state(), random_before));
  EXPECT_EQ(at::get_num_threads(), threads);
  EXPECT_EQ(torch::get_default_dtype(), caffe2::TypeMeta::Make<float>());
  EXPECT_FALSE(op.model().is_training());
  std::set<const void*> storages;
  for (const auto& item : op.model().named_parameters()) {
    EXPECT_TRUE(storages.insert(item.value().storage().data()).second) << item.key();
    EXPECT_FALSE(item.value().grad().defined()) << item.key();
    EXPECT_TRUE(item.value().requires_grad()) << item.key();
  }
}

TEST_F(Trainer, MemoryLevelsOff) {
  options_.steps = 4000;
  options_.log_path.clear();
  options_.log_every = 1000;
  Operator op = pointwise_operator();
  std::vector<std::size_t> in_use;
  train_on(op, pointwise_samples(7), pointwise_samples(2, 900),
           [&](const TrainerProgress&) { in_use.push_back(::mallinfo2().uordblks); });
  ASSERT_EQ(in_use.size(), 4u);
  EXPECT_LT(in_use[3], in_use[0] + 100000);
}

TEST_F(Trainer, AFullDiskUnderTheLogIsAnError) {
  options_.log_path = "/dev/full";
  Operator op = pointwise_operator();
  EXPECT_EQ(message_of<FileError>([&] { train_on(op, pointwise_samples(2)); }),
            "cannot write the training log '/dev/full': No space left on device");
  options_.log_path = folder_ / "missing" / "log.jsonl";
  EXPECT_CONTAINS(message_of<FileError>([&] { train_on(op, pointwise_samples(2)); }),
                  "No such file or directory");
}

TEST_F(Trainer, RefusesContradictoryOptions) {
  const auto message = [&](const std::function<void(TrainerOptions&)>& change) {
    TrainerOptions changed = options_;
    change(changed);
    return message_of<UsageError>([&] { changed.validate(); });
  };
  EXPECT_EQ(message([](auto& o) { o.steps = 0; }), "training: steps is 0, expected 1 or more");
  EXPECT_EQ(message([](auto& o) { o.log_every = 0; }),
            "training: log_every is 0, expected 1 or more");
  EXPECT_EQ(message([](auto& o) { o.beta2 = 1.0; }),
            "training: beta2 is 1, expected 0 or more and less than 1");
  EXPECT_EQ(message([](auto& o) { o.clip_norm = -1; }),
            "training: clip_norm is -1, expected 0 or more");
  EXPECT_EQ(message([](auto& o) { o.average_decay = 1; }),
            "training: average_decay is 1, expected 0 or more and less than 1");
  EXPECT_EQ(message([](auto& o) { o.weight_decay = std::nan(""); }),
            "training: weight_decay is nan, expected 0 or more");
  EXPECT_CONTAINS(message([](auto& o) { o.schedule.peak = 0; }), "the learning rate is 0");
  EXPECT_CONTAINS(message([](auto& o) { o.resume = true; }), "resume needs state_path");
  EXPECT_CONTAINS(message([](auto& o) { o.best_path = o.last_path; }),
                  "best_path and last_path are both");
  Operator op = pointwise_operator();
  const auto source = make_dataset_source(pointwise_samples(2), 1, 0);
  EXPECT_EQ(message_of<UsageError>([&] { train(op, *source, {}, options_, Json("text"), {}); }),
            "training: the summary is JSON of type string, expected an object");
}

}  // namespace
}  // namespace funcattn
