#include <fstream>

#include "operators/safetensors.h"
#include "operators/training/objective.h"
#include "operators/training/statistics.h"
#include "tests/operators/training/fixtures.h"
#include "tests/support/thread_group.h"

// Training on samples of which every process holds pieces, for which threads stand here, against
// the same on whole samples in one.

namespace funcattn {
namespace {

using test::message_of;
using testing::on_good_ranks;
using testing::on_ranks;

namespace fs = std::filesystem;

constexpr double tolerance = 1e-9;

/// Points in the plane with unequal weights; the target is no function of a point alone.
Sample whole_sample(const std::string& name, std::int64_t points, std::uint64_t seed) {
  RandomGenerator random(seed);
  const auto draw = [&](std::int64_t columns) {
    Tensor values = torch::empty({points, columns}, torch::kFloat64);
    for (std::int64_t i = 0; i < values.numel(); ++i)
      values.data_ptr<double>()[i] = random.uniform(-1, 1);
    return values;
  };
  Sample sample;
  sample.name = name;
  sample.source.coordinates = draw(2);
  sample.source.values = draw(1);
  sample.source.weights = draw(1).squeeze(1).abs() + 0.1;
  sample.query = sample.source;
  sample.targets =
      100 + 5 * sample.source.values.mean() * sample.source.coordinates.narrow(1, 0, 1).sin();
  return sample;
}

/// How a sample is cut: each point belongs to a piece, every third point to the next one as well,
/// with half of its weight in each, and each piece has a few ghosts without weight.
Sample piece_of(const Sample& whole, int piece, int pieces) {
  std::vector<std::int64_t> rows;
  std::vector<double> factors, shares;
  for (std::int64_t i = 0; i < whole.source.weights.size(0); ++i) {
    const bool is_shared = pieces > 1 && i % 3 == 0;
    const auto owner = static_cast<int>(i * 7 % 11 % pieces);
    const bool is_here = owner == piece || (is_shared && (owner + 1) % pieces == piece);
    const bool is_ghost = !is_here && i % 5 == 0;
    if (!is_here && !is_ghost) continue;
    rows.push_back(i);
    factors.push_back(is_ghost ? 0.0 : is_shared ? 0.5 : 1.0);
    shares.push_back(factors.back());
  }
  const Tensor index = torch::tensor(rows, torch::kInt64);
  Sample part;
  part.name = whole.name;
  part.source.coordinates = whole.source.coordinates.index_select(0, index);
  part.source.values = whole.source.values.index_select(0, index);
  part.source.weights =
      whole.source.weights.index_select(0, index) * torch::tensor(factors, torch::kFloat64);
  part.source.shares = torch::tensor(shares, torch::kFloat64);
  part.query = part.source;
  part.targets = whole.targets.index_select(0, index);
  return part;
}

/// Of the last of more than two processes: nothing.
std::vector<Sample> pieces_of(const std::vector<Sample>& whole, const ProcessGroup& group) {
  const int pieces = group.size() > 2 ? group.size() - 1 : group.size();
  std::vector<Sample> mine;
  for (const Sample& sample : whole) {
    mine.push_back(piece_of(sample, group.rank() % pieces, pieces));
    if (group.rank() < pieces) continue;
    Sample& nothing = mine.back();
    for (Tensor* tensor : {&nothing.source.coordinates, &nothing.source.values,
                           &nothing.source.weights, &nothing.source.shares, &nothing.targets})
      *tensor = tensor->narrow(0, 0, 0);
    nothing.query = nothing.source;
  }
  return mine;
}

std::vector<Sample> whole_samples(int count, std::uint64_t seed) {
  std::vector<Sample> samples;
  for (int i = 0; i < count; ++i)
    samples.push_back(whole_sample("sample" + std::to_string(i), 40 + 17 * i,
                                   seed + static_cast<std::uint64_t>(i)));
  return samples;
}

ModelConfig config_of(Form form) {
  ModelConfig config;
  config.form = form;
  config.coordinate_dimension = 2;
  config.value_features = config.out_features = 1;
  config.width = 16;
  config.heads = 2;
  config.basis = 5;
  config.blocks = 2;
  return config;
}

Operator make_operator(const ModelConfig& config) {
  Contract contract = test::pointwise_contract();
  contract.coordinates.axes = {0, 1};
  contract.coordinates.center = {0.0, 0.0};
  return Operator(make_model(config, torch::kFloat64, 4), contract);
}

struct Gradients {
  std::vector<double> losses;
  std::vector<std::pair<std::string, Tensor>> of;
};

/// @param group null: the samples are whole
Gradients gradients_of(const ModelConfig& config, Loss loss, const std::vector<Sample>& samples,
                       ProcessGroup* group) {
  const Operator op = make_operator(config);
  const Tensor losses = Objective(op, loss, {0, 0, group}).sample_losses(collate(samples));
  losses.mean().backward();
  Gradients result;
  for (std::int64_t b = 0; b < losses.size(0); ++b)
    result.losses.push_back(losses[b].item<double>());
  for (const auto& item : op.model().named_parameters()) {
    const Tensor& gradient = item.value().grad();
    const Tensor all = gradient.defined() ? gradient.clone() : torch::zeros_like(item.value());
    if (group) group->sum(all.data_ptr<double>(), static_cast<std::size_t>(all.numel()));
    result.of.emplace_back(item.key(), all);
  }
  return result;
}

class Pieces : public ::testing::TestWithParam<std::tuple<Form, Coefficients, Loss>> {};

TEST_P(Pieces, HaveTheLossesAndGradientsOfTheWhole) {
  ModelConfig config = config_of(std::get<0>(GetParam()));
  config.coefficients = std::get<1>(GetParam());
  const Loss loss = std::get<2>(GetParam());
  const auto whole = whole_samples(2, 300);
  const Gradients expected = gradients_of(config, loss, whole, nullptr);
  for (const int size : {1, 2, 3, 4})
    on_good_ranks(size, [&](ProcessGroup& group) {
      const Gradients found = gradients_of(config, loss, pieces_of(whole, group), &group);
      for (std::size_t b = 0; b < 2; ++b)
        EXPECT_NEAR(found.losses[b], expected.losses[b], tolerance * std::abs(expected.losses[b]));
      double largest = 0;
      for (const auto& one : expected.of)
        largest = std::max(largest, one.second.abs().max().item<double>());
      EXPECT_GT(largest, 0);
      for (std::size_t i = 0; i < found.of.size(); ++i)
        EXPECT_LT((found.of[i].second - expected.of[i].second).abs().max().item<double>(),
                  tolerance * largest)
            << found.of[i].first << " on " << size;
    });
}

INSTANTIATE_TEST_SUITE_P(
    Forms, Pieces,
    ::testing::Values(std::tuple(Form::shared_basis, Coefficients::mean, Loss::relative_l2),
                      std::tuple(Form::shared_basis, Coefficients::mean, Loss::mse),
                      std::tuple(Form::shared_basis, Coefficients::mean, Loss::log_relative_l2),
                      std::tuple(Form::shared_basis_tied, Coefficients::mean, Loss::relative_l2),
                      std::tuple(Form::paper, Coefficients::mean, Loss::relative_l2),
                      std::tuple(Form::paper, Coefficients::integral, Loss::relative_l2)));

TEST(PieceLosses, OfAnExactFitHasNoGradient) {
  const Tensor target = torch::ones({1, 4, 1}, torch::kFloat64);
  const Tensor prediction = target.clone().requires_grad_();
  on_good_ranks(1, [&](ProcessGroup& group) {
    const Tensor loss = sample_losses(Loss::relative_l2, prediction, target,
                                      torch::ones({1, 4}, torch::kFloat64), 1e-8, &group);
    EXPECT_EQ(loss[0].item<double>(), 0.0);
    loss.sum().backward();
    EXPECT_TRUE(torch::equal(prediction.grad(), torch::zeros_like(prediction)));
  });
}

TEST(PieceStatistics, AreThoseOfTheWhole) {
  const auto statistics = [](const std::vector<Sample>& samples, ProcessGroup* group) {
    std::vector<std::string> names;
    std::vector<Tensor> channels, weights;
    for (const Sample& sample : samples) {
      names.push_back(sample.name);
      channels.push_back(torch::cat({sample.source.values, sample.targets}, 1));
      weights.push_back(sample.source.weights);
    }
    return channel_statistics(names, channels, weights, group);
  };
  const auto whole = whole_samples(3, 500);
  const Normalisation expected = statistics(whole, nullptr);
  for (const int size : {2, 4})
    on_good_ranks(size, [&](ProcessGroup& group) {
      const Normalisation found = statistics(pieces_of(whole, group), &group);
      for (std::size_t c = 0; c < 2; ++c) {
        EXPECT_NEAR(found.mean[c], expected.mean[c], 1e-12 * std::abs(expected.mean[c]));
        EXPECT_NEAR(found.scale[c], expected.scale[c], 1e-12 * expected.scale[c]);
      }
    });
}

class PiecesTrain : public test::TrainingFolderTest {
 protected:
  TrainerOptions options_in(const std::string& name) {
    TrainerOptions options = files_in(name);
    options.steps = 12;
    options.loss = Loss::relative_l2;
    options.schedule.peak = 0.01;
    options.log_every = 1;
    options.validate_every = 4;
    return options;
  }

  /// @param group null: one process
  static TrainerResult run(TrainerOptions options, ProcessGroup* group,
                           Form form = Form::shared_basis) {
    auto samples = whole_samples(5, 300);
    auto validation = whole_samples(2, 700);
    if (group) {
      samples = pieces_of(samples, *group);
      validation = pieces_of(validation, *group);
      options.processes = group;
      options.parallel = Parallel::domain;
    }
    const auto source = make_dataset_source(samples, 2, 6, {}, group);
    Operator op = make_operator(config_of(form));
    return train(op, *source, validation, options, Json::object(), {});
  }

  static std::vector<Json> log_of(const TrainerOptions& options) {
    std::ifstream stream(options.log_path);
    std::vector<Json> records;
    for (std::string line; std::getline(stream, line);) records.push_back(Json::parse(line));
    return records;
  }

  static void expect_same_run(const TrainerOptions& a, const TrainerOptions& b) {
    const auto expected = log_of(a);
    const auto found = log_of(b);
    ASSERT_EQ(expected.size(), 12u);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      for (const char* name : {"loss", "grad_norm", "validation"})
        if (expected[i].contains(name)) {
          const double value = expected[i][name].get<double>();
          EXPECT_NEAR(found[i].at(name).get<double>(), value, 1e-7 * value) << name << " " << i;
        }
    const Safetensors weights = read_safetensors(a.last_path);
    const Safetensors other = read_safetensors(b.last_path);
    for (const auto& [name, tensor] : weights.tensors)
      EXPECT_TRUE(torch::allclose(*other.find(name), tensor, 1e-6, 1e-7)) << name;
  }
};

TEST_F(PiecesTrain, AsWholeSamplesDo) {
  const TrainerOptions alone = options_in("alone");
  run(alone, nullptr);
  for (const int size : {1, 2, 3, 4}) {
    const TrainerOptions together = options_in("together" + std::to_string(size));
    on_good_ranks(size, [&](ProcessGroup& group) { run(together, &group); });
    expect_same_run(alone, together);
  }
}

TEST_F(PiecesTrain, AnotherNumberOfThemGoesOn) {
  const TrainerOptions alone = options_in("alone");
  run(alone, nullptr);
  TrainerOptions halves = options_in("halves");
  on_good_ranks(2, [&](ProcessGroup& group) {
    TrainerOptions first = halves;
    std::int64_t steps = 0;
    first.should_stop = [&] { return ++steps == 5; };
    EXPECT_EQ(run(first, &group).steps, 5);
  });
  halves.resume = true;
  on_good_ranks(3, [&](ProcessGroup& group) { run(halves, &group); });
  expect_same_run(alone, halves);
}

TEST_F(PiecesTrain, OtherFormsAreRefused) {
  const TrainerOptions options = options_in("run");
  const auto errors =
      on_ranks(2, [&](ProcessGroup& group) { run(options, &group, Form::sum_coefficients); });
  for (const std::exception_ptr& error : errors) {
    EXPECT_CONTAINS(testing::message_of(error),
                    "only the forms shared_basis, shared_basis_tied and paper");
    EXPECT_THROW(std::rethrow_exception(error), UsageError);
  }
}

TEST_F(PiecesTrain, ANonFiniteLossNamesTheSampleOnce) {
  const TrainerOptions options = options_in("run");
  const auto errors = on_ranks(2, [&](ProcessGroup& group) {
    auto samples = pieces_of(whole_samples(2, 300), group);
    if (group.rank() == 1) samples[1].targets[1].fill_(std::nan(""));
    TrainerOptions mine = options;
    mine.processes = &group;
    mine.parallel = Parallel::domain;
    const auto source = make_dataset_source(samples, 2, 6, {}, &group);
    Operator op = make_operator(config_of(Form::shared_basis));
    train(op, *source, {}, mine, Json::object(), {});
  });
  for (const std::exception_ptr& error : errors)
    EXPECT_CONTAINS(testing::message_of(error),
                    "training stopped at step 1: the loss is not finite for 'sample1'; look for");
}

}  // namespace
}  // namespace funcattn
