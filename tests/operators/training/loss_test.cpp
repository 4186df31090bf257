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
  for (const Loss loss : {Loss::mse, Loss::relative_l2, Loss::log_relative_l2, Loss::cross_entropy})
    EXPECT_EQ(loss_from_string(to_string(loss)), loss);
  EXPECT_EQ(message_of<UsageError>([] { loss_from_string("relativ_l2"); }),
            "unknown loss 'relativ_l2': expected one of mse, relative_l2, log_relative_l2, "
            "cross_entropy; did you mean relative_l2?");
}

Tensor indices(std::vector<std::int64_t> numbers) {
  return torch::tensor(numbers, torch::kInt64);
}

/// Two samples of five points and four classes, two points of them without a class.
struct ClassBatch {
  ClassBatch() {
    torch::manual_seed(5);
    logits = (3 * torch::randn({2, 5, 4}, torch::kFloat64)).set_requires_grad(true);
  }

  Tensor logits;
  Tensor classes = indices({0, 3, 1, class_ignored, 2, 1, 1, class_unknown, 0, 3}).reshape({2, 5});
};

TEST(CrossEntropy, ValueAndGradientAreLibTorchs) {
  for (const double smoothing : {0.0, 0.2}) {
    const ClassBatch batch;
    const Tensor losses = cross_entropies(batch.logits, batch.classes,
                                          torch::ones({2, 5}, torch::kFloat64), smoothing);
    losses.sum().backward();
    const Tensor gradient = batch.logits.grad().clone();
    batch.logits.mutable_grad().zero_();
    Tensor expected = torch::zeros({}, torch::kFloat64);
    for (std::int64_t b = 0; b < 2; ++b) {
      const Tensor known = batch.classes[b].ge(0).nonzero().squeeze(1);
      const Tensor one = at::cross_entropy_loss(
          batch.logits[b].index_select(0, known), batch.classes[b].index_select(0, known),
          /*weight=*/{}, at::Reduction::Mean, /*ignore_index=*/-100, smoothing);
      EXPECT_NEAR(losses[b].item<double>(), one.item<double>(), 1e-14);
      expected = expected + one;
    }
    expected.backward();
    EXPECT_LT((gradient - batch.logits.grad()).abs().max().item<double>(), 1e-15);
    EXPECT_GT(gradient.abs().max().item<double>(), 0.05);
  }
}

TEST(CrossEntropy, PointsWeighByTheirWeightsAndAbsentOnesNothing) {
  const ClassBatch batch;
  const Tensor weights =
      torch::tensor({{3.0, 0.0, 1.0, 2.0, 2.0}, {1.0, 1.0, 1.0, 1.0, 0.0}}, torch::kFloat64);
  Tensor spoiled = batch.logits.detach().clone();
  spoiled[0][1][2] = nan;
  spoiled[0][3][0] = std::numeric_limits<double>::infinity();
  spoiled.set_requires_grad(true);
  const Tensor losses = cross_entropies(spoiled, batch.classes, weights);
  const Tensor shares = batch.logits.detach().log_softmax(-1);
  const auto loss_at = [&](int sample, int point, int of_class) {
    return -shares[sample][point][of_class].item<double>();
  };
  EXPECT_NEAR(losses[0].item<double>(),
              (3 * loss_at(0, 0, 0) + loss_at(0, 2, 1) + 2 * loss_at(0, 4, 2)) / 6, 1e-14);
  EXPECT_NEAR(losses[1].item<double>(),
              (loss_at(1, 0, 1) + loss_at(1, 1, 1) + loss_at(1, 3, 0)) / 3, 1e-14);
  losses.sum().backward();
  EXPECT_TRUE(spoiled.grad().isfinite().all().item<bool>());
  EXPECT_EQ(spoiled.grad()[0][1].abs().max().item<double>(), 0);
}

TEST(CrossEntropy, ASampleWithoutKnownClassesIsNoLoss) {
  const Tensor logits = torch::randn({1, 2, 3}).set_requires_grad(true);
  const Tensor classes = torch::full({1, 2}, class_ignored, torch::kInt64);
  const Tensor losses = cross_entropies(logits, classes, torch::ones({1, 2}));
  EXPECT_EQ(losses.item<double>(), 0);
  losses.sum().backward();
  EXPECT_EQ(logits.grad().abs().max().item<double>(), 0);
  EXPECT_TRUE(std::isnan(accuracies(logits, classes, torch::ones({1, 2})).item<double>()));
}

TEST(CrossEntropy, AccuracyCountsPointsAlike) {
  const Tensor logits = torch::tensor(
      {{{2.0, 1.0}, {0.0, 1.0}, {5.0, 1.0}, {1.0, 2.0}, {1.0, 2.0}, {nan, 1.0}}}, torch::kFloat64);
  const Tensor classes = indices({0, 1, 1, class_unknown, class_ignored, 1}).unsqueeze(0);
  const Tensor weights = torch::tensor({{9.0, 1.0, 1.0, 1.0, 1.0, 0.0}}, torch::kFloat64);
  // Right, right, wrong, wrong for want of the class; ignored; absent.
  EXPECT_EQ(accuracies(logits, classes, weights).item<double>(), 0.5);
}

TEST(CrossEntropy, IsNoLossOfFieldsAndRefusesOtherShapes) {
  EXPECT_CONTAINS(message_of<UsageError>([] {
                    sample_losses(Loss::cross_entropy, torch::zeros({1, 2, 3}),
                                  torch::zeros({1, 2, 3}), torch::zeros({1, 2}));
                  }),
                  "of classes, not of fields");
  EXPECT_CONTAINS(message_of<UsageError>([] {
                    cross_entropies(torch::zeros({1, 2, 3}), torch::zeros({1, 3}, torch::kInt64),
                                    torch::zeros({1, 2}));
                  }),
                  "classes [B,M] and weights [B,M], found [1, 2, 3], [1, 3] and [1, 2]");
}

}  // namespace
}  // namespace funcattn
