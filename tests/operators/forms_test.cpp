#include <tuple>

#include "core/error.h"
#include "operators/engine/inference_engine.h"
#include "operators/forms/layers.h"
#include "tests/operators/attention_test_support.h"
#include "tests/operators/form_samples.h"

// What every form must keep: order, refinement, padding, batching, scale of the weights, awkward
// samples, gradients.

namespace funcattn {
namespace {

using testing::all_configs;
using testing::all_finite;
using testing::Draw;
using testing::every_config;
using testing::expect_gradients_match;
using testing::invariance_tolerance;
using testing::random_points;
using testing::relative_difference;

PointSamples select(const PointSamples& samples, const Tensor& indices) {
  return {samples.coordinates.index_select(1, indices), samples.values.index_select(1, indices),
          samples.weights.index_select(1, indices)};
}

PointSamples narrow_batch(const PointSamples& samples, std::int64_t sample) {
  return {samples.coordinates.narrow(0, sample, 1), samples.values.narrow(0, sample, 1),
          samples.weights.narrow(0, sample, 1)};
}

/// Points of weight 0 appended whose coordinates and values hold `content`.
PointSamples append_absent(const PointSamples& samples, std::int64_t count, double content) {
  const auto extended = [&](const Tensor& x, double value) {
    std::vector<std::int64_t> shape = x.sizes().vec();
    shape[1] = count;
    return at::cat({x, at::full(shape, value, x.options())}, 1);
  };
  return {extended(samples.coordinates, content), extended(samples.values, content),
          extended(samples.weights, 0.0)};
}

/// The third parameter says who predicts: the tensor operations of the model, or the engine.
class Forms : public ::testing::TestWithParam<std::tuple<std::size_t, torch::Dtype, bool>> {
 protected:
  ModelConfig config() const { return every_config()[std::get<0>(GetParam())].config; }
  torch::Dtype dtype() const { return std::get<1>(GetParam()); }
  bool sums_grow() const { return config().form == Form::sum_coefficients; }
  double tolerance() const { return invariance_tolerance(dtype()); }

  void SetUp() override { model_ = make_model(config(), dtype(), 3); }

  PointSamples source(std::int64_t batch, std::int64_t count) const {
    return random_points(config(), batch, count, dtype(), 11);
  }
  PointSamples query(std::int64_t batch, std::int64_t count) const {
    return random_points(config(), batch, count, dtype(), 12);
  }
  /// The queries are the source where the form does not separate them.
  Tensor predict(const PointSamples& samples, const PointSamples& queries) const {
    const torch::NoGradGuard no_grad;
    const PointSamples& points = model_->separates_query() ? queries : samples;
    if (std::get<2>(GetParam())) return InferenceEngine(*model_).predict(samples, points);
    return model_->predict(samples, points);
  }

  std::shared_ptr<Model> model_;
};

std::string name_of(const ::testing::TestParamInfo<Forms::ParamType>& instance) {
  return every_config()[std::get<0>(instance.param)].name + "_" +
         c10::toString(std::get<1>(instance.param)) +
         (std::get<2>(instance.param) ? "_engine" : "");
}

INSTANTIATE_TEST_SUITE_P(All, Forms,
                         ::testing::Combine(::testing::Range<std::size_t>(0, all_configs().size()),
                                            ::testing::Values(torch::kFloat32, torch::kFloat64),
                                            ::testing::Bool()),
                         name_of);
INSTANTIATE_TEST_SUITE_P(WithoutEngine, Forms,
                         ::testing::Combine(::testing::Range<std::size_t>(all_configs().size(),
                                                                          every_config().size()),
                                            ::testing::Values(torch::kFloat32, torch::kFloat64),
                                            ::testing::Values(false)),
                         name_of);

TEST_P(Forms, PermutingPointsPermutesTheResult) {
  const auto points = source(2, 40);
  const auto queries = query(2, 17);
  const Tensor order = (at::arange(40, torch::kInt64) * 17 + 5).remainder(40);
  const Tensor expected = predict(points, queries);
  const Tensor permuted = predict(select(points, order), queries);
  EXPECT_LE(relative_difference(
                permuted, model_->separates_query() ? expected : expected.index_select(1, order)),
            tolerance());
  if (!model_->separates_query()) return;
  const Tensor query_order = at::arange(16, -1, -1, torch::kInt64);
  EXPECT_LE(relative_difference(predict(points, select(queries, query_order)),
                                expected.index_select(1, query_order)),
            tolerance());
}

TEST_P(Forms, SplittingPointsOfARegionInHalvesChangesNothing) {
  if (sums_grow()) GTEST_SKIP() << "plain sums grow with the number of points by definition";
  const auto points = source(2, 40);
  const auto queries = query(2, 17);
  const Tensor indices = at::cat({at::arange(40, torch::kInt64), at::arange(15, torch::kInt64)});
  auto split = select(points, indices);
  split.weights = split.weights.clone();
  split.weights.narrow(1, 0, 15).mul_(0.5);
  split.weights.narrow(1, 40, 15).mul_(0.5);
  const Tensor expected = predict(points, queries);
  const Tensor found = predict(split, queries);
  if (model_->separates_query()) {
    EXPECT_LE(relative_difference(found, expected), tolerance());
  } else {
    EXPECT_LE(relative_difference(found, expected.index_select(1, indices)), tolerance());
  }
}

TEST_P(Forms, OnlyRatiosOfWeightsMatter) {
  const auto points = source(2, 20);
  auto queries = query(2, 9);
  const Tensor expected = predict(points, queries);
  const bool single = dtype() == torch::kFloat32;
  for (const double factor : {single ? 2e38 : 1e308, single ? 1e-37 : 1e-307, 3.0}) {
    auto scaled = points;
    scaled.weights = points.weights * factor;
    EXPECT_LE(relative_difference(predict(scaled, queries), expected), tolerance()) << factor;
  }
}

TEST_P(Forms, AbsentPointsChangeNothingWhateverTheyHold) {
  const auto points = source(2, 12);
  const auto queries = query(2, 9);
  const Tensor expected = predict(points, queries);
  for (const double content : {0.0, 1e6, double(NAN), double(INFINITY)}) {
    const Tensor found =
        predict(append_absent(points, 5, content), append_absent(queries, 3, content));
    EXPECT_LE(relative_difference(found.narrow(1, 0, expected.size(1)), expected), tolerance())
        << content;
    EXPECT_TRUE(all_finite(found)) << content;
  }
}

TEST_P(Forms, AbsentPointsReceiveThePredictionOfTheirInputs) {
  auto points = source(1, 12);
  auto queries = query(1, 9);
  const auto repeat_first = [](PointSamples& samples) {
    const std::int64_t last = samples.weights.size(1) - 1;
    samples.coordinates.select(1, last).copy_(samples.coordinates.select(1, 0));
    samples.values.select(1, last).copy_(samples.values.select(1, 0));
    samples.weights.select(1, last).zero_();
  };
  repeat_first(points);
  repeat_first(queries);
  const Tensor found = predict(points, queries);
  EXPECT_LE(relative_difference(found.select(1, found.size(1) - 1), found.select(1, 0)),
            tolerance());
}

TEST_P(Forms, CollatedSamplesGiveWhatEachGivesAlone) {
  std::vector<Sample> samples;
  std::vector<Tensor> alone;
  for (const std::int64_t count : {23, 7, 1}) {
    const auto seed = static_cast<std::uint64_t>(count);
    const auto points = random_points(config(), 1, count, dtype(), seed);
    const auto queries = random_points(config(), 1, count + 4, dtype(), seed + 100);
    alone.push_back(predict(points, queries)[0]);
    const auto first = [](const PointSamples& p) {
      return PointSamples{p.coordinates[0], p.values[0], p.weights[0]};
    };
    samples.push_back({"n" + std::to_string(count), first(points), first(queries),
                       !model_->separates_query(), alone.back()});
  }
  const Batch batch = collate(samples);
  const Tensor together = predict(batch.source, batch.query);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto sample = static_cast<std::int64_t>(i);
    EXPECT_LE(relative_difference(together[sample].narrow(0, 0, alone[i].size(0)), alone[i]),
              tolerance())
        << samples[i].name;
  }
}

TEST_P(Forms, PointsThatCoincideActAsOne) {
  if (sums_grow()) GTEST_SKIP() << "plain sums grow with the number of points by definition";
  const auto one = source(1, 1);
  const auto queries = query(1, 6);
  const auto three = select(one, at::zeros({3}, torch::kInt64));
  const Tensor expected = predict(one, queries);
  const Tensor found = predict(three, queries);
  EXPECT_TRUE(all_finite(expected));
  EXPECT_LE(relative_difference(
                found, model_->separates_query() ? expected : expected.expand({-1, 3, -1})),
            tolerance());
}

TEST_P(Forms, AwkwardSamplesStayFinite) {
  const auto queries = query(1, 6);
  for (const std::int64_t count : {1, 2, 4}) {  // fewer than the 5 basis functions
    EXPECT_TRUE(all_finite(predict(source(1, count), queries))) << count << " points";
  }
  auto constant = source(1, 30);
  constant.values = at::full_like(constant.values, 2.5);
  EXPECT_TRUE(all_finite(predict(constant, queries))) << "constant field";
  constant.coordinates = at::zeros_like(constant.coordinates);
  EXPECT_TRUE(all_finite(predict(constant, queries))) << "coincident points";
  auto collinear = source(1, 30);
  collinear.coordinates.select(2, 1).copy_(2 * collinear.coordinates.select(2, 0));
  collinear.values = 3 * collinear.coordinates.narrow(2, 0, 1).expand_as(collinear.values);
  EXPECT_TRUE(all_finite(predict(collinear, queries))) << "features of rank 1";
  auto zero = source(1, 30);
  zero.values = at::zeros_like(zero.values);
  EXPECT_TRUE(all_finite(predict(zero, queries))) << "zero field";
}

TEST_P(Forms, SampleWithoutAnyWeightIsFiniteAndHarmless) {
  auto points = source(2, 12);
  const auto queries = query(2, 9);
  const Tensor expected = predict(narrow_batch(points, 1), narrow_batch(queries, 1));
  points.weights[0].zero_();
  const Tensor found = predict(points, queries);
  EXPECT_TRUE(all_finite(found));
  EXPECT_LE(relative_difference(found.narrow(0, 1, 1), expected), tolerance());
}

TEST_P(Forms, SampleWithNaNSpoilsOnlyItself) {
  auto points = source(3, 12);
  const auto queries = query(3, 9);
  const Tensor expected = predict(points, queries);
  (config().form == Form::few_shot ? points.coordinates : points.values)[1][4][0] = NAN;
  const Tensor found = predict(points, queries);
  EXPECT_TRUE(found[1].isnan().any().item<bool>());
  for (const int sample : {0, 2}) EXPECT_TRUE(found[sample].equal(expected[sample])) << sample;
}

TEST_P(Forms, PredictLeavesGlobalStateAlone) {
  torch::manual_seed(5);
  const Tensor before = at::detail::getDefaultCPUGenerator().get_state();
  const auto type = at::get_default_dtype();
  const auto again = make_model(config(), dtype(), 3);
  again->predict(source(1, 4), query(1, 3));
  EXPECT_TRUE(at::detail::getDefaultCPUGenerator().get_state().equal(before));
  EXPECT_EQ(at::get_default_dtype(), type);
  EXPECT_TRUE(at::GradMode::is_enabled());
}

TEST_P(Forms, SeedDecidesTheWeights) {
  const auto same = make_model(config(), dtype(), 3)->named_parameters();
  const auto other = make_model(config(), dtype(), 4)->named_parameters();
  const auto wide = make_model(config(), torch::kFloat64, 3)->named_parameters();
  bool differs = false;
  std::int64_t count = 0;
  for (const auto& item : model_->named_parameters()) {
    EXPECT_TRUE(item.value().equal(same[item.key()])) << item.key();
    EXPECT_TRUE(item.value().equal(wide[item.key()].to(dtype()))) << item.key();
    EXPECT_EQ(item.value().scalar_type(), dtype());
    differs = differs || !item.value().equal(other[item.key()]);
    count += item.value().numel();
  }
  EXPECT_TRUE(differs);
  EXPECT_EQ(model_->parameter_count(), count);
  EXPECT_EQ(model_->dtype(), dtype());
}

TEST_P(Forms, MovedModelPredictsInTheNewPrecision) {
  const torch::NoGradGuard no_grad;
  const auto points = random_points(config(), 1, 12, torch::kFloat64, 11);
  const auto queries = random_points(config(), 1, 9, torch::kFloat64, 12);
  const auto wide = make_model(config(), torch::kFloat64, 3);
  const Tensor expected = wide->predict(points, queries);
  const auto cast = [&](const PointSamples& p) {
    return PointSamples{p.coordinates.to(dtype()), p.values.to(dtype()), p.weights.to(dtype())};
  };
  wide->to(dtype());
  const Tensor found = wide->predict(cast(points), cast(queries));
  EXPECT_EQ(found.scalar_type(), dtype());
  EXPECT_LE(relative_difference(found, expected), dtype() == torch::kFloat32 ? 1e-4 : 0);
}

TEST_P(Forms, SamplesThatDoNotFitAreRefused) {
  auto points = source(2, 6);
  points.coordinates = points.coordinates.narrow(2, 0, 1);
  try {
    predict(points, query(2, 3));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "source coordinates: expected shape [B,N,2], found [2, 6, 1]");
  }
  points = source(2, 6);
  points.values = points.values.to(torch::kInt64);
  EXPECT_THROW(predict(points, query(2, 3)), UsageError);
  points = source(2, 6);
  points.weights = points.weights.narrow(1, 0, 5);
  EXPECT_THROW(predict(points, query(2, 3)), UsageError);
}

class FormGradients : public ::testing::TestWithParam<std::size_t> {
 protected:
  ModelConfig config() const {
    ModelConfig config = every_config()[GetParam()].config;
    if (config.form != Form::paper || config.blocks > 0) config.width = 4;
    config.heads = config.width % 2 == 0 ? 2 : 1;
    config.basis = 3;
    config.blocks = std::min(config.blocks, 1);
    if (config.activation == Activation::relu) config.activation = Activation::gelu;
    return config;
  }
};

INSTANTIATE_TEST_SUITE_P(All, FormGradients,
                         ::testing::Range<std::size_t>(0, every_config().size()),
                         [](const auto& instance) { return every_config()[instance.param].name; });

TEST_P(FormGradients, MatchFiniteDifferencesInParametersAndInputs) {
  const auto model = make_model(config(), torch::kFloat64, 3);
  auto points = random_points(config(), 2, 5, torch::kFloat64, 11);
  auto queries = random_points(config(), 2, 3, torch::kFloat64, 12);
  points.weights[1].narrow(0, 3, 2).zero_();
  points.coordinates.requires_grad_();
  points.values.requires_grad_();
  std::vector<std::pair<std::string, Tensor>> variables{{"source coordinates", points.coordinates},
                                                        {"source values", points.values}};
  if (model->separates_query()) {
    queries.coordinates.requires_grad_();
    variables.emplace_back("query coordinates", queries.coordinates);
  }
  const auto ends_in = [](const std::string& name, const std::string& end) {
    return name.size() >= end.size() &&
           name.compare(name.size() - end.size(), end.size(), end) == 0;
  };
  for (const auto& item : model->named_parameters()) {
    // What a mixing does without has no gradient.
    if (config().mixing != Mixing::functional && ends_in(item.key(), "alpha")) continue;
    if (config().mixing == Mixing::none &&
        (ends_in(item.key(), "to_q.weight") || ends_in(item.key(), "to_k.weight")))
      continue;
    variables.emplace_back(item.key(), item.value());
  }
  expect_gradients_match([&] { return model->predict(points, queries); }, variables);
}

TEST_P(FormGradients, StayFiniteAndEqualWithNaNAtAbsentPoints) {
  const auto model = make_model(config(), torch::kFloat64, 3);
  const auto points = random_points(config(), 2, 5, torch::kFloat64, 11);
  const auto queries = random_points(config(), 2, 3, torch::kFloat64, 12);
  const std::int64_t shown = model->separates_query() ? 3 : 5;
  const auto gradients = [&](const PointSamples& s, const PointSamples& q) {
    model->zero_grad();
    model->predict(s, q).narrow(1, 0, shown).square().sum().backward();
    std::vector<Tensor> result;
    for (const Tensor& parameter : model->parameters()) result.push_back(parameter.grad().clone());
    return result;
  };
  const auto expected = gradients(points, queries);
  const auto found = gradients(append_absent(points, 2, NAN), append_absent(queries, 2, NAN));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = (found[i] - expected[i]).abs().max().item<double>();
    EXPECT_LE(difference, 1e-10 * std::max(1.0, expected[i].abs().max().item<double>()));
  }
}

}  // namespace
}  // namespace funcattn
