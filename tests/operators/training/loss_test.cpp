#include "operators/training/loss.h"

#include <limits>

#include "tests/operators/training/fixtures.h"

namespace funcattn {
namespace {

using test::message_of;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Tensor values(std::vector<double> numbers, std::vector<std::int64_t> shape) {
  return torch::tensor(numbers, torch::kFloat64).reshape(shape);
}

// Sample 0: differences (1, 2) and (0, -3), weights 1 and 3; sample 1: (2, 0), weight 2, and a
// masked point of NaN.
const std::vector<double> prediction_numbers{2, 4, 5, 3, 3, 4, nan, nan};
const std::vector<double> target_numbers{1, 2, 5, 6, 1, 4, nan, 7};
const std::vector<double> weight_numbers{1, 3, 2, 0};

TEST(Loss, MeanSquareIsTheWeightedMeanOverPointsAndChannels) {
  const Tensor losses =
      sample_losses(Loss::mse, values(prediction_numbers, {2, 2, 2}),
                    values(target_numbers, {2, 2, 2}), values(weight_numbers, {2, 2}));
  ASSERT_EQ(losses.sizes(), (std::vector<std::int64_t>{2}));
  EXPECT_DOUBLE_EQ(losses[0].item<double>(), (1 * 5.0 + 3 * 9.0) / (4 * 2));
  EXPECT_DOUBLE_EQ(losses[1].item<double>(), 2 * 4.0 / (2 * 2));
}

TEST(Loss, LogRelativeL2IsTheLogarithmOfTheSquaredRelativeError) {
  const Tensor losses =
      sample_losses(Loss::log_relative_l2, values(prediction_numbers, {2, 2, 2}),
                    values(target_numbers, {2, 2, 2}), values(weight_numbers, {2, 2}));
  EXPECT_NEAR(losses[0].item<double>(), std::log(32.0 / (1 * 5.0 + 3 * 61.0) + 1e-12), 1e-14);
  EXPECT_NEAR(losses[1].item<double>(), std::log(8.0 / (2 * 17.0) + 1e-12), 1e-14);
}

TEST(Loss, LogRelativeL2HasAFiniteValueAndGradientAtAnExactFit) {
  const Tensor target = values({1, 2}, {1, 2, 1});
  const Tensor prediction = target.clone().requires_grad_();
  const Tensor loss =
      sample_losses(Loss::log_relative_l2, prediction, target, torch::ones({1, 2})).sum();
  EXPECT_NEAR(loss.item<double>(), std::log(1e-12), 1e-12);
  loss.backward();
  EXPECT_EQ(prediction.grad().abs().max().item<double>(), 0);
}

TEST(Loss, RelativeL2DividesByTheSizeOfTheTarget) {
  const Tensor losses =
      sample_losses(Loss::relative_l2, values(prediction_numbers, {2, 2, 2}),
                    values(target_numbers, {2, 2, 2}), values(weight_numbers, {2, 2}));
  EXPECT_DOUBLE_EQ(losses[0].item<double>(), std::sqrt(32.0 / (1 * 5.0 + 3 * 61.0)));
  EXPECT_DOUBLE_EQ(losses[1].item<double>(), std::sqrt(8.0 / (2 * 17.0)));
}

TEST(Loss, ZeroTargetUsesTheFloor) {
  const Tensor prediction = torch::full({1, 4, 1}, 3e-3, torch::kFloat64);
  const Tensor target = torch::zeros({1, 4, 1}, torch::kFloat64);
  const Tensor weights = torch::full({1, 4}, 0.25, torch::kFloat64);
  EXPECT_NEAR(sample_losses(Loss::relative_l2, prediction, target, weights).item<double>(), 3e5,
              1e-9);
  EXPECT_DOUBLE_EQ(
      sample_losses(Loss::relative_l2, prediction, target, weights, 1e-3).item<double>(), 3.0);
}

TEST(Loss, ScalingAllWeightsChangesNothing) {
  for (const Loss loss : {Loss::mse, Loss::relative_l2}) {
    const auto of = [&](double factor) {
      return sample_losses(loss, values({1, 2, 3}, {1, 3, 1}), values({0, 1, 5}, {1, 3, 1}),
                           factor * values({1, 2, 4}, {1, 3}))
          .item<double>();
    };
    EXPECT_NEAR(of(1.0), of(1e-9), 1e-15);
  }
}

TEST(Loss, GradientIgnoresAbsentPointsAndIsZeroAtAnExactFit) {
  for (const Loss loss : {Loss::mse, Loss::relative_l2}) {
    Tensor prediction = values({1, 2, nan}, {1, 3, 1}).requires_grad_();
    sample_losses(loss, prediction, values({1, 2, nan}, {1, 3, 1}), values({1, 2, 0}, {1, 3}))
        .sum()
        .backward();
    EXPECT_TRUE(torch::equal(prediction.grad(), torch::zeros_like(prediction)))
        << to_string(loss) << prediction.grad();
  }
}

TEST(Loss, GradientMatchesFiniteDifferences) {
  for (const Loss loss : {Loss::mse, Loss::relative_l2}) {
    const Tensor target = values({0.3, -1, 2, 0.5}, {1, 2, 2});
    const Tensor weights = values({1, 3}, {1, 2});
    Tensor prediction = values({1, 2, 3, 4}, {1, 2, 2}).requires_grad_();
    sample_losses(loss, prediction, target, weights).sum().backward();
    for (int i = 0; i < 4; ++i) {
      const auto shifted = [&](double by) {
        Tensor moved = prediction.detach().clone();
        moved.data_ptr<double>()[i] += by;
        return sample_losses(loss, moved, target, weights).item<double>();
      };
      EXPECT_NEAR(prediction.grad().data_ptr<double>()[i], (shifted(1e-6) - shifted(-1e-6)) / 2e-6,
                  1e-8);
    }
  }
}

TEST(Loss, SumsManyFloat32PointsInFloat64) {
  const std::int64_t n = 1 << 22;
  const Tensor prediction = torch::full({1, n, 1}, 0.1f);
  const Tensor loss =
      sample_losses(Loss::mse, prediction, torch::zeros({1, n, 1}), torch::ones({1, n}));
  EXPECT_EQ(loss.scalar_type(), torch::kFloat64);
  EXPECT_NEAR(loss.item<double>(), static_cast<double>(0.1f) * 0.1f, 1e-15);
}

TEST(Loss, PaddedBatchGivesWhatEachSampleGivesAlone) {
  const auto samples = test::pointwise_samples(3);
  const Batch batch = collate(samples);
  const Tensor prediction = batch.targets * 1.1 + 0.3;
  for (const Loss loss : {Loss::mse, Loss::relative_l2}) {
    const Tensor together = sample_losses(loss, prediction, batch.targets, batch.query.weights);
    for (std::size_t s = 0; s < samples.size(); ++s) {
      const Batch single = collate({samples[s]});
      EXPECT_NEAR(
          sample_losses(loss, single.targets * 1.1 + 0.3, single.targets, single.query.weights)
              .item<double>(),
          together[static_cast<std::int64_t>(s)].item<double>(), 1e-13);
    }
  }
}

TEST(Loss, RefusesShapesThatDoNotFit) {
  EXPECT_EQ(message_of<UsageError>([] {
              sample_losses(Loss::mse, torch::zeros({1, 2, 3}), torch::zeros({1, 2, 3}),
                            torch::zeros({1, 3}));
            }),
            "loss: expected prediction and target [B,M,C] and weights [B,M], found [1, 2, 3], "
            "[1, 2, 3] and [1, 3]");
}

TEST(Loss, NamesReadBack) {
  for (const Loss loss : {Loss::mse, Loss::relative_l2})
    EXPECT_EQ(loss_from_string(to_string(loss)), loss);
  EXPECT_EQ(message_of<UsageError>([] { loss_from_string("relativ_l2"); }),
            "unknown loss 'relativ_l2': expected one of mse, relative_l2, log_relative_l2; did you "
            "mean relative_l2?");
}

}  // namespace
}  // namespace funcattn
