#include <random>

#include "core/error.h"
#include "operators/engine/inference_engine.h"
#include "operators/engine/reduction.h"
#include "operators/operator.h"
#include "tests/operators/form_samples.h"
#include "tests/support/thread_group.h"

// A sample whose points several processes hold, for which threads stand here, against the same
// sample in one.

namespace funcattn {
namespace {

using testing::all_configs;
using testing::base_config;
using testing::Draw;
using testing::NamedConfig;
using testing::on_good_ranks;
using testing::random_points;
using testing::relative_difference;
using testing::trained_scale_model;

/// The numbers of the points of each piece.
using Pieces = std::vector<std::vector<std::int64_t>>;

/// Every point goes to a piece by chance; some pieces may stay empty.
Pieces random_pieces(std::int64_t count, std::size_t number, unsigned seed) {
  Pieces pieces(number);
  std::mt19937 random(seed);
  for (std::int64_t i = 0; i < count; ++i) pieces[random() % number].push_back(i);
  return pieces;
}

Pieces consecutive_pieces(std::int64_t count, std::size_t number) {
  Pieces pieces(number);
  for (std::int64_t i = 0; i < count; ++i)
    pieces[static_cast<std::size_t>(i * static_cast<std::int64_t>(number) / count)].push_back(i);
  return pieces;
}

/// The pieces of a rank, one after the other: rank 0 gets the first ones, and so on.
Pieces pieces_of(const Pieces& pieces, const ProcessGroup& group) {
  const auto size = static_cast<std::size_t>(group.size());
  const auto rank = static_cast<std::size_t>(group.rank());
  return {pieces.begin() + static_cast<std::ptrdiff_t>(pieces.size() * rank / size),
          pieces.begin() + static_cast<std::ptrdiff_t>(pieces.size() * (rank + 1) / size)};
}

std::vector<std::int64_t> joined(const Pieces& pieces) {
  std::vector<std::int64_t> all;
  for (const auto& piece : pieces) all.insert(all.end(), piece.begin(), piece.end());
  return all;
}

PointSamples select(const PointSamples& whole, const Pieces& pieces) {
  const Tensor index = torch::tensor(joined(pieces), torch::kInt64);
  PointSamples part;
  part.coordinates = whole.coordinates.index_select(1, index);
  if (whole.values.defined()) part.values = whole.values.index_select(1, index);
  part.weights = whole.weights.index_select(1, index);
  if (whole.shares.defined()) part.shares = whole.shares.index_select(1, index);
  for (const auto& piece : pieces) part.pieces.push_back(static_cast<std::int64_t>(piece.size()));
  return part;
}

/// The prediction that `size` processes make of the pieces, at the place of every point of the
/// whole.
Tensor predict_in_pieces(const InferenceEngine& engine, const PointSamples& source,
                         const Pieces& source_pieces, const PointSamples& query,
                         const Pieces& query_pieces, int size, EngineOptions options = {}) {
  Tensor result;
  std::mutex mutex;
  on_good_ranks(size, [&](ProcessGroup& group) {
    EngineOptions mine = options;
    mine.processes = &group;
    const Pieces wanted = pieces_of(query_pieces, group);
    const PointSamples part = select(query, wanted);
    const Tensor found =
        engine.predict(select(source, pieces_of(source_pieces, group)), part, mine);
    const std::lock_guard lock(mutex);
    if (!result.defined())
      result = at::full({found.size(0), query.weights.size(1), found.size(2)},
                        std::numeric_limits<double>::quiet_NaN(), found.options());
    result.index_copy_(1, torch::tensor(joined(wanted), torch::kInt64), found);
  });
  return result;
}

class EngineProcesses : public ::testing::TestWithParam<NamedConfig> {};

INSTANTIATE_TEST_SUITE_P(Forms, EngineProcesses, ::testing::ValuesIn(all_configs()),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(EngineProcesses, EveryFormIsWhatItIsInOneProcess) {
  for (const torch::Dtype dtype : {torch::kFloat32, torch::kFloat64}) {
    const double tolerance = dtype == torch::kFloat32 ? 1e-5 : 1e-10;
    const ModelConfig& config = GetParam().config;
    const auto model = trained_scale_model(config, dtype);
    const InferenceEngine engine(*model);
    PointSamples source = random_points(config, 2, 400, dtype, 3);
    PointSamples query =
        model->separates_query() ? random_points(config, 2, 301, dtype, 4) : source;
    source.weights.index_put_({torch::indexing::Slice(), torch::indexing::Slice(0, 60, 7)}, 0);
    const Tensor expected = engine.predict(source, query);
    for (const int size : {1, 2, 3, 4, 7}) {
      const Pieces pieces = random_pieces(400, static_cast<std::size_t>(size), 9);
      const Pieces of_query =
          model->separates_query() ? random_pieces(301, static_cast<std::size_t>(size), 8) : pieces;
      const Tensor found = predict_in_pieces(engine, source, pieces, query, of_query, size);
      EXPECT_LE(relative_difference(found, expected), tolerance) << size << " processes";
    }
  }
}

TEST_P(EngineProcesses, FixedOrderGivesTheSameBitsForAnyNumberOfProcesses) {
  const ModelConfig& config = GetParam().config;
  const auto model = trained_scale_model(config, torch::kFloat32);
  const InferenceEngine engine(*model);
  const PointSamples source = random_points(config, 1, 3000, torch::kFloat32, 3);
  const PointSamples query =
      model->separates_query() ? random_points(config, 1, 900, torch::kFloat32, 4) : source;
  const Pieces pieces = random_pieces(3000, 9, 9);
  const Pieces of_query = model->separates_query() ? random_pieces(900, 9, 8) : pieces;
  EngineOptions options;
  options.fixed_order = true;
  const Tensor expected = engine.predict(source, query);
  const Tensor one = predict_in_pieces(engine, source, pieces, query, of_query, 1, options);
  // Float32 sums of `sum_coefficients` grow with the points, and so does what the solve makes of
  // them.
  EXPECT_LE(relative_difference(one, expected),
            config.form == Form::sum_coefficients ? 1e-4 : 1e-5);
  for (const int size : {2, 3, 4, 7, 12}) {
    const Tensor found = predict_in_pieces(engine, source, pieces, query, of_query, size, options);
    EXPECT_TRUE(at::equal(found, one)) << size << " processes";
  }
  // Without it some bit does differ: the option is not idle.
  if (config.blocks > 1) {
    EXPECT_FALSE(at::equal(predict_in_pieces(engine, source, pieces, query, of_query, 7), one));
  }
}

TEST_P(EngineProcesses, PointsOfSeveralPiecesCountOnce) {
  const ModelConfig& config = GetParam().config;
  const auto model = trained_scale_model(config, torch::kFloat64);
  const InferenceEngine engine(*model);
  PointSamples source = random_points(config, 1, 200, torch::kFloat64, 3);
  const PointSamples query =
      model->separates_query() ? random_points(config, 1, 50, torch::kFloat64, 4) : source;
  const Tensor expected = engine.predict(source, query);
  // Points 0 to 39 lie in the first two of three pieces, 40 to 59 in all three.
  Pieces pieces = consecutive_pieces(200, 3);
  const auto add = [&](std::size_t piece, std::int64_t first, std::int64_t end) {
    for (std::int64_t i = first; i < end; ++i) pieces[piece].push_back(i);
  };
  add(1, 0, 60);
  add(2, 40, 60);
  source.shares = at::ones_like(source.weights);
  source.shares.narrow(1, 0, 40).fill_(1.0 / 2);
  source.shares.narrow(1, 40, 20).fill_(1.0 / 3);
  source.weights = source.weights * source.shares;
  const Pieces of_query = model->separates_query() ? consecutive_pieces(50, 3) : pieces;
  const Tensor found = predict_in_pieces(engine, source, pieces,
                                         model->separates_query() ? query : source, of_query, 3);
  EXPECT_LE(relative_difference(found, expected), 1e-10);
}

TEST(EngineProcessesModes, EveryWayToKeepActivationsWorks) {
  ModelConfig config = base_config(Form::shared_basis);
  config.blocks = 8;
  const auto model = trained_scale_model(config, torch::kFloat64);
  const InferenceEngine engine(*model);
  const PointSamples points = random_points(config, 1, 900, torch::kFloat64, 3);
  const Tensor expected = engine.predict(points, points);
  for (const auto memory :
       {ActivationMemory::resident, ActivationMemory::spilled, ActivationMemory::recomputed}) {
    EngineOptions options;
    options.memory = memory;
    const Pieces pieces = random_pieces(900, 3, 2);
    EXPECT_LE(relative_difference(
                  predict_in_pieces(engine, points, pieces, points, pieces, 3, options), expected),
              1e-10);
  }
}

TEST(EngineProcessesModes, ProcessesWithoutPointsTakePart) {
  const ModelConfig config = base_config(Form::shared_basis);
  const auto model = trained_scale_model(config, torch::kFloat64);
  const InferenceEngine engine(*model);
  const PointSamples points = random_points(config, 1, 40, torch::kFloat64, 3);
  Pieces pieces(5);
  pieces[3] = consecutive_pieces(40, 1).front();
  EXPECT_LE(relative_difference(predict_in_pieces(engine, points, pieces, points, pieces, 5),
                                engine.predict(points, points)),
            1e-10);
}

TEST(EngineProcessesModes, WeightsAreNormalisedOverAll) {
  // Pieces whose weights differ by a factor of 1e6 must not be taken for alike.
  Contract contract;
  contract.coordinates.axes = {0, 1};
  contract.coordinates.center = {0, 0};
  contract.inputs.push_back({{"u", Association::point, 1, ""}, InputRole::value});
  contract.outputs.push_back({"p", Association::point, 2, ""});
  const ModelConfig config = base_config(Form::shared_basis);
  const Operator op(trained_scale_model(config, torch::kFloat32), contract);
  PointSamples points = random_points(config, 1, 300, torch::kFloat64, 3);
  points.weights.narrow(1, 0, 150).fill_(1e-6);
  points.weights.narrow(1, 150, 150).fill_(1);
  const InferenceEngine engine(op.model());
  const Tensor expected = op.apply(points, points, engine);
  const Pieces pieces = consecutive_pieces(300, 2);
  for (const bool fixed : {false, true})
    on_good_ranks(2, [&](ProcessGroup& group) {
      EngineOptions options;
      options.processes = &group;
      options.fixed_order = fixed;
      const PointSamples mine = select(points, pieces_of(pieces, group));
      const Tensor found = op.apply(mine, mine, engine, options);
      EXPECT_LE(relative_difference(found, expected.narrow(1, group.rank() * 150, 150)), 1e-5);
    });
}

TEST(EngineProcessesModes, TheTrafficIsThatOfTheCoefficients) {
  ModelConfig config = base_config(Form::shared_basis);
  config.width = 128;
  config.heads = 8;
  config.basis = 64;
  config.blocks = 3;
  const auto model = trained_scale_model(config, torch::kFloat32);
  const InferenceEngine engine(*model);
  for (const std::int64_t count : {100, 3000}) {
    const PointSamples points = random_points(config, 1, count, torch::kFloat32, 3);
    on_good_ranks(2, [&](ProcessGroup& group) {
      EngineOptions options;
      options.processes = &group;
      const PointSamples mine = select(points, pieces_of(consecutive_pieces(count, 2), group));
      (void)engine.predict(mine, mine, options);
      // Products and masses of a block, and for the weights their largest and three sums.
      EXPECT_EQ(group.traffic().bytes, 8 * (3 * 8 * 64 * 17 + 4));
      EXPECT_EQ(group.traffic().exchanges, 5);
    });
  }
}

TEST(EngineProcessesModes, AnEndInOneProcessEndsAll) {
  const ModelConfig config = base_config(Form::shared_basis);
  const auto model = trained_scale_model(config, torch::kFloat32);
  const InferenceEngine engine(*model);
  const PointSamples points = random_points(config, 1, 3000, torch::kFloat32, 3);
  const auto errors = testing::on_ranks(3, [&](ProcessGroup& group) {
    EngineOptions options;
    options.processes = &group;
    if (group.rank() == 1) options.progress = [](double fraction) { return fraction < 0.5; };
    const PointSamples mine = select(points, pieces_of(consecutive_pieces(3000, 3), group));
    run_together(&group, [&] { (void)engine.predict(mine, mine, options); });
  });
  for (const std::exception_ptr& error : errors) {
    ASSERT_TRUE(error);
    EXPECT_THROW(std::rethrow_exception(error), Cancelled);
  }
}

TEST(EngineProcessesModes, FixedOrderTakesOneSampleAtATime) {
  const ModelConfig config = base_config(Form::shared_basis);
  const auto model = make_model(config);
  const PointSamples points = random_points(config, 2, 30, torch::kFloat32, 3);
  EngineOptions options;
  options.fixed_order = true;
  EXPECT_THROW((void)InferenceEngine(*model).predict(points, points, options), UsageError);
}

TEST(Reduction, FixedOrderIsExactWhateverHoldsTheTerms) {
  // Terms that lose digits in any order of float64 sums.
  const std::vector<double> numbers = {1e16, 1, -1e16, 3e-5, 1e8, -1e8, 7, 0x1p-60};
  std::vector<std::vector<double>> terms;
  for (const double number : numbers) terms.push_back({number, -number, 0.1});
  const std::vector<double> one = Reduction(nullptr, true).total(terms, 3);
  EXPECT_EQ(one[0], 8.00003);
  EXPECT_EQ(one[1], -8.00003);
  EXPECT_NEAR(one[2], 0.8, 1e-15);
  for (const int size : {2, 3, 5})
    on_good_ranks(size, [&](ProcessGroup& group) {
      std::vector<std::vector<double>> mine;
      for (std::size_t i = 0; i < terms.size(); ++i)
        if (static_cast<int>(i * 7 % 5) % size == group.rank()) mine.push_back(terms[i]);
      EXPECT_EQ(Reduction(&group, true).total(mine, 3), one);
    });
}

TEST(Reduction, WhatIsNotFiniteStaysSo) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto sums = Reduction(nullptr, true).total({{inf, nan, 1}, {1, 1, 2}}, 3);
  EXPECT_TRUE(std::isnan(sums[0]));
  EXPECT_TRUE(std::isnan(sums[1]));
  EXPECT_EQ(sums[2], 3);
  EXPECT_EQ(Reduction(nullptr, true).total({}, 2), (std::vector<double>{0, 0}));
}

}  // namespace
}  // namespace funcattn
