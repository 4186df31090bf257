#include "operators/training/adamw.h"

#include <torch/optim/adamw.h>

#include <limits>
#include <set>

#include "tests/operators/training/fixtures.h"

namespace funcattn {
namespace {

using test::message_of;

/// Matrices and vectors of awkward sizes; one matrix spans many tiles of the update.
struct Layers : torch::nn::Module {
  explicit Layers(torch::Dtype dtype) {
    RandomGenerator random(2);
    const auto make = [&](const char* name, std::vector<std::int64_t> shape) {
      Tensor values = torch::empty(shape, torch::kFloat64);
      for (std::int64_t i = 0; i < values.numel(); ++i)
        values.data_ptr<double>()[i] = random.normal();
      return register_parameter(name, values.to(dtype));
    };
    make("small", {3, 5});
    make("bias", {7});
    make("large", {151, 307});
    make("scalar", {});
    register_parameter("frozen", torch::ones({2, 2}, dtype), false);
  }
};

void set_gradients(torch::nn::Module& module, int step) {
  const torch::NoGradGuard no_grad;
  for (auto& item : module.named_parameters()) {
    if (!item.value().requires_grad()) continue;
    const Tensor gradient = (item.value() * 3 + static_cast<double>(step)).sin();
    if (item.value().grad().defined())
      item.value().mutable_grad().copy_(gradient);
    else
      item.value().mutable_grad() = gradient;
  }
}

class AdamWReference : public ::testing::TestWithParam<std::tuple<torch::Dtype, bool>> {};

TEST_P(AdamWReference, AgreesWithLibTorch) {
  const auto [dtype, fused] = GetParam();
  Layers expected(dtype);
  Layers found(dtype);
  const auto group = [&](std::vector<std::string> names, double decay) {
    std::vector<Tensor> tensors;
    for (const auto& name : names) tensors.push_back(expected.named_parameters()[name]);
    auto options = std::make_unique<torch::optim::AdamWOptions>(1e-2);
    options->betas({0.8, 0.95});
    options->weight_decay(decay);
    return torch::optim::OptimizerParamGroup(tensors, std::move(options));
  };
  torch::optim::AdamW reference(std::vector<torch::optim::OptimizerParamGroup>{
      group({"small", "large"}, 0.3), group({"bias", "scalar"}, 0.0)});
  {
    FlatParameters parameters(found);
    AdamW optimiser(parameters, {0.8, 0.95, 1e-8, 0.3, fused});
    for (int step = 0; step < 12; ++step) {
      const double rate = 1e-2 / (1 + step);
      for (auto& part : reference.param_groups())
        static_cast<torch::optim::AdamWOptions&>(part.options()).lr(rate);
      set_gradients(expected, step);
      set_gradients(found, step);
      reference.step();
      optimiser.step(rate);
    }
    EXPECT_EQ(optimiser.steps(), 12);
  }
  const double tolerance = dtype == torch::kFloat64 ? 1e-13 : 1e-6;
  for (const auto& item : expected.named_parameters()) {
    const Tensor difference = (found.named_parameters()[item.key()] - item.value()).abs();
    const Tensor relative = difference / item.value().abs().clamp_min(1);
    EXPECT_LE(relative.max().item<double>(), tolerance) << item.key();
  }
}

INSTANTIATE_TEST_SUITE_P(, AdamWReference,
                         ::testing::Combine(::testing::Values(torch::kFloat32, torch::kFloat64),
                                            ::testing::Bool()));

TEST(AdamW, DecayLeavesVectorsAlone) {
  Layers layers(torch::kFloat64);
  const Tensor matrix = layers.named_parameters()["small"].detach().clone();
  const Tensor vector = layers.named_parameters()["bias"].detach().clone();
  FlatParameters parameters(layers);
  AdamW optimiser(parameters, {0.9, 0.999, 1e-8, 0.5});
  optimiser.step(0.1);
  EXPECT_TRUE(torch::allclose(layers.named_parameters()["small"], matrix * 0.95, 1e-14));
  EXPECT_TRUE(torch::equal(layers.named_parameters()["bias"], vector));
}

TEST(AdamW, GradientScaleActsLikeScaledGradients) {
  Layers a(torch::kFloat64);
  Layers b(torch::kFloat64);
  FlatParameters flat_a(a);
  FlatParameters flat_b(b);
  AdamW scaled(flat_a, {});
  AdamW plain(flat_b, {});
  for (int step = 0; step < 3; ++step) {
    set_gradients(a, step);
    set_gradients(b, step);
    flat_b.gradients().mul_(0.25);
    scaled.step(1e-2, 0.25);
    plain.step(1e-2);
  }
  EXPECT_TRUE(torch::allclose(flat_a.values(), flat_b.values(), 1e-14, 1e-14));
}

TEST(FlatParameters, BackwardAccumulatesIntoTheFlatGradient) {
  Layers layers(torch::kFloat64);
  FlatParameters parameters(layers);
  double squares = 0;
  for (int pass = 0; pass < 2; ++pass) {
    parameters.gradients().zero_();
    Tensor sum = torch::zeros({}, torch::kFloat64);
    squares = 0;
    for (const auto& slot : parameters.slots()) {
      sum = sum + slot.parameter.square().sum();
      squares += 4 * slot.parameter.detach().square().sum().item<double>();
    }
    sum.backward();
    for (const auto& slot : parameters.slots()) {
      EXPECT_TRUE(torch::allclose(FlatParameters::view(parameters.gradients(), slot),
                                  2 * slot.parameter.detach()));
      EXPECT_EQ(slot.parameter.grad().data_ptr(),
                FlatParameters::view(parameters.gradients(), slot).data_ptr());
    }
  }
  EXPECT_NEAR(parameters.gradient_norm(), std::sqrt(squares), 1e-9);
  EXPECT_EQ(parameters.non_finite_gradient(), "");
  layers.named_parameters()["bias"].mutable_grad()[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(std::isfinite(parameters.gradient_norm()));
  EXPECT_EQ(parameters.non_finite_gradient(), "bias");
}

TEST(FlatParameters, LeavesIndependentTensorsBehind) {
  Layers layers(torch::kFloat32);
  const Tensor before = layers.named_parameters()["large"].detach().clone();
  { FlatParameters parameters(layers); }
  std::set<const void*> storages;
  for (const auto& item : layers.named_parameters()) {
    const Tensor& parameter = item.value();
    EXPECT_TRUE(storages.insert(parameter.storage().data()).second) << item.key();
    EXPECT_EQ(parameter.storage().nbytes(), parameter.nbytes()) << item.key();
    EXPECT_FALSE(parameter.grad().defined()) << item.key();
    EXPECT_TRUE(parameter.is_leaf());
  }
  EXPECT_TRUE(torch::equal(layers.named_parameters()["large"], before));
}

TEST(FlatParameters, TrainsAParameterSharedByTwoModulesOnce) {
  struct Shared : torch::nn::Module {
    Shared() {
      const Tensor weight = register_parameter("weight", torch::ones({2, 2}));
      auto part = std::make_shared<torch::nn::Module>();
      part->register_parameter("weight", weight);
      register_module("part", part);
    }
  } shared;
  FlatParameters parameters(shared);
  ASSERT_EQ(parameters.slots().size(), 1u);
  EXPECT_EQ(parameters.slots()[0].name, "weight");
}

TEST(FlatParameters, RefusesWhatItCannotJoin) {
  struct Nothing : torch::nn::Module {
  } nothing;
  EXPECT_EQ(message_of<UsageError>([&] { FlatParameters parameters(nothing); }),
            "the model has no parameter that can be trained");
  struct Mixed : torch::nn::Module {
    Mixed() {
      register_parameter("a", torch::ones({2}, torch::kFloat32));
      register_parameter("b", torch::ones({2}, torch::kFloat64));
    }
  } mixed;
  EXPECT_CONTAINS(message_of<UsageError>([&] { FlatParameters parameters(mixed); }),
                  "parameter 'b' has another dtype");
}

}  // namespace
}  // namespace funcattn
