#include "operators/operator.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "operator_test_support.h"
#include "operators/plane_maps.h"

namespace funcattn {
namespace {

using test::expect_error;
using test::small_operator;

Operator with_center(torch::Dtype dtype) {
  const ModelConfig config = test::small_config(Form::shared_basis);
  Contract contract = test::fitting_contract(config);
  contract.coordinates.center = {4e6, -4e6};
  contract.coordinates.scale = 0.5;
  return Operator(make_model(config, dtype), contract);
}

PointSamples filled_samples(const Operator& op) {
  PointSamples samples = test::random_samples(op, 4, 1);
  samples.coordinates += torch::tensor({4e6, -4e6}, torch::kFloat64);
  return samples;
}

TEST(Operator, NormalisesInDoubleBeforeTheCast) {
  const Operator op = with_center(torch::kFloat32);
  PointSamples samples = filled_samples(op);
  samples.coordinates[0][0][0] = 4e6 + 1.0 / 1024;  // far below the spacing of float32 at 4e6
  samples.values[0][0][1] = 0.2 + 2 * (1.0 / 3.0 + 1);
  const PointSamples result = op.normalise(samples);
  EXPECT_EQ(result.coordinates.scalar_type(), torch::kFloat32);
  EXPECT_EQ(result.values.scalar_type(), torch::kFloat32);
  EXPECT_EQ(result.coordinates[0][0][0].item<double>(), 2.0 / 1024);
  EXPECT_FLOAT_EQ(result.values[0][0][1].item<float>(), 2.0F);
}

TEST(Operator, AbsentPointsBringNoNanButKeepTheirPlace) {
  const Operator op = with_center(torch::kFloat32);
  PointSamples samples = filled_samples(op);
  const PointSamples before = op.normalise(samples);
  samples.weights[0][1] = 0;
  samples.weights[0][2] = 0;
  samples.coordinates[0][1][0] = NAN;
  samples.values[0][1][2] = -INFINITY;
  samples.values[0][1][0] = 1e300;  // overflows in float32
  samples.values[1][0][0] = NAN;    // present: must stay visible
  const PointSamples result = op.normalise(samples);
  EXPECT_EQ(result.coordinates[0][1][0].item<float>(), 0.0F);
  EXPECT_EQ(result.values[0][1][0].item<float>(), 0.0F);
  EXPECT_EQ(result.values[0][1][2].item<float>(), 0.0F);
  EXPECT_TRUE(result.coordinates[0][2].equal(before.coordinates[0][2]));
  EXPECT_TRUE(result.values[0][2].equal(before.values[0][2]));
  EXPECT_TRUE(std::isnan(result.values[1][0][0].item<float>()));
}

TEST(Operator, SmallAndLargeWeightsSurviveFloat32) {
  const Operator op = with_center(torch::kFloat32);
  PointSamples samples = filled_samples(op);
  samples.weights =
      torch::tensor({1.0, 2.0, 0.0, 3.0, 4.0, 4.0, 4.0, 4.0}, torch::kFloat64).view({2, 4});
  const Tensor expected =
      torch::tensor({0.5F, 1.0F, 0.0F, 1.5F, 1.0F, 1.0F, 1.0F, 1.0F}).view({2, 4});
  for (const double factor : {1.0, 1e-60, 1e307, 5e-324}) {
    PointSamples scaled = samples;
    scaled.weights = samples.weights * factor;
    EXPECT_TRUE(op.normalise(scaled).weights.allclose(expected, 1e-6, 0)) << factor;
  }
  samples.weights.zero_();
  EXPECT_TRUE(op.normalise(samples).weights.equal(torch::zeros({2, 4})));
}

TEST(Operator, UndefinedValuesStayUndefined) {
  const Operator op = small_operator(Form::few_shot);
  PointSamples query = test::random_samples(op, 3, 1);
  query.values = Tensor();
  EXPECT_FALSE(op.normalise(query).values.defined());
  const Tensor result = op.apply(test::random_samples(op, 5, 2), query);
  EXPECT_EQ(result.sizes(), (at::IntArrayRef{2, 3, 2}));
  EXPECT_TRUE(result.isfinite().all().item<bool>());
}

TEST(Operator, NoStatisticsMeansTheIdentity) {
  const ModelConfig config = test::small_config(Form::shared_basis);
  Contract contract = test::fitting_contract(config);
  contract.input_normalisation = {};
  contract.output_normalisation = {};
  contract.coordinates.center = {0, 0};
  contract.coordinates.scale = 1;
  const Operator op(make_model(config, torch::kFloat64), contract);
  const PointSamples samples = test::random_samples(op, 4, 1);
  const PointSamples result = op.normalise(samples);
  EXPECT_TRUE(result.coordinates.equal(samples.coordinates));
  EXPECT_TRUE(result.values.equal(samples.values));
  EXPECT_TRUE(op.denormalise(samples.values).equal(samples.values));
}

TEST(Operator, DenormalisesDifferentiably) {
  const Operator op = small_operator(Form::shared_basis);
  Tensor prediction = torch::tensor({2.0F, 3.0F}).view({1, 1, 2}).requires_grad_();
  const Tensor physical = op.denormalise(prediction);
  EXPECT_EQ(physical.scalar_type(), torch::kFloat32);
  EXPECT_FLOAT_EQ(physical[0][0][0].item<float>(), 2.0F * 1.1F);
  EXPECT_FLOAT_EQ(physical[0][0][1].item<float>(), 3.0F * 2.1F - 0.7F);
  physical.sum().backward();
  EXPECT_TRUE(prediction.grad().allclose(torch::tensor({1.1F, 2.1F}).view({1, 1, 2})));
}

TEST(Operator, ApplyIsNormalisePredictDenormalise) {
  const Operator op = small_operator(Form::shared_basis, torch::kFloat64);
  const PointSamples samples = test::random_samples(op, 6, 3);
  const PointSamples normalised = op.normalise(samples);
  const Tensor expected = op.denormalise(op.model().predict(normalised, normalised));
  EXPECT_TRUE(op.apply(samples, samples).equal(expected));
  EXPECT_TRUE(op.apply(samples, samples).requires_grad());
  const torch::NoGradGuard no_gradient;
  EXPECT_FALSE(op.apply(samples, samples).requires_grad());
}

TEST(Operator, HasTheSymmetriesOfItsContract) {
  ModelConfig config = test::small_config(Form::shared_basis);
  config.value_features = config.out_features = 1;
  Contract contract = test::fitting_contract(config);
  const auto model = make_model(config, torch::kFloat64);
  const Operator plain(model, contract);
  contract.symmetries = {Symmetries::square, {0.5, -0.25}};
  const Operator symmetric(model, contract);
  const PointSamples samples = test::random_samples(plain, 7, 2);
  const torch::NoGradGuard no_gradient;
  const InferenceEngine engine(*model);
  const auto by_engine = [&](const Operator& op, const PointSamples& at) {
    return op.apply(at, at, engine);
  };
  Tensor mean = torch::zeros_like(plain.apply(samples, samples));
  for (int element = 0; element < 8; ++element) {
    const PointSamples moved = mapped(samples, contract.symmetries, element);
    mean += plain.apply(moved, moved) / 8;
    EXPECT_TRUE(at::allclose(by_engine(symmetric, moved), by_engine(symmetric, samples), 0, 1e-12));
  }
  EXPECT_TRUE(at::allclose(symmetric.apply(samples, samples), mean, 0, 1e-12));
  EXPECT_TRUE(at::allclose(by_engine(symmetric, samples), mean, 0, 1e-12));
  EXPECT_GT((by_engine(plain, samples) - mean).abs().max().item<double>(), 1e-3);

  const Operator single = symmetric.without_symmetries();
  EXPECT_EQ(single.contract().to_json(), plain.contract().to_json());
  EXPECT_TRUE(single.apply(samples, samples).equal(plain.apply(samples, samples)));
  EXPECT_TRUE(by_engine(single, samples).equal(by_engine(plain, samples)));
  expect_error<UsageError>([&] { (void)plain.without_symmetries(); },
                           {"no mean over symmetries", "choice of a single prediction"});

  EngineProfile profile;
  std::vector<double> fractions;
  EngineOptions options;
  options.profile = &profile;
  options.progress = [&](double fraction) {
    fractions.push_back(fraction);
    return true;
  };
  (void)symmetric.apply(samples, samples, engine, options);
  std::set<std::string> parts;
  for (const auto& [part, seconds] : profile) EXPECT_TRUE(parts.insert(part).second) << part;
  EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
  EXPECT_EQ(fractions.back(), 1);
}

TEST(Operator, WhatDoesNotFitIsAUsageError) {
  const ModelConfig config = test::small_config(Form::shared_basis);
  const auto build = [&](const Contract& contract) { Operator(make_model(config), contract); };
  Contract contract = test::fitting_contract(config);
  contract.inputs.pop_back();
  contract.input_normalisation = {};
  expect_error<UsageError>([&] { build(contract); }, {"value input components 2", "features 3"});
  contract = test::fitting_contract(config);
  contract.coordinates.axes = {0};
  contract.coordinates.center = {0};
  contract.bounds_min = contract.bounds_max = {};
  expect_error<UsageError>([&] { build(contract); }, {"coordinate axes 1", "coordinates 2"});
  contract = test::fitting_contract(config);
  contract.outputs[0].components = 3;
  contract.output_normalisation = {};
  expect_error<UsageError>([&] { build(contract); }, {"output components 3", "features 2"});

  const Operator op = small_operator(Form::shared_basis);
  PointSamples samples = test::random_samples(op, 4, 1);
  samples.values = samples.values.narrow(2, 0, 2);
  expect_error<UsageError>([&] { op.normalise(samples); }, {"values are [2, 4, 2]", "[2, 4, 3]"});
  samples = test::random_samples(op, 4, 1);
  samples.weights = Tensor();
  expect_error<UsageError>([&] { op.normalise(samples); }, {"weights are not given", "[2, 4]"});
  samples = test::random_samples(op, 4, 1);
  samples.coordinates = samples.coordinates[0];
  expect_error<UsageError>([&] { op.normalise(samples); }, {"[batch, points, axes]"});
}

}  // namespace
}  // namespace funcattn
