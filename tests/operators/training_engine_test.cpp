#include <omp.h>

#include "core/error.h"
#include "tests/operators/attention_test_support.h"
#include "tests/support/memory_limit.h"

// The backward on panels against LibTorch's own of the same model's operations, which serve where
// the features require gradients.

namespace funcattn {
namespace {

using testing::Draw;
using testing::relative_difference;

ModelConfig config_of(Form form) {
  ModelConfig config;
  config.form = form;
  config.coordinate_dimension = 2;
  config.value_features = 1;
  config.out_features = 3;
  config.width = 20;
  config.heads = 2;
  config.basis = 11;
  config.blocks = 3;
  config.preprocess_depth = 2;
  return config;
}

/// Layers of the size that training gives them, so that a mistake in any of them shows.
void scale_like_trained(Model& model, torch::Dtype dtype) {
  const torch::NoGradGuard no_grad;
  Draw draw(dtype, 29);
  for (auto& parameter : model.named_parameters()) {
    Tensor& value = parameter.value();
    if (value.dim() > 1 && parameter.key().find("temperature") == std::string::npos)
      value.mul_(1.7);
    else
      value.add_(draw.normal(value.sizes()), 0.1);
  }
}

PointSamples random_points(const ModelConfig& config, std::int64_t batch, std::int64_t count,
                           torch::Dtype dtype) {
  Draw draw(dtype, 31);
  PointSamples points{draw.uniform({batch, count, config.coordinate_dimension}, -1, 1),
                      draw.normal({batch, count, config.value_features}),
                      draw.uniform({batch, count}, 0.1, 1.0)};
  // Padding of one sample, a hole in another.
  points.weights[0].narrow(0, count - count / 3, count / 3).zero_();
  points.weights[batch - 1].narrow(0, 1, 2).zero_();
  return points;
}

struct Result {
  Tensor prediction;
  std::vector<std::pair<std::string, Tensor>> gradients;
};

Result step(Model& model, const PointSamples& points, bool by_operations) {
  PointSamples input = points;
  // Features that require gradients are the operations' business.
  if (by_operations) input.coordinates = points.coordinates.clone().requires_grad_();
  for (const Tensor& parameter : model.parameters()) parameter.mutable_grad() = Tensor();
  Result result;
  result.prediction = model.predict(input, input);
  Draw draw(model.dtype(), 37);
  const Tensor present = points.weights.gt(0).unsqueeze(-1);
  (result.prediction * draw.normal(result.prediction.sizes()) * present).sum().backward();
  for (const auto& parameter : model.named_parameters())
    result.gradients.emplace_back(parameter.key(), parameter.value().grad());
  return result;
}

struct Case {
  Form form;
  Bases bases = Bases::shared;
  std::optional<double> blend{};
};

class TrainingEngine : public ::testing::TestWithParam<std::tuple<Case, torch::Dtype>> {
 protected:
  static ModelConfig config() {
    ModelConfig config = config_of(std::get<0>(GetParam()).form);
    config.bases = std::get<0>(GetParam()).bases;
    config.blend = std::get<0>(GetParam()).blend;
    return config;
  }
  torch::Dtype dtype() const { return std::get<1>(GetParam()); }
  void SetUp() override {
    model_ = make_model(config(), dtype(), 3);
    scale_like_trained(*model_, dtype());
  }
  std::shared_ptr<Model> model_;
};

INSTANTIATE_TEST_SUITE_P(
    All, TrainingEngine,
    ::testing::Combine(::testing::Values(Case{Form::shared_basis}, Case{Form::shared_basis_tied},
                                         Case{Form::segmentation}, Case{Form::paper},
                                         Case{Form::shared_basis, Bases::separate_slices},
                                         Case{Form::shared_basis, Bases::separate},
                                         Case{Form::shared_basis_tied, Bases::separate},
                                         Case{Form::shared_basis, Bases::shared, 0.2}),
                       ::testing::Values(torch::kFloat32, torch::kFloat64)),
    [](const auto& instance) {
      const Case& one = std::get<0>(instance.param);
      return std::string(to_string(one.form)) + "_" + to_string(one.bases) +
             (one.blend ? "_blend_" : "_") + c10::toString(std::get<1>(instance.param));
    });

TEST_P(TrainingEngine, GradientsAreThoseOfTheOperations) {
  // Several tiles and a last panel that is not full; and one sample smaller than a panel.
  for (const std::int64_t count : {1100, 7}) {
    const PointSamples points = random_points(config(), 3, count, dtype());
    const Result expected = step(*model_, points, true);
    const Result found = step(*model_, points, false);
    ASSERT_NE(found.prediction.grad_fn()->name(), expected.prediction.grad_fn()->name());
    // In float32 the gradients of biases are small differences of large numbers on either side;
    // what they must be is tested in float64.
    const double tolerance = dtype() == torch::kFloat64 ? 1e-9 : 2e-3;
    EXPECT_LE(relative_difference(found.prediction, expected.prediction), tolerance);
    for (std::size_t i = 0; i < expected.gradients.size(); ++i) {
      const auto& [name, gradient] = expected.gradients[i];
      ASSERT_TRUE(gradient.defined()) << name;
      ASSERT_TRUE(found.gradients[i].second.defined()) << name;
      EXPECT_GT(gradient.abs().max().item<double>(), 0) << name;
      EXPECT_LE(relative_difference(found.gradients[i].second, gradient), tolerance)
          << name << ", " << count << " points";
    }
  }
}

TEST_P(TrainingEngine, StepsAreBitEqualFromRunToRun) {
  const ThreadScope scope(2);
  const PointSamples points = random_points(config(), 2, 1300, dtype());
  const Result first = step(*model_, points, false);
  const Result second = step(*model_, points, false);
  EXPECT_TRUE(first.prediction.equal(second.prediction));
  for (std::size_t i = 0; i < first.gradients.size(); ++i)
    EXPECT_TRUE(first.gradients[i].second.equal(second.gradients[i].second))
        << first.gradients[i].first;
}

TEST_P(TrainingEngine, ThreadsHardlyMatter) {
  const PointSamples points = random_points(config(), 2, 1300, dtype());
  const auto with_threads = [&](int threads) {
    const ThreadScope scope(threads);
    return step(*model_, points, false);
  };
  const Result one = with_threads(1);
  const Result three = with_threads(3);
  EXPECT_TRUE(one.prediction.equal(three.prediction));
  for (std::size_t i = 0; i < one.gradients.size(); ++i)
    EXPECT_LE(relative_difference(three.gradients[i].second, one.gradients[i].second),
              dtype() == torch::kFloat64 ? 1e-12 : 1e-5)
        << one.gradients[i].first;
}

TEST(TrainingEngineErrors, SecondDerivativesAreRefused) {
  const auto model = make_model(config_of(Form::shared_basis));
  const PointSamples points = random_points(config_of(Form::shared_basis), 1, 9, torch::kFloat32);
  const Tensor loss = model->predict(points, points).square().sum();
  try {
    loss.backward({}, true, /*create_graph=*/true);
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("second derivatives are not available"),
              std::string::npos)
        << error.what();
  }
}

TEST(TrainingEngineErrors, ParametersOverwrittenBeforeTheBackwardAreNoticed) {
  const auto model = make_model(config_of(Form::shared_basis));
  const PointSamples points = random_points(config_of(Form::shared_basis), 1, 9, torch::kFloat32);
  const Tensor loss = model->predict(points, points).square().sum();
  {
    const torch::NoGradGuard no_grad;
    model->named_parameters()["blocks.0.Attn.to_q.weight"].mul_(2);
  }
  EXPECT_ANY_THROW(loss.backward());
}

TEST(TrainingEngineErrors, MemoryThatIsNotThereNamesWhatNeedsLess) {
  ModelConfig config = config_of(Form::shared_basis);
  config.width = 120;
  const auto model = make_model(config);
  // Eight times 128 rows for each point: the features before three blocks and after the last, what
  // the blocks keep (a few more than the width), and a gradient.
  const PointSamples points = random_points(config, 1, 500000, torch::kFloat32);
  std::string message;
  {
    const test::MemoryLimit limit(200000000);
    try {
      (void)model->predict(points, points);
    } catch (const DataError& error) {
      message = error.what();
    }
  }
  EXPECT_EQ(message,
            "a training step does not fit: the features of the points need 1.91 GiB, which this "
            "machine does not give; take fewer samples per batch, or samples of fewer points");
}

}  // namespace
}  // namespace funcattn
