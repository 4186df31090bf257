#include <fstream>
#include <optional>

#include "core/atomic_file.h"
#include "operators/safetensors.h"
#include "tests/operators/training/fixtures.h"
#include "tests/support/thread_group.h"

// Training on several processes, for which threads stand here, against the same run in one.

namespace funcattn {
namespace {

using test::pointwise_operator;
using test::pointwise_samples;
using testing::on_good_ranks;
using testing::on_ranks;

namespace fs = std::filesystem;

/// Moves every sample by what it draws, so that the order of draws shows in what is learned.
class Shift final : public Augmentation {
 public:
  Sample apply(const Sample& sample, RandomGenerator& random) const override {
    Sample moved = sample;
    moved.source.coordinates = sample.source.coordinates + 0.1 * random.uniform();
    moved.query = moved.source;
    return moved;
  }
  Json description() const override { return Json{{"kind", "shift"}}; }
};

/// 11 samples in batches of 4, 4 and 3.
class ProcessesTrain : public test::TrainingFolderTest {
 protected:
  TrainerOptions options_in(const std::string& name) {
    TrainerOptions options = files_in(name);
    options.steps = 20;
    options.loss = Loss::relative_l2;
    options.schedule.kind = ScheduleKind::cosine;
    options.schedule.peak = 0.02;
    options.schedule.warmup_steps = 3;
    options.weight_decay = 0.01;
    options.clip_norm = 0.05;
    options.average_decay = 0.8;
    options.log_every = 1;
    options.validate_every = 4;
    return options;
  }

  static std::unique_ptr<BatchSource> batches() {
    return make_dataset_source(pointwise_samples(11), 4, 42, {std::make_shared<Shift>()});
  }

  /// @param group null: one process
  static TrainerResult run(Operator& op, TrainerOptions options, ProcessGroup* group) {
    options.processes = group;
    std::vector<Sample> validation = pointwise_samples(5, 900);
    if (group) {
      const auto [first, last] = Share{group->rank(), group->size()}.of(validation.size());
      validation = {validation.begin() + static_cast<std::ptrdiff_t>(first),
                    validation.begin() + static_cast<std::ptrdiff_t>(last)};
    }
    const auto source = batches();
    return train(op, *source, validation, options, Json::object(), {});
  }

  /// @return the operator of the last rank
  static Operator run_on(int size, const TrainerOptions& options) {
    std::optional<Operator> trained;
    on_good_ranks(size, [&](ProcessGroup& group) {
      Operator op = pointwise_operator(torch::kFloat64);
      run(op, options, &group);
      if (group.rank() == size - 1) trained = op;
    });
    return *trained;
  }

  static std::vector<Json> log_of(const TrainerOptions& options) {
    std::ifstream stream(options.log_path);
    std::vector<Json> records;
    for (std::string line; std::getline(stream, line);) records.push_back(Json::parse(line));
    return records;
  }

  static void expect_same_tensors(const fs::path& a, const fs::path& b, double tolerance) {
    const Safetensors expected = read_safetensors(a);
    const Safetensors found = read_safetensors(b);
    ASSERT_EQ(found.tensors.size(), expected.tensors.size());
    for (const auto& [name, tensor] : expected.tensors) {
      ASSERT_NE(found.find(name), nullptr) << name;
      const double size = tensor.abs().max().item<double>();
      EXPECT_LT((*found.find(name) - tensor).abs().max().item<double>(), tolerance * size) << name;
    }
  }

  static void expect_same_run(const TrainerOptions& a, const TrainerOptions& b) {
    constexpr double tolerance = 1e-9;
    expect_same_tensors(a.best_path, b.best_path, tolerance);
    expect_same_tensors(a.last_path, b.last_path, tolerance);
    expect_same_tensors(a.state_path, b.state_path, tolerance);
    const auto expected = log_of(a);
    const auto found = log_of(b);
    ASSERT_EQ(expected.size(), 20u);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(found[i]["step"], expected[i]["step"]);
      EXPECT_EQ(found[i].contains("validation"), expected[i].contains("validation"));
      for (const char* name : {"loss", "grad_norm", "lr", "validation"})
        if (expected[i].contains(name)) {
          const double value = expected[i][name].get<double>();
          EXPECT_NEAR(found[i][name].get<double>(), value, tolerance * value) << name << " " << i;
        }
    }
  }
};

TEST_F(ProcessesTrain, AsOneProcessDoes) {
  const TrainerOptions alone = options_in("alone");
  Operator expected = pointwise_operator(torch::kFloat64);
  run(expected, alone, nullptr);
  // Seven processes: some have no sample of a batch, some none to validate on.
  for (const int size : {2, 3, 7}) {
    const TrainerOptions together = options_in("together" + std::to_string(size));
    const Operator found = run_on(size, together);
    expect_same_run(alone, together);
    for (const auto& item : expected.model().named_parameters())
      EXPECT_TRUE(torch::allclose(found.model().named_parameters()[item.key()].detach(),
                                  item.value().detach(), 1e-9, 1e-9))
          << item.key();
    EXPECT_EQ(found.training()["processes"], size);
  }
  EXPECT_FALSE(expected.training().contains("processes"));
}

TEST_F(ProcessesTrain, AnotherNumberOfThemGoesOn) {
  const TrainerOptions alone = options_in("alone");
  Operator expected = pointwise_operator(torch::kFloat64);
  run(expected, alone, nullptr);

  TrainerOptions halves = options_in("halves");
  on_good_ranks(2, [&](ProcessGroup& group) {
    TrainerOptions first = halves;
    std::int64_t steps = 0;
    // One of them is told to stop; all do.
    first.should_stop = [&] { return ++steps == 10 && group.rank() == 1; };
    Operator op = pointwise_operator(torch::kFloat64);
    const TrainerResult result = run(op, first, &group);
    EXPECT_EQ(result.steps, 10);
    EXPECT_FALSE(result.completed);
  });
  halves.resume = true;
  run_on(3, halves);
  expect_same_run(alone, halves);
}

TEST_F(ProcessesTrain, NetworksOfEveryKindAlike) {
  ModelConfig config;
  config.coordinate_dimension = config.value_features = config.out_features = 1;
  config.width = 16;
  config.heads = 2;
  config.basis = 4;
  config.blocks = 2;
  for (const Form form : {Form::shared_basis, Form::paper}) {
    config.form = form;
    const auto losses = [&](int size) {
      TrainerOptions options = options_in(std::string(to_string(form)) + std::to_string(size));
      options.steps = 6;
      on_good_ranks(size, [&](ProcessGroup& group) {
        Operator op(make_model(config, torch::kFloat32, 3), test::pointwise_contract());
        run(op, options, &group);
      });
      return log_of(options);
    };
    const auto expected = losses(1);
    const auto found = losses(2);
    ASSERT_EQ(found.size(), 6u);
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i]["loss"].get<double>(), expected[i]["loss"].get<double>(),
                  1e-5 * expected[i]["loss"].get<double>())
          << to_string(form) << " " << i;
  }
}

/// All ranks of a run that fails throw the same; nothing is left of it.
class ProcessesFail : public ProcessesTrain {
 protected:
  template <class Kind>
  void expect_failure(int size, const std::function<void(ProcessGroup&)>& work,
                      const std::string& message) {
    const auto errors = on_ranks(size, work);
    for (const std::exception_ptr& error : errors) {
      EXPECT_CONTAINS(testing::message_of(error), message);
      ASSERT_TRUE(error);
      EXPECT_THROW(std::rethrow_exception(error), Kind);
    }
    EXPECT_FALSE(fs::exists(folder_ / "run" / "best.safetensors"));
    EXPECT_FALSE(fs::exists(folder_ / "run" / "last.safetensors"));
    EXPECT_FALSE(fs::exists(folder_ / "run" / "state.safetensors"));
  }

  void train_samples(ProcessGroup& group, const std::vector<Sample>& samples, Operator op,
                     const std::function<void(TrainerOptions&)>& change = {}) {
    TrainerOptions options = options_in("run");
    options.processes = &group;
    if (change) change(options);
    const auto source = make_dataset_source(samples, 3, 1);
    train(op, *source, {}, options, Json::object(), {});
  }
};

TEST_F(ProcessesFail, WithTheSamplesOfALossThatIsNotFinite) {
  auto samples = pointwise_samples(3);
  for (const std::size_t bad : {0, 2}) samples[bad].targets[0].fill_(std::nan(""));
  const auto source = make_dataset_source(samples, 3, 1);
  std::vector<std::string> names;
  for (const std::string& name : source->next().names)
    if (name != "sample1") names.push_back("'" + name + "'");
  expect_failure<NumericError>(
      2, [&](ProcessGroup& group) { train_samples(group, samples, pointwise_operator()); },
      "training stopped at step 1: the loss is not finite for " + names[0] + ", " + names[1] +
          "; look for");
}

TEST_F(ProcessesFail, WithTheParameterOfAGradientThatIsNotFinite) {
  expect_failure<NumericError>(
      2,
      [&](ProcessGroup& group) {
        const auto model = std::make_shared<test::PointwiseModel>();
        model->poison_gradient();
        train_samples(group, pointwise_samples(2), Operator(model, test::pointwise_contract()));
      },
      "the gradient of 'poisoned' is not finite for the batch of 'sample");
}

TEST_F(ProcessesFail, WhereOneOfThemTrainsOtherwise) {
  const auto failing = [&](const std::string& message,
                           const std::function<void(ProcessGroup&, bool)>& work) {
    expect_failure<UsageError>(
        3, [&](ProcessGroup& group) { work(group, group.rank() == 2); },
        "process 2 would train otherwise than process 0: " + message);
  };
  failing("optimiser.beta1 is 0.8, not 0.9; give all processes the same options and files",
          [&](ProcessGroup& group, bool other) {
            train_samples(group, pointwise_samples(4), pointwise_operator(),
                          [&](TrainerOptions& options) { options.beta1 = other ? 0.8 : 0.9; });
          });
  failing("log_every is 2, not 1", [&](ProcessGroup& group, bool other) {
    train_samples(group, pointwise_samples(4), pointwise_operator(),
                  [&](TrainerOptions& options) { options.log_every = other ? 2 : 1; });
  });
  failing("batches.fingerprint is ", [&](ProcessGroup& group, bool other) {
    auto samples = pointwise_samples(4);
    if (other) samples[1].targets = 2 * samples[1].targets;
    train_samples(group, samples, pointwise_operator());
  });
  failing("average.out_bias is ", [&](ProcessGroup& group, bool other) {
    Operator op = pointwise_operator();
    const torch::NoGradGuard no_grad;
    if (other) op.model().named_parameters()["out_bias"].add_(1e-6);
    train_samples(group, pointwise_samples(4), op);
  });
  failing("contract.", [&](ProcessGroup& group, bool other) {
    train_samples(group, pointwise_samples(4),
                  Operator(std::make_shared<test::PointwiseModel>(),
                           test::pointwise_contract(other ? 101 : 100)));
  });
}

TEST_F(ProcessesFail, WhereTheFirstOneCannotWrite) {
  expect_failure<FileError>(
      2,
      [&](ProcessGroup& group) {
        train_samples(group, pointwise_samples(4), pointwise_operator(),
                      [&](TrainerOptions& options) {
                        options.best_path = folder_ / "none" / "best.safetensors";
                        options.validate_every = 0;
                      });
      },
      "none");
}

TEST_F(ProcessesFail, WhereTheBatchOfOneCannotBeMade) {
  auto samples = pointwise_samples(3);
  samples[1].targets = samples[1].targets.to(torch::kFloat32);
  expect_failure<DataError>(
      2,
      [&](ProcessGroup& group) {
        // The first of the two has one sample, which may be the odd one of a step or two.
        train_samples(group, samples, pointwise_operator(),
                      [](TrainerOptions& options) { options.validate_every = 0; });
      },
      "targets of type");
}

TEST(Shares, HoldEachThingOnce) {
  for (const int processes : {1, 2, 3, 7})
    for (const std::size_t count : {0u, 1u, 5u, 12u}) {
      std::size_t next = 0;
      for (int process = 0; process < processes; ++process) {
        const auto [first, last] = Share{process, processes}.of(count);
        EXPECT_EQ(first, next);
        EXPECT_LE(last - first, count / static_cast<std::size_t>(processes) + 1);
        next = last;
      }
      EXPECT_EQ(next, count);
    }
}

TEST(Shares, OfADatasetAreItsBatches) {
  const auto make = [] {
    return make_dataset_source(pointwise_samples(7), 3, 9, {std::make_shared<Shift>()});
  };
  const auto whole = make();
  std::vector<std::unique_ptr<BatchSource>> shared;
  for (int process = 0; process < 4; ++process) {
    shared.push_back(make());
    shared.back()->take_share({process, 4});
  }
  for (int i = 0; i < 7; ++i) {
    const Batch batch = whole->next();
    std::vector<std::string> names;
    std::int64_t row = 0;
    for (const auto& source : shared) {
      const Batch share = source->next();
      names.insert(names.end(), share.names.begin(), share.names.end());
      for (std::size_t j = 0; j < share.names.size(); ++j, ++row) {
        const Tensor mine = share.source.coordinates[static_cast<std::int64_t>(j)];
        EXPECT_TRUE(torch::equal(mine, batch.source.coordinates[row].narrow(0, 0, mine.size(0))));
      }
      EXPECT_EQ(source->state(), whole->state());
    }
    EXPECT_EQ(names, batch.names) << i;
  }
}

}  // namespace
}  // namespace funcattn
