#include "operators/training/orthogonality.h"

#include <limits>

#include "operators/training/objective.h"
#include "tests/operators/form_samples.h"
#include "tests/operators/training/fixtures.h"

namespace funcattn {
namespace {

using testing::base_config;
using testing::random_points;

/// One head; a row per point.
Tensor basis_of(std::vector<double> rows, std::int64_t functions) {
  return torch::tensor(rows, torch::kFloat64).view({1, 1, -1, functions});
}

double defect_of(const std::vector<double>& rows, const std::vector<double>& weights) {
  return orthogonality_defect(basis_of(rows, 2),
                              torch::tensor(weights, torch::kFloat64).unsqueeze(0))
      .item<double>();
}

TEST(Orthogonality, IsThatOfTheWeightedGramMatrixOfUnitFunctions) {
  // G_12 = 0.32 / 0.68, twice, over k^2 = 4.
  EXPECT_NEAR(defect_of({0.8, 0.2, 0.2, 0.8}, {1, 1}), 0.5 * 0.32 * 0.32 / (0.68 * 0.68), 1e-15);
  // Sums of 3 b b' and b b': 1.96, 0.76 and 0.64.
  EXPECT_NEAR(defect_of({0.8, 0.2, 0.2, 0.8}, {3, 1}), 0.5 * 0.64 * 0.64 / (1.96 * 0.76), 1e-15);
  EXPECT_EQ(defect_of({1, 0, 0, 1, 1, 0}, {1, 2, 3}), 0);
  EXPECT_NEAR(defect_of({0.5, 0.5, 0.5, 0.5}, {1, 2}), 0.5, 1e-15) << "1 - 1/k: all alike";
  EXPECT_EQ(defect_of({1, 0, 1, 0}, {1, 1}), 0) << "a function that is 0";
}

TEST(Orthogonality, PointsThatAreNotThereTakeNoPart) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NEAR(defect_of({0.8, 0.2, nan, nan, 0.2, 0.8}, {1, 0, 1}),
              defect_of({0.8, 0.2, 0.2, 0.8}, {1, 1}), 1e-15);
}

TEST(Orthogonality, HeadsCountAlikeAndSamplesStayApart) {
  const Tensor one = basis_of({0.8, 0.2, 0.2, 0.8}, 2);
  const Tensor other = basis_of({0.5, 0.5, 0.5, 0.5}, 2);
  const Tensor basis = at::cat({at::cat({one, other}, 1), at::cat({other, other}, 1)}, 0);
  const Tensor found = orthogonality_defect(basis, torch::ones({2, 2}, torch::kFloat64));
  const double of_one = defect_of({0.8, 0.2, 0.2, 0.8}, {1, 1});
  EXPECT_NEAR(found[0].item<double>(), 0.5 * (of_one + 0.5), 1e-15);
  EXPECT_NEAR(found[1].item<double>(), 0.5, 1e-15);
}

TEST(Orthogonality, GradientsAreThoseOfFiniteDifferences) {
  testing::Draw draw(torch::kFloat64, 3);
  const Tensor basis = draw.uniform({2, 2, 6, 4}, 0.1, 1).requires_grad_();
  const Tensor weights = draw.uniform({2, 6}, 0.2, 1);
  weights[1][2] = 0;
  testing::expect_gradients_match([&] { return orthogonality_defect(basis, weights); },
                                  {{"basis", basis}});
}

/// Points in physical units that the contract leaves as they are.
Operator operator_of(const ModelConfig& config) {
  Contract contract;
  InputArray input;
  input.name = "u";
  input.components = config.value_features;
  contract.inputs = {input};
  OutputArray output;
  output.name = "y";
  output.components = config.out_features;
  contract.outputs = {output};
  contract.coordinates.axes = {0, 1};
  contract.coordinates.center = {0, 0};
  return Operator(make_model(config, torch::kFloat64, 3), contract);
}

Batch batch_of(const ModelConfig& config) {
  Batch batch;
  batch.names = {"a", "b"};
  batch.source = random_points(config, 2, 9, torch::kFloat64, 5);
  batch.query = batch.source;
  batch.targets = testing::Draw(torch::kFloat64, 6).normal({2, 9, config.out_features});
  return batch;
}

TEST(Orthogonality, EntersWhatTrainingMakesSmallButNoScore) {
  for (const Form form : {Form::shared_basis, Form::paper}) {
    ModelConfig config = base_config(form);
    if (form == Form::shared_basis) config.bases = Bases::separate;
    const Operator op = operator_of(config);
    const Batch batch = batch_of(config);
    struct Keeper : AttentionObserver {
      void observe(const AttentionRecord& record) override { records.push_back(record); }
      std::vector<AttentionRecord> records;
    } keeper;
    const PointSamples points = op.normalise(batch.source);
    (void)op.model().predict_observed(points, points, keeper);
    ASSERT_EQ(keeper.records.size(), 2u);
    Tensor expected = torch::zeros({2}, torch::kFloat64);
    for (const AttentionRecord& record : keeper.records)
      expected =
          expected + 0.25 * (orthogonality_defect(record.source_basis, record.source_weights) +
                             orthogonality_defect(record.query_basis, record.query_weights));
    const Objective plain(op, Loss::relative_l2);
    const Objective penalised(op, Loss::relative_l2, {0, 0.5});
    const Tensor losses = plain.sample_losses(batch);
    EXPECT_TRUE(at::equal(plain.training_losses(batch), losses));
    EXPECT_TRUE(at::equal(penalised.sample_losses(batch), losses));
    EXPECT_LE(
        testing::relative_difference(penalised.training_losses(batch) - losses, 0.5 * expected),
        1e-12);
  }
}

TEST(Orthogonality, GradientsReachWhatMakesTheBases) {
  ModelConfig config = base_config(Form::shared_basis);
  config.width = 4;
  config.heads = 2;
  config.blocks = 1;
  config.basis = 3;
  const Operator op = operator_of(config);
  const Objective objective(op, Loss::mse, {0, 2.0});
  const Batch batch = batch_of(config);
  std::vector<std::pair<std::string, Tensor>> variables;
  for (const auto& item : op.model().named_parameters())
    variables.emplace_back(item.key(), item.value());
  testing::expect_gradients_match([&] { return objective.training_losses(batch); }, variables);
}

TEST(Orthogonality, IsOneOfFewShotsGroupsWhateverTheWeightsOfPointsThatAreSplit) {
  ModelConfig config = base_config(Form::few_shot);
  config.value_features = config.out_features;
  const auto model = make_model(config, torch::kFloat64, 3);
  const PointSamples whole = random_points(config, 1, 6, torch::kFloat64, 5);
  const auto twice = [](const Tensor& x) { return at::cat({x, x}, 1); };
  const PointSamples split{twice(whole.coordinates), twice(whole.values),
                           twice(whole.weights) * 0.5};
  const auto defect = [&](const PointSamples& source) {
    const torch::NoGradGuard no_grad;
    OrthogonalityObserver observer;
    (void)model->predict_observed(source, whole, observer);
    return observer.defect().item<double>();
  };
  EXPECT_GT(defect(whole), 0.1);
  EXPECT_NEAR(defect(split), defect(whole), 1e-12);
}

TEST(Orthogonality, IsRefusedWhereNoBasisIsLearned) {
  ModelConfig config = base_config(Form::shared_basis);
  config.attention = Attention::softmax;
  const Operator op = operator_of(config);
  EXPECT_EQ(test::message_of<UsageError>([&] {
              Objective(op, Loss::mse, {0, 0.1});
            }),
            "orthogonality is asked of learned basis functions, but attention softmax has none; "
            "leave it away");
  TrainerOptions options;
  options.best_path = "unused";
  options.orthogonality = -1;
  EXPECT_EQ(test::message_of<UsageError>([&] { options.validate(); }),
            "training: orthogonality is -1, expected 0 or more");
  options.orthogonality = 0;
  EXPECT_FALSE(options.course().contains("orthogonality"));
  options.orthogonality = 0.5;
  EXPECT_EQ(options.course().at("orthogonality"), 0.5);
}

}  // namespace
}  // namespace funcattn
