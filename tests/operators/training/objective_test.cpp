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

/// The pointwise model's number y becomes logits y and 0 of two classes, 3 and 5.
class TwoClasses final : public Model {
 public:
  TwoClasses() : Model(configuration()), one_(register_module("one", make())) {}
  Tensor predict(const PointSamples& source, const PointSamples& query) override {
    const Tensor y = one_->predict(source, query);
    return at::cat({y, at::zeros_like(y)}, -1);
  }

 private:
  static std::shared_ptr<PointwiseModel> make() {
    return std::make_shared<PointwiseModel>(torch::kFloat64);
  }
  static ModelConfig configuration() {
    ModelConfig config = PointwiseModel().config();
    config.out_features = 2;
    return config;
  }
  std::shared_ptr<PointwiseModel> one_;
};

TEST(Objective, OfClassesIsTheirCrossEntropyWithTheAccuracy) {
  Contract contract = pointwise_contract();
  contract.outputs[0].classes = {3, 5};
  contract.outputs[0].ignored = 9;
  contract.output_normalisation = {};
  const Operator op(std::make_shared<TwoClasses>(), contract);
  std::vector<Sample> samples = {pointwise_sample("a", 6, 1), pointwise_sample("b", 4, 2)};
  samples[0].targets = torch::tensor({3.0, 5.0, 9.0, 3.0, 7.0, 5.0}, torch::kFloat64).unsqueeze(1);
  samples[1].targets = torch::full({4, 1}, 9.0, torch::kFloat64);

  const Batch batch = collate({samples[0]});
  const Tensor logits = op.predict(op.normalise(batch.source), op.normalise(batch.query))[0];
  const Tensor log_shares = logits.log_softmax(-1);
  double loss = 0;
  int right = 0;
  for (const auto& [row, index] : {std::pair{0, 0}, {1, 1}, {3, 0}, {5, 1}}) {
    loss -= log_shares[row][index].item<double>() / 4;
    right += logits[row].argmax().item<std::int64_t>() == index ? 1 : 0;
  }
  const Objective objective(op, Loss::cross_entropy);
  Tensor accuracy;
  EXPECT_NEAR(objective.sample_losses(batch, &accuracy).item<double>(), loss, 1e-14);
  EXPECT_EQ(accuracy.item<double>(), right / 5.0) << "the class 7 is none, and counts";
  const LossSum total = objective.total_loss(samples);
  EXPECT_NEAR(total.mean(), loss / 2, 1e-14);
  EXPECT_EQ(total.accuracy(), right / 5.0) << "a sample without classes has no accuracy";
}

TEST(Objective, FieldsAndClassesHaveLossesOfTheirOwn) {
  Contract contract = pointwise_contract();
  contract.outputs[0].classes = {3, 5};
  contract.output_normalisation = {};
  const Operator classes(std::make_shared<TwoClasses>(), contract);
  EXPECT_EQ(test::message_of<UsageError>([&] { Objective(classes, Loss::mse); }),
            "the output 'y' has classes, which the loss cross_entropy is for; the loss is mse");
  const Operator field = test::pointwise_operator(torch::kFloat64);
  EXPECT_EQ(test::message_of<UsageError>([&] { Objective(field, Loss::cross_entropy); }),
            "the output 'y' is a field, but cross_entropy is a loss of classes; the loss is "
            "cross_entropy");
}

}  // namespace
}  // namespace funcattn
