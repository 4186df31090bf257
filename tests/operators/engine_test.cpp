#include <omp.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <thread>

#include "core/error.h"
#include "core/memory_error.h"
#include "operators/engine/inference_engine.h"
#include "tests/operators/form_samples.h"
#include "tests/support/memory_limit.h"

// The engine against the tensor operations of the same model. What every form must keep is tested
// for both in forms_test.cpp.

namespace funcattn {
namespace {

using testing::Draw;
using testing::relative_difference;
using testing::trained_scale_model;

/// The published irregular-mesh network in small: many blocks, sizes that fill no register evenly.
ModelConfig deep_config() {
  ModelConfig config;
  config.form = Form::shared_basis_tied;
  config.coordinate_dimension = 3;
  config.value_features = 1;
  config.out_features = 2;
  config.width = 36;
  config.heads = 3;
  config.basis = 21;
  config.blocks = 8;
  return config;
}

PointSamples random_points(const ModelConfig& config, std::int64_t count, torch::Dtype dtype) {
  Draw draw(dtype, 23);
  return {draw.uniform({1, count, config.coordinate_dimension}, -1, 1),
          draw.normal({1, count, config.value_features}), draw.uniform({1, count}, 0.0, 1.0)};
}

PointSamples cast(const PointSamples& points, torch::Dtype dtype) {
  return {points.coordinates.to(dtype), points.values.to(dtype), points.weights.to(dtype)};
}

class Engine : public ::testing::TestWithParam<torch::Dtype> {
 protected:
  double tolerance() const { return GetParam() == torch::kFloat32 ? 1e-5 : 1e-10; }
  std::shared_ptr<Model> model_ = trained_scale_model(deep_config(), GetParam());
  PointSamples points_ = random_points(deep_config(), 2500, GetParam());
  InferenceEngine engine_{*model_};

  Tensor predict(const EngineOptions& options = {}) const {
    return engine_.predict(points_, points_, options);
  }
};

INSTANTIATE_TEST_SUITE_P(All, Engine, ::testing::Values(torch::kFloat32, torch::kFloat64),
                         [](const auto& instance) { return c10::toString(instance.param); });

TEST_P(Engine, LayersMatterInTheModelUsedHere) {
  // Guards the other tests: the last block's attention changes the result by far more than any
  // tolerance below.
  const torch::NoGradGuard no_grad;
  const Tensor before = predict();
  model_->named_parameters()["blocks.7.Attn.to_v.weight"].mul_(0.5);
  EXPECT_GT(relative_difference(InferenceEngine(*model_).predict(points_, points_), before), 1e-2);
}

TEST_P(Engine, GivesWhatTheOperationsGive) {
  const torch::NoGradGuard no_grad;
  EXPECT_LE(relative_difference(predict(), model_->predict(points_, points_)), tolerance());
}

TEST_P(Engine, TileSizeChangesNothing) {
  const Tensor expected = predict();
  for (const int points : {1, 100, 1000, std::numeric_limits<int>::max()}) {
    EngineOptions options;
    options.tile_points = points;
    for (const auto memory :
         {ActivationMemory::resident, ActivationMemory::spilled, ActivationMemory::recomputed}) {
      options.memory = memory;
      EXPECT_LE(relative_difference(predict(options), expected), tolerance()) << points;
    }
  }
}

TEST_P(Engine, TileSizeChangesNothingOfQueriesApart) {
  ModelConfig config = deep_config();
  config.form = Form::paper;
  config.cross = true;
  config.blocks = 0;
  config.value_features = config.width - config.coordinate_dimension;
  config.out_features = config.width;
  const InferenceEngine engine(*trained_scale_model(config, GetParam()));
  // One side fits a tile, the other takes many.
  const PointSamples few = random_points(config, 5, GetParam());
  const PointSamples many = random_points(config, 2500, GetParam());
  for (const auto& [source, query] : {std::pair{few, many}, std::pair{many, few}}) {
    const Tensor expected = engine.predict(source, query);
    for (const int points : {1, 100, std::numeric_limits<int>::max()}) {
      EngineOptions options;
      options.tile_points = points;
      EXPECT_LE(relative_difference(engine.predict(source, query, options), expected), tolerance())
          << points;
    }
  }
}

TEST_P(Engine, ThreadsChangeNoBit) {
  const Tensor expected = predict();
  for (const int threads : {1, 2, 3, 5}) {
    const ThreadScope scope(threads);
    EXPECT_TRUE(predict().equal(expected)) << threads;
  }
}

TEST_P(Engine, WaysToKeepActivationsChangeNoBit) {
  const Tensor expected = predict();
  for (const auto memory : {ActivationMemory::spilled, ActivationMemory::recomputed}) {
    EngineOptions options;
    options.memory = memory;
    EXPECT_TRUE(predict(options).equal(expected)) << to_string(memory);
  }
}

TEST_P(Engine, HoldsTheWeightsOfItsMaking) {
  const Tensor expected = predict();
  const torch::NoGradGuard no_grad;
  for (const Tensor& parameter : model_->parameters()) parameter.zero_();
  EXPECT_TRUE(predict().equal(expected));
}

TEST_P(Engine, RecordsNoGradient) {
  EXPECT_FALSE(predict().requires_grad());
}

TEST_P(Engine, TellsWhereTheTimeWent) {
  EngineProfile profile;
  EngineOptions options;
  options.profile = &profile;
  (void)predict(options);
  // L + 1 visits and L solves.
  ASSERT_EQ(profile.size(), 17u);
  EXPECT_EQ(profile.front().first, "lift, coefficients 1");
  EXPECT_EQ(profile.back().first, "block 8, output");
  for (const auto& [name, seconds] : profile) EXPECT_GE(seconds, 0) << name;
}

TEST_P(Engine, TellsHowFarItIsAndChangesNoBit) {
  const Tensor expected = predict();
  for (const auto memory :
       {ActivationMemory::resident, ActivationMemory::spilled, ActivationMemory::recomputed}) {
    EngineOptions options;
    options.memory = memory;
    options.tile_points = 16;  // So many tiles that not every one may be told.
    std::vector<double> told;
    const auto caller = std::this_thread::get_id();
    options.progress = [&](double fraction) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      told.push_back(fraction);
      return true;
    };
    const ThreadScope scope(3);
    EngineOptions silent = options;
    silent.progress = nullptr;
    EXPECT_TRUE(predict(options).equal(predict(silent))) << to_string(memory);
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end())) << to_string(memory);
    EXPECT_GE(told.front(), 0) << to_string(memory);
    EXPECT_EQ(told.back(), 1) << to_string(memory);
    EXPECT_LE(told.size(), 201u) << to_string(memory);
  }
  EngineOptions alone;
  std::vector<double> told;
  alone.progress = [&](double fraction) {
    told.push_back(fraction);
    return true;
  };
  const ThreadScope scope(1);
  EXPECT_TRUE(predict(alone).equal(expected));
  // Nine visits of equal length, each of at least five tiles: nothing jumps.
  for (std::size_t i = 1; i < told.size(); ++i) EXPECT_LT(told[i] - told[i - 1], 1.0 / 30);
  EXPECT_LT(told.front(), 1.0 / 30);
}

TEST_P(Engine, EndsWhereTheCallerAsksForIt) {
  const Tensor expected = predict();
  for (const auto memory :
       {ActivationMemory::resident, ActivationMemory::spilled, ActivationMemory::recomputed})
    for (const int threads : {1, 3}) {
      EngineOptions options;
      options.memory = memory;
      double last = 0;
      int calls = 0;
      options.progress = [&](double fraction) {
        last = fraction;
        ++calls;
        return fraction < 0.5;
      };
      const ThreadScope scope(threads);
      EXPECT_THROW((void)predict(options), Cancelled) << to_string(memory) << threads;
      EXPECT_GE(last, 0.5);
      if (threads == 1) {
        EXPECT_LT(last, 0.55);
      }
      const int calls_then = calls;
      options.progress = nullptr;
      EXPECT_TRUE(predict(options).equal(expected)) << to_string(memory);
      EXPECT_EQ(calls, calls_then);
    }
}

TEST_P(Engine, PassesOnWhatTheCallbackThrows) {
  EngineOptions options;
  options.progress = [](double) -> bool { throw std::out_of_range("of the host"); };
  for (const int threads : {1, 3}) {
    const ThreadScope scope(threads);
    EXPECT_THROW((void)predict(options), std::out_of_range) << threads;
  }
}

TEST(EngineProgress, FollowsQueriesAsWell) {
  ModelConfig config;
  config.form = Form::few_shot;
  config.coordinate_dimension = 2;
  config.value_features = 1;
  config.out_features = 1;
  config.width = 16;
  config.basis = 8;
  const auto model = make_model(config, torch::kFloat64, 3);
  const PointSamples source = random_points(config, 40, torch::kFloat64);
  const PointSamples query = random_points(config, 3000, torch::kFloat64);
  std::vector<double> told;
  EngineOptions options;
  options.progress = [&](double fraction) {
    told.push_back(fraction);
    return true;
  };
  const ThreadScope scope(1);
  (void)InferenceEngine(*model).predict(source, query, options);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_GT(told.size(), 5u);
  EXPECT_LT(told.front(), 0.05);
  EXPECT_EQ(told.back(), 1);
}

TEST_P(Engine, NoPointsGiveNoValues) {
  points_ = random_points(deep_config(), 0, GetParam());
  EXPECT_EQ(predict().sizes(), (std::vector<std::int64_t>{1, 0, 2}));
}

TEST(EngineAccuracy, SinglePrecisionIsAsGoodAsThatOfTheOperations) {
  const torch::NoGradGuard no_grad;
  const auto single = trained_scale_model(deep_config(), torch::kFloat32);
  const PointSamples points = random_points(deep_config(), 6000, torch::kFloat32);
  const auto wide = trained_scale_model(deep_config(), torch::kFloat32);
  wide->to(torch::kFloat64);
  const PointSamples wide_points = cast(points, torch::kFloat64);
  const Tensor exact = wide->predict(wide_points, wide_points);
  const auto error = [&](const Tensor& found) {
    return (found.to(torch::kFloat64) - exact).norm().item<double>() / exact.norm().item<double>();
  };
  const double of_operations = error(single->predict(points, points));
  const double of_engine = error(InferenceEngine(*single).predict(points, points));
  RecordProperty("operations", std::to_string(of_operations * 1e9));
  RecordProperty("engine", std::to_string(of_engine * 1e9));
  EXPECT_LE(of_engine, 1.25 * of_operations);
}

TEST(EngineAccuracy, SumsOfManyPointsKeepTheirDigits) {
  // A running float32 sum of ones stops at 16.8 million; here constant fields must stay constant.
  ModelConfig config = deep_config();
  config.width = 8;
  config.heads = 1;
  config.basis = 4;
  config.blocks = 1;
  config.value_features = 0;
  config.out_features = 1;
  const auto model = trained_scale_model(config, torch::kFloat32);
  const std::int64_t count = 20000000;
  const Tensor one = at::full({1, 1, 3}, 0.5f);
  const Tensor weight = at::ones({1, 1});
  const InferenceEngine engine(*model);
  const Tensor expected = engine.predict({one, {}, weight}, {one, {}, weight});
  const PointSamples many{one.expand({1, count, 3}).contiguous(), {}, at::ones({1, count})};
  EngineOptions options;
  options.memory = ActivationMemory::recomputed;
  for (const int points : {0, std::numeric_limits<int>::max()}) {
    options.tile_points = points;
    const Tensor found = engine.predict(many, many, options);
    EXPECT_LE((found - expected).abs().max().item<double>(),
              1e-5 * expected.abs().max().item<double>())
        << points;
  }
}

TEST(EngineErrors, FolderForTheTemporaryFileMustExist) {
  const auto model = make_model(deep_config());
  const PointSamples points = random_points(deep_config(), 10, torch::kFloat32);
  EngineOptions options;
  options.memory = ActivationMemory::spilled;
  options.spill_folder = "/nowhere/at/all";
  try {
    (void)InferenceEngine(*model).predict(points, points, options);
    FAIL();
  } catch (const FileError& error) {
    EXPECT_STREQ(error.what(),
                 "cannot create a temporary file in '/nowhere/at/all': No such file or directory; "
                 "choose another folder for temporary files");
  }
}

TEST(EngineErrors, MemoryThatIsNotThereNamesTheOptions) {
  ModelConfig config = deep_config();
  config.width = 120;
  const auto model = make_model(config);
  // 480 MB of features.
  const PointSamples points = random_points(config, 1000000, torch::kFloat32);
  const InferenceEngine engine(*model);
  std::string message;
  {
    const test::MemoryLimit limit(200000000);
    try {
      (void)engine.predict(points, points);
    } catch (const MemoryError& error) {
      message = error.what();
    }
  }
  EXPECT_EQ(message,
            "the features of the points need 458 MiB, which this machine does not give; keep "
            "them in a temporary file, or compute them anew");
}

TEST(EngineErrors, UnknownKindOfMemoryNamesTheKnownOnes) {
  try {
    (void)activation_memory_from_string("disk");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "memory: unknown kind 'disk'; choose resident, spilled or recomputed");
  }
}

}  // namespace
}  // namespace funcattn
