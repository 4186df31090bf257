#include "examples/evaluate/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/error.h"

namespace funcattn {
namespace {

// Predicts the first input value, times two in the first component of the result.
class Doubling : public Model {
 public:
  explicit Doubling(const ModelConfig& config) : Model(config) {
    register_parameter("unused", torch::zeros({1}, torch::kFloat64));
  }
  Tensor predict(const PointSamples& source, const PointSamples&) override {
    return at::cat({2 * source.values, source.values}, 2);
  }
};

Operator doubling() {
  ModelConfig config;
  config.value_features = 1;
  config.out_features = 2;
  Contract contract;
  contract.inputs.push_back({{"a", Association::point, 1, ""}, InputRole::value});
  contract.outputs.push_back({"twice", Association::point, 1, ""});
  contract.outputs.push_back({"same", Association::point, 1, ""});
  return Operator(std::make_shared<Doubling>(config), contract);
}

Sample sample_of(const std::vector<double>& values, const std::vector<double>& weights,
                 const Tensor& targets, const std::string& name) {
  Sample sample;
  sample.name = name;
  sample.source.coordinates =
      torch::zeros({static_cast<std::int64_t>(values.size()), 0}, torch::kFloat64);
  sample.source.values = torch::tensor(values, torch::kFloat64).unsqueeze(1);
  sample.source.weights = torch::tensor(weights, torch::kFloat64);
  sample.query = sample.source;
  sample.targets = targets;
  return sample;
}

TEST(Metrics, AreWeightedPerSampleAndThenAveraged) {
  const Operator op = doubling();
  // twice: errors 1, 0 with weights 3, 1 and truth 1, 4; then no error in the second sample.
  const Sample first =
      sample_of({1, 2}, {3, 1}, torch::tensor({{1.0, 1.0}, {4.0, 2.0}}, torch::kFloat64), "first");
  const Sample second = sample_of({1}, {5}, torch::tensor({{2.0, 3.0}}, torch::kFloat64), "second");
  const CaseMetrics metrics = evaluate_samples(op, {first, second}, "case");
  ASSERT_EQ(metrics.fields.size(), 2u);
  const FieldMetrics& twice = metrics.fields[0];
  EXPECT_EQ(twice.field, "twice");
  const double relative = std::sqrt((3.0 * 1 + 0) / (3.0 * 1 + 1.0 * 16));
  EXPECT_NEAR(twice.relative_l2, relative / 2, 1e-12);
  EXPECT_NEAR(twice.relative_l2_worst, relative, 1e-12);
  EXPECT_EQ(twice.worst_sample, "first");
  EXPECT_NEAR(twice.mse, (3.0 / 4) / 2, 1e-12);
  EXPECT_NEAR(twice.rmse, std::sqrt(0.375), 1e-12);
  EXPECT_NEAR(twice.max_error, 1.0, 1e-12);
  const FieldMetrics& same = metrics.fields[1];
  EXPECT_NEAR(same.relative_l2, (2.0 / 3) / 2, 1e-12);
  EXPECT_EQ(same.worst_sample, "second");
  EXPECT_DOUBLE_EQ(metrics.points, 1.5);
  EXPECT_NEAR(overall_error(metrics), (relative / 2 + 1.0 / 3) / 2, 1e-12);
}

TEST(Metrics, MayHaveWeightsOfTheirOwn) {
  const Operator op = doubling();
  const Sample sample =
      sample_of({1, 2}, {1, 1}, torch::tensor({{1.0, 1.0}, {4.0, 2.0}}, torch::kFloat64), "s");
  CaseEvaluation cases(op, "case");
  cases.add(sample, nullptr, torch::tensor({3.0, 1.0}, torch::kFloat64));
  EXPECT_NEAR(cases.result().fields[0].relative_l2, std::sqrt(3.0 / (3 + 16)), 1e-12);
}

TEST(Metrics, IgnorePointsOfNoWeight) {
  const Operator op = doubling();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Sample sample =
      sample_of({1, 7}, {1, 0}, torch::tensor({{2.0, 1.0}, {nan, nan}}, torch::kFloat64), "masked");
  const CaseMetrics metrics = evaluate_samples(op, {sample}, "case");
  EXPECT_EQ(metrics.fields[0].relative_l2, 0);
  EXPECT_EQ(metrics.fields[1].max_error, 0);
}

TEST(Metrics, MeasureSlopesOnAMesh) {
  const Operator op = doubling();
  RowMatrix places = RowMatrix::Zero(3, 3);
  places.col(0) << 0, 1, 3;
  const Mesh mesh = make_polyline(places, "line");
  // twice = 2, 4, 4 against 2, 3, 5: slopes 2, 0 against 1, 1 on lengths 1, 2. The other output is
  // right.
  const Sample sample =
      sample_of({1, 2, 2}, {1, 1, 1},
                torch::tensor({{2.0, 1.0}, {3.0, 2.0}, {5.0, 2.0}}, torch::kFloat64), "s");
  CaseEvaluation cases(op, "case");
  cases.add(sample, &mesh);
  const CaseMetrics metrics = cases.result();
  ASSERT_TRUE(metrics.fields[0].relative_h1);
  EXPECT_NEAR(metrics.fields[0].relative_h1->mean, std::sqrt((1.0 + 2.0) / (1 + 2)), 1e-12);
  EXPECT_EQ(metrics.fields[1].relative_h1->worst, 0);
  EXPECT_NEAR(metrics.to_json().at("fields").at("twice").at("relative_h1").at("mean").get<double>(),
              1, 1e-12);
  cases.add(sample);
  EXPECT_FALSE(cases.result().fields[0].relative_h1) << "one sample has no mesh";
}

// One output of two components that are 2 v and v: class 0 for v > 0, class 1 for v < 0.
TEST(Metrics, CountPointsOfTheRightClass) {
  Operator op = doubling();
  Contract contract = op.contract();
  contract.outputs = {{{"class", Association::point, 2, ""}, {}, {}}};
  op = Operator(op.shared_model(), contract);
  const Tensor first = torch::tensor({{1.0, 0.0}, {0.0, 1.0}, {0.0, 1.0}}, torch::kFloat64);
  const Tensor second = torch::tensor({{1.0, 0.0}}, torch::kFloat64);
  CaseEvaluation cases(op, "case");
  cases.add(sample_of({1, -1, 5}, {2, 1, 1}, first, "first"));
  cases.add(sample_of({3}, {1}, second, "second"));
  const SampleFigure accuracy = cases.result().fields[0].accuracy.value();
  EXPECT_NEAR(accuracy.worst, 2.0 / 3, 1e-12) << "points count alike, whatever their weights";
  EXPECT_EQ(accuracy.worst_sample, "first");
  EXPECT_NEAR(accuracy.mean, 5.0 / 6, 1e-12);
  EXPECT_NEAR(accuracy.median, 5.0 / 6, 1e-12);
  EXPECT_FALSE(cases.result().fields[0].is_class);
  cases.add(sample_of({3}, {1}, torch::tensor({{1.0, 1.0}}, torch::kFloat64), "no class"));
  EXPECT_FALSE(cases.result().fields[0].accuracy);
}

// Classes 10 for v > 0 and 20 for v < 0, with a field beside them.
TEST(Metrics, OfClassesAreTheirAccuracyAlone) {
  ModelConfig config;
  config.value_features = 1;
  config.out_features = 2;
  Contract contract = doubling().contract();
  contract.outputs = {{{"label", Association::point, 1, ""}, {10, 20}, 7}};
  const Operator op(std::make_shared<Doubling>(config), contract);
  CaseEvaluation cases(op, "case");
  // Right, wrong, right, wrong for want of the class 3, ignored, absent.
  cases.add(sample_of(
      {1, -1, -2, 1, 1, 1}, {9, 1, 1, 1, 1, 0},
      torch::tensor({10.0, 10.0, 20.0, 3.0, 7.0, 20.0}, torch::kFloat64).unsqueeze(1), "first"));
  cases.add(sample_of({1}, {1}, torch::tensor({{10.0}}, torch::kFloat64), "second"));
  cases.add(sample_of({1}, {1}, torch::tensor({{7.0}}, torch::kFloat64), "unknown"));
  const CaseMetrics metrics = cases.result();
  const FieldMetrics& label = metrics.fields.at(0);
  EXPECT_TRUE(label.is_class);
  EXPECT_NEAR(label.accuracy.value().mean, 0.75, 1e-15);
  EXPECT_EQ(label.accuracy->worst, 0.5);
  EXPECT_EQ(label.worst_sample, "first");
  EXPECT_TRUE(std::isnan(label.relative_l2) && std::isnan(label.rmse));
  EXPECT_EQ(metrics.samples, 3);
  EXPECT_NEAR(overall_error(metrics), 0.25, 1e-15);
  EXPECT_STREQ(overall_error_name(metrics), "share of wrong points");
  const Json json = metrics.to_json().at("fields").at("label");
  EXPECT_EQ(json.at("accuracy").at("worst"), 0.5);
  EXPECT_FALSE(json.contains("relative_l2"));

  // Of class 10: two right, one said to be of it in truth 10 but predicted 20. The point of class 3
  // is said to be 10; those of the ignored class and of weight 0 do not count.
  ASSERT_EQ(label.classes.size(), 2u);
  EXPECT_EQ(label.classes[0].value, 10);
  EXPECT_EQ(label.classes[0].points, 3);
  EXPECT_EQ(label.classes[0].right, 2);
  EXPECT_EQ(label.classes[0].predicted, 3);
  EXPECT_EQ(label.classes[1].points, 1);
  EXPECT_EQ(label.classes[1].right, 1);
  EXPECT_EQ(label.classes[1].predicted, 2);
  EXPECT_EQ(label.unknown_points, 1);
  EXPECT_NEAR(mean_recall(label.classes), (2.0 / 3 + 1) / 2, 1e-15);
  EXPECT_NEAR(json.at("mean_recall").get<double>(), 5.0 / 6, 1e-15);
  EXPECT_EQ(json.at("unknown_points"), 1);
  EXPECT_EQ(json.at("classes").at(1).at("class"), 20);
  EXPECT_EQ(json.at("classes")[1].at("precision"), 0.5);
  EXPECT_EQ(json.at("classes")[1].at("recall"), 1.0);
}

TEST(Metrics, ClassesWithoutPointsHaveNoRecall) {
  ModelConfig config;
  config.value_features = 1;
  config.out_features = 2;
  Contract contract = doubling().contract();
  contract.outputs = {{{"label", Association::point, 1, ""}, {10, 20}, {}}};
  const Operator op(std::make_shared<Doubling>(config), contract);
  CaseEvaluation cases(op, "case");
  cases.add(sample_of({1, 2}, {1, 1}, torch::tensor({{10.0}, {10.0}}, torch::kFloat64), "a"));
  const CaseMetrics metrics = cases.result();
  EXPECT_TRUE(std::isnan(metrics.fields.at(0).classes.at(1).recall()));
  EXPECT_TRUE(std::isnan(metrics.fields[0].classes[1].precision()));
  EXPECT_EQ(mean_recall(metrics.fields[0].classes), 1);
  const Json json = metrics.to_json().at("fields").at("label").at("classes").at(1);
  EXPECT_TRUE(json.at("recall").is_null() && json.at("precision").is_null());
}

TEST(Metrics, AZeroTargetGivesANumber) {
  const Operator op = doubling();
  const Sample sample = sample_of({0}, {1}, torch::zeros({1, 2}, torch::kFloat64), "zero");
  EXPECT_EQ(evaluate_samples(op, {sample}, "case").fields[0].relative_l2, 0);
}

TEST(Metrics, RefuseNothingAndNonFinitePredictions) {
  const Operator op = doubling();
  try {
    evaluate_samples(op, {}, "empty set");
    FAIL() << "nothing was thrown";
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("no samples to evaluate for 'empty set'"),
              std::string::npos);
  }
  const Sample sample = sample_of({1e308}, {1}, torch::ones({1, 2}, torch::kFloat64), "huge.vtu");
  try {
    evaluate_samples(op, {sample}, "case");
    FAIL() << "nothing was thrown";
  } catch (const NumericError& error) {
    EXPECT_NE(std::string(error.what()).find("'huge.vtu' is not finite"), std::string::npos);
  }
}

}  // namespace
}  // namespace funcattn
