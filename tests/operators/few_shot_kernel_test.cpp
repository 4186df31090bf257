#include "operators/forms/few_shot.h"
#include "tests/operators/attention_test_support.h"

// The single operation against the tensor operations that it stands for.

namespace funcattn {
namespace {

using testing::Draw;
using testing::expect_gradients_match;
using testing::relative_difference;

struct Problem {
  std::shared_ptr<FewShotModel> model;
  PointSamples source;
  PointSamples query;
};

/// Two samples, 9 context points and 7 queries, two coordinates.
Problem problem(const ModelConfig& config, torch::Dtype dtype) {
  Draw draw(dtype);
  Problem result;
  result.model = std::dynamic_pointer_cast<FewShotModel>(make_model(config, dtype, 3));
  result.source = {draw.normal({2, 9, 2}), draw.normal({2, 9, config.value_features}),
                   at::ones({2, 9}, dtype)};
  result.query = {draw.normal({2, 7, 2}), Tensor(), Tensor()};
  return result;
}

ModelConfig small_config() {
  ModelConfig config;
  config.form = Form::few_shot;
  config.coordinate_dimension = 2;
  config.value_features = 1;
  config.width = 8;
  config.latent = 3;
  config.basis = 5;
  config.encoder_layers = 3;
  config.ridge = 1e-2;
  return config;
}

/// Prediction, and gradients of all parameters, both sets of coordinates and the values.
std::vector<std::pair<std::string, Tensor>> results(const Problem& p, bool by_kernel) {
  const auto copy = [](const Tensor& x) { return x.detach().clone().requires_grad_(); };
  const PointSamples source{copy(p.source.coordinates), copy(p.source.values), p.source.weights};
  const PointSamples query{copy(p.query.coordinates), Tensor(), p.query.weights};
  for (const Tensor& parameter : p.model->parameters()) parameter.mutable_grad() = Tensor();
  const Tensor prediction = by_kernel ? p.model->predict_by_kernel(source, query)
                                      : p.model->predict_by_operations(source, query);
  if (!prediction.defined()) return {};
  const Tensor direction =
      Draw(torch::kFloat64, 5).normal(prediction.sizes()).to(prediction.scalar_type());
  (prediction * direction).sum().backward();
  std::vector<std::pair<std::string, Tensor>> found{{"prediction", prediction}};
  for (const auto& parameter : p.model->named_parameters()) {
    const Tensor gradient = parameter.value().grad();
    found.emplace_back(parameter.key(),
                       gradient.defined() ? gradient : at::zeros_like(parameter.value()));
  }
  found.emplace_back("context", source.coordinates.grad());
  found.emplace_back("values", source.values.grad());
  found.emplace_back("queries", query.coordinates.grad());
  return found;
}

void expect_agreement(const Problem& p) {
  const auto found = results(p, true);
  const auto expected = results(p, false);
  ASSERT_EQ(found.size(), expected.size()) << "the kernel did not apply";
  // How a BLAS orders its sums shows in the float32 gradient of the temperature (1.3e-4 seen).
  const double tolerance = p.model->dtype() == torch::kFloat64 ? 1e-9 : 1e-3;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (expected[i].first == "slice.bias") {
      // Cancels in a softmax over the points: its gradient is rounding of 0.
      EXPECT_LE(found[i].second.abs().max().item<double>(), tolerance);
      continue;
    }
    EXPECT_LE(relative_difference(found[i].second, expected[i].second), tolerance)
        << expected[i].first;
  }
}

void expect_agreement(
    const ModelConfig& config, const std::function<void(Problem&)>& change = [](Problem&) {}) {
  for (const auto dtype : {torch::kFloat32, torch::kFloat64}) {
    SCOPED_TRACE(c10::str(dtype));
    Problem p = problem(config, dtype);
    change(p);
    expect_agreement(p);
  }
}

TEST(FewShotKernel, AgreesForEveryActivation) {
  for (const auto activation :
       {Activation::relu, Activation::gelu, Activation::silu, Activation::tanh, Activation::sine}) {
    SCOPED_TRACE(to_string(activation));
    ModelConfig config = small_config();
    config.activation = activation;
    expect_agreement(config);
  }
}

TEST(FewShotKernel, AgreesForBothSystemsAndRidges) {
  for (const bool relative : {false, true}) {
    for (const int groups : {2, 3, 5, 20}) {  // latent 3, context 9
      SCOPED_TRACE(c10::str("relative ", relative, ", groups ", groups));
      ModelConfig config = small_config();
      config.relative_ridge = relative;
      config.basis = groups;
      config.value_features = config.out_features = 2;
      expect_agreement(config);
    }
  }
}

TEST(FewShotKernel, AgreesForOneLayer) {
  ModelConfig config = small_config();
  config.encoder_layers = 1;
  expect_agreement(config);
}

TEST(FewShotKernel, AgreesForUnequalAndAbsentWeights) {
  expect_agreement(small_config(), [](Problem& p) {
    p.source.weights = Draw(torch::kFloat64, 8).uniform({2, 9}, 1e-3, 4.0).to(p.model->dtype());
    p.source.weights[0][2] = 0;
    p.source.weights[1][0] = 0;
    p.source.coordinates[0][2][1] = NAN;
    p.source.values[0][2][0] = NAN;
    p.query.weights = at::ones({2, 7}, p.source.weights.options());
    p.query.weights[1][6] = 0;
    p.query.coordinates[1][6][0] = NAN;
  });
}

TEST(FewShotKernel, ClampsTheTemperatureAlike) {
  for (const double temperature : {0.05, 0.1, 1.0, 7.0}) {
    ModelConfig config = small_config();
    config.temperature = temperature;
    expect_agreement(config);
  }
}

TEST(FewShotKernel, MatchesFiniteDifferences) {
  ModelConfig config = small_config();
  config.activation = Activation::sine;
  config.relative_ridge = true;
  const Problem p = problem(config, torch::kFloat64);
  std::vector<std::pair<std::string, Tensor>> variables;
  for (const auto& parameter : p.model->named_parameters())
    variables.emplace_back(parameter.key(), parameter.value());
  variables.emplace_back("context", p.source.coordinates.requires_grad_());
  variables.emplace_back("values", p.source.values.requires_grad_());
  variables.emplace_back("queries", p.query.coordinates.requires_grad_());
  expect_gradients_match([&] { return p.model->predict_by_kernel(p.source, p.query); }, variables);
}

TEST(FewShotKernel, LeavesWhatItCannotDecide) {
  const auto applies = [](const std::function<void(Problem&)>& change) {
    Problem p = problem(small_config(), torch::kFloat32);
    change(p);
    return p.model->predict_by_kernel(p.source, p.query).defined();
  };
  EXPECT_TRUE(applies([](Problem&) {}));
  EXPECT_FALSE(applies([](Problem& p) { p.source.coordinates[0][0][0] = NAN; }));
  EXPECT_FALSE(applies([](Problem& p) { p.source.values[1][0][0] = INFINITY; }));
  EXPECT_FALSE(applies([](Problem& p) { p.query.coordinates[1][3][1] = NAN; }));
  EXPECT_FALSE(applies([](Problem& p) { p.source.weights[1].zero_(); }));
  EXPECT_FALSE(applies([](Problem& p) {
    p.source.coordinates = p.source.coordinates.transpose(1, 2).contiguous().transpose(1, 2);
  }));
  EXPECT_FALSE(applies([](Problem& p) { p.query.coordinates = at::zeros({2, 200000, 2}); }));
  ModelConfig fourier = small_config();
  fourier.fourier_features = 2;
  const Problem p = problem(fourier, torch::kFloat32);
  EXPECT_FALSE(p.model->predict_by_kernel(p.source, p.query).defined());
}

TEST(FewShotKernel, ServesTrainingOnly) {
  const Problem p = problem(small_config(), torch::kFloat32);
  const Tensor trained = p.model->predict(p.source, p.query);
  EXPECT_TRUE(trained.equal(p.model->predict_by_kernel(p.source, p.query)));
  const torch::NoGradGuard no_grad;
  EXPECT_TRUE(
      p.model->predict(p.source, p.query).equal(p.model->predict_by_operations(p.source, p.query)));
}

}  // namespace
}  // namespace funcattn
