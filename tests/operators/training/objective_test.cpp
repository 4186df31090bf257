#include "operators/training/objective.h"

#include "tests/operators/training/fixtures.h"

namespace funcattn {
namespace {

using test::pointwise_contract;
using test::pointwise_sample;
using test::pointwise_samples;
using test::PointwiseModel;

/// The loss of one sample from the operator's own prediction.
double expected_loss(const Operator& op, const Sample& sample, Loss loss, double scale) {
  const torch::NoGradGuard no_grad;
  const Batch batch = collate({sample});
  const Tensor prediction = op.apply(batch.source, batch.query).to(torch::kFloat64);
  const Tensor difference = prediction - batch.targets;
  if (loss == Loss::mse) return (difference / scale).square().mean().item<double>();
  return (difference.norm() / batch.targets.norm()).item<double>();
}

TEST(Objective, RelativeErrorIsPhysicalAndMeanSquareIsInUnitsOfTheScale) {
  const Operator op(std::make_shared<PointwiseModel>(torch::kFloat64),
                    pointwise_contract(100.0, 5.0));
  const Sample sample = pointwise_sample("a", 9, 1);
  for (const Loss loss : {Loss::mse, Loss::relative_l2})
    EXPECT_NEAR(Objective(op, loss).sample_losses(collate({sample})).item<double>(),
                expected_loss(op, sample, loss, 5.0), 1e-13)
        << to_string(loss);
}

TEST(Objective, ALargeOffsetCostsNoDigitsInFloat32) {
  const auto loss_at = [](double offset) {
    const Operator op(std::make_shared<PointwiseModel>(torch::kFloat32),
                      pointwise_contract(offset, 5.0));
    Sample sample = pointwise_sample("a", 9, 1);
    sample.targets = sample.targets - 100.0 + offset;
    return Objective(op, Loss::mse).sample_losses(collate({sample})).item<double>();
  };
  EXPECT_NEAR(loss_at(1e7), loss_at(0.0), 1e-8);
}

TEST(Objective, TheFloorFollowsTheUnitOfTheOutput) {
  const auto loss_in = [](double unit) {
    const Operator op(std::make_shared<PointwiseModel>(torch::kFloat64),
                      pointwise_contract(0.0, unit));
    Sample sample = pointwise_sample("a", 9, 1);
    sample.targets = (sample.targets - 100.0) * unit;
    return Objective(op, Loss::relative_l2).sample_losses(collate({sample})).item<double>();
  };
  EXPECT_NEAR(loss_in(1e-12) / loss_in(1.0), 1.0, 1e-12);
}

TEST(Objective, MeanLossWeighsSamplesAlikeWhateverTheirSizes) {
  const Operator op = test::pointwise_operator(torch::kFloat64);
  std::vector<Sample> samples = pointwise_samples(8);
  samples.push_back(pointwise_sample("large", 40000, 3));
  samples.push_back(pointwise_sample("small", 6, 4));
  samples.push_back(pointwise_sample("small too", 6, 5));
  for (const Loss loss : {Loss::mse, Loss::relative_l2}) {
    double sum = 0;
    for (const auto& sample : samples) sum += expected_loss(op, sample, loss, 5.0);
    EXPECT_NEAR(Objective(op, loss).mean_loss(samples), sum / 11.0, 1e-12) << to_string(loss);
  }
  EXPECT_TRUE(std::isnan(Objective(op, Loss::mse).mean_loss({})));
}

TEST(Objective, ABatchOfDifferingSizesGivesWhatEachSampleGivesAlone) {
  const Operator op = test::pointwise_operator(torch::kFloat64);
  const auto samples = pointwise_samples(4);
  const Tensor together = Objective(op, Loss::relative_l2).sample_losses(collate(samples));
  for (std::size_t s = 0; s < samples.size(); ++s)
    EXPECT_NEAR(together[static_cast<std::int64_t>(s)].item<double>(),
                expected_loss(op, samples[s], Loss::relative_l2, 5.0), 1e-14);
}

}  // namespace
}  // namespace funcattn
