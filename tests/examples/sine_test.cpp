#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "examples/sine/samples.h"
#include "examples/sine/sine_evaluation.h"
#include "examples/sine/sine_task.h"
#include "plugin/binding.h"

namespace funcattn {
namespace {

SineSampling sampling(SineProtocol protocol, int context) {
  SineSampling result;
  result.protocol = protocol;
  result.context = context;
  return result;
}

TEST(SineGrid, FewShotCoversTheDomainAndRefinesInPlace) {
  const auto coarse = sine_grid(sampling(SineProtocol::few_shot, 4), 1);
  const auto fine = sine_grid(sampling(SineProtocol::few_shot, 4), 3);
  ASSERT_EQ(coarse.size(), 200u);
  ASSERT_EQ(fine.size(), 199u * 3 + 1);
  EXPECT_EQ(coarse.front(), -6.0);
  EXPECT_NEAR(coarse.back(), 6.0, 1e-12);
  for (std::size_t i = 0; i < coarse.size(); ++i) EXPECT_EQ(coarse[i], fine[3 * i]);
}

TEST(SineGrid, MaskedGridHasThePublishedStep) {
  const auto grid = sine_grid(sampling(SineProtocol::masked_grid, 4), 1);
  ASSERT_EQ(grid.size(), 120u);
  EXPECT_EQ(grid.front(), -6.0);
  EXPECT_NEAR(grid.back(), 5.9, 1e-12);
  EXPECT_EQ(sine_grid(sampling(SineProtocol::masked_grid, 4), 32).size(), 119u * 32 + 1);
}

TEST(SineGrid, ALongerDomainKeepsTheSpacing) {
  SineSampling shifted = sampling(SineProtocol::few_shot, 4);
  shifted.domain.x_min = -3;
  shifted.domain.x_max = 15;
  const auto grid = sine_grid(shifted, 1);
  EXPECT_NEAR(grid[1] - grid[0], 12.0 / 199, 1e-12);
  EXPECT_NEAR(grid.back(), 15.0, 12.0 / 199);
}

TEST(SineEpisode, ContextDoesNotDependOnTheDensity) {
  for (const auto protocol : {SineProtocol::few_shot, SineProtocol::masked_grid}) {
    RandomGenerator first(3), second(3);
    const SineEpisode coarse = draw_sine_episode(sampling(protocol, 5), 1, first);
    const SineEpisode fine = draw_sine_episode(sampling(protocol, 5), 8, second);
    EXPECT_EQ(coarse.context, fine.context);
    EXPECT_EQ(coarse.function.amplitude, fine.function.amplitude);
    EXPECT_EQ(coarse.function.phase, fine.function.phase);
    ASSERT_EQ(coarse.context.size(), 5u);
  }
}

TEST(SineEpisode, MaskedContextLiesOnTheGridWithoutRepetition) {
  RandomGenerator random(11);
  const SineSampling all = sampling(SineProtocol::masked_grid, 120);
  EXPECT_EQ(draw_sine_episode(all, 1, random).context, sine_grid(all, 1));
  const SineEpisode few = draw_sine_episode(sampling(SineProtocol::masked_grid, 4), 5, random);
  const Sample sample = sine_sample(few, sine_contract(Form::sum_coefficients));
  EXPECT_EQ(sample.query.values.ne(0).sum().item<std::int64_t>(), 4);
}

TEST(SineSampling, RefusesWhatCannotBeDrawn) {
  const auto message = [](const SineSampling& bad) -> std::string {
    try {
      bad.validate();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  EXPECT_NE(message(sampling(SineProtocol::few_shot, 0)).find("at least 1 context point"),
            std::string::npos);
  EXPECT_NE(message(sampling(SineProtocol::masked_grid, 121)).find("only 120 points"),
            std::string::npos);
  SineSampling empty = sampling(SineProtocol::few_shot, 4);
  empty.domain.x_max = empty.domain.x_min;
  EXPECT_NE(message(empty).find("x range is empty"), std::string::npos);
}

// The file path and the direct path must feed an operator the same numbers.
TEST(SineSample, AgreesWithTheMeshThatIsWritten) {
  RandomGenerator random(5);
  const SineEpisode masked = draw_sine_episode(sampling(SineProtocol::masked_grid, 4), 2, random);
  for (const Form form : {Form::few_shot, Form::sum_coefficients}) {
    const Contract contract = sine_contract(form);
    const Sample direct = sine_sample(masked, contract);
    const Sample bound =
        bind_sample(sine_mesh(masked), contract, {WeightKind::automatic, ""}, true);
    EXPECT_TRUE(at::equal(direct.query.coordinates, bound.query.coordinates));
    EXPECT_TRUE(at::equal(direct.targets, bound.targets));
    EXPECT_TRUE(at::allclose(direct.query.weights, bound.query.weights, 1e-12, 1e-15));
    EXPECT_TRUE(at::equal(direct.source.coordinates, bound.source.coordinates));
    EXPECT_TRUE(at::equal(direct.source.values, bound.source.values));
    EXPECT_EQ(direct.query_is_source, bound.query_is_source);
  }
  // Few-shot meshes hold the context points too, between those of the grid.
  const SineEpisode free = draw_sine_episode(sampling(SineProtocol::few_shot, 7), 1, random);
  EXPECT_EQ(sine_mesh(free).count(Association::point), 207);
}

TEST(SineBatches, DrawWhatTheyPromiseAndContinueFromTheirState) {
  SineBatchOptions options;
  options.context_min = 3;
  options.context_max = 6;
  options.queries = 10;
  const auto source = make_sine_batches(options);
  std::vector<bool> seen(7, false);
  for (int i = 0; i < 60; ++i) {
    const Batch batch = source->next();
    const std::int64_t k = batch.source.coordinates.size(1);
    ASSERT_GE(k, 3);
    ASSERT_LE(k, 6);
    seen[static_cast<std::size_t>(k)] = true;
    EXPECT_EQ(batch.targets.sizes(), (std::vector<std::int64_t>{8, 10, 1}));
    EXPECT_LE(batch.query.coordinates.abs().max().item<double>(), 6.0);
  }
  EXPECT_TRUE(seen[3] && seen[4] && seen[5] && seen[6]);

  const auto again = make_sine_batches(options);
  again->restore(source->state());
  EXPECT_TRUE(at::equal(source->next().targets, again->next().targets));
  EXPECT_THROW(again->restore({{"kind", "dataset"}}), UsageError);
  options.context_min = 9;
  EXPECT_THROW(make_sine_batches(options), UsageError);
}

// One amplitude and phase explain both the context and the targets of a sample.
TEST(SineBatches, ContextAndTargetsAreOfOneFunction) {
  SineBatchOptions options;
  options.context_min = options.context_max = 40;
  const Batch batch = make_sine_batches(options)->next();
  const auto design = [](const Tensor& x) { return at::cat({x.sin(), x.cos()}, -1); };
  for (std::int64_t b = 0; b < 8; ++b) {
    const Tensor A = design(batch.source.coordinates[b]);
    const Tensor solution =
        at::linalg_solve(at::matmul(A.t(), A), at::matmul(A.t(), batch.source.values[b]));
    const Tensor predicted = at::matmul(design(batch.query.coordinates[b]), solution);
    EXPECT_LT((predicted - batch.targets[b]).abs().max().item<double>(), 1e-9);
  }
}

TEST(SineBatches, SharesAreTheWholeBatch) {
  SineBatchOptions options;
  options.batch = 4;
  const auto whole = make_sine_batches(options);
  std::vector<std::unique_ptr<BatchSource>> shared;
  for (int process = 0; process < 5; ++process) {
    shared.push_back(make_sine_batches(options));
    shared.back()->take_share({process, 5});
  }
  for (int i = 0; i < 3; ++i) {
    const Batch batch = whole->next();
    std::vector<Tensor> sources, targets;
    std::size_t names = 0;
    for (const auto& source : shared) {
      const Batch share = source->next();
      sources.push_back(share.source.values);
      targets.push_back(share.targets);
      names += share.names.size();
      EXPECT_EQ(share.query.weights.size(0), static_cast<std::int64_t>(share.names.size()));
    }
    EXPECT_EQ(names, 4u);
    EXPECT_TRUE(at::equal(at::cat(sources), batch.source.values));
    EXPECT_TRUE(at::equal(at::cat(targets), batch.targets));
  }
  EXPECT_EQ(shared.back()->state(), whole->state());
}

TEST(SineTask, ValidationFunctionsAreNotTrainingFunctions) {
  SineTaskOptions options;
  options.protocol = "masked-grid";
  options.context = {4};
  options.functions = 200;
  const SineTraining training = make_sine_training(options, Form::sum_coefficients, 200, 0);
  const Batch all = training.batches->next();
  for (const Sample& sample : training.validation)
    EXPECT_GT((all.targets - sample.targets.unsqueeze(0)).abs().amax({1, 2}).min().item<double>(),
              1e-9);
}

TEST(SineEvaluation, RefusesAnOperatorOfAnotherTask) {
  ModelConfig config;
  config.coordinate_dimension = 2;
  config.value_features = 1;
  config.width = 8;
  config.heads = 2;
  config.basis = 4;
  config.blocks = 1;
  Contract contract;
  contract.inputs.push_back({{"load", Association::point, 1, ""}, InputRole::value});
  contract.outputs.push_back({"u", Association::point, 1, ""});
  contract.coordinates = {{0, 1}, {0, 0}, 1.0};
  const Operator op(make_model(config), contract);
  OperatorEvaluation evaluation;
  try {
    evaluate_sine(op, {}, evaluation);
    FAIL() << "nothing was thrown";
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("evaluate it on files with --data"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace funcattn
