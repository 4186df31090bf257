#include "operators/inspection.h"

#include <Eigen/SVD>
#include <limits>

#include "core/error.h"
#include "core/memory_error.h"
#include "operators/forms/paper.h"
#include "operators/forms/shared_basis.h"
#include "operators/forms/sum_coefficients.h"
#include "operators/forms/token_attention.h"
#include "tests/operators/attention_test_support.h"
#include "tests/operators/form_samples.h"

namespace funcattn {
namespace {

using testing::all_configs;
using testing::base_config;
using testing::Draw;
using testing::random_points;
using testing::relative_difference;

/// Keeps what the layers show.
struct Keeper : AttentionObserver {
  void observe(const AttentionRecord& record) override { records.push_back(record); }
  std::vector<AttentionRecord> records;
};

/// The layer's result before the output projection, heads joined.
Tensor rebuilt(const AttentionRecord& record) {
  const Tensor moved = at::matmul(record.transport, record.coefficients.to(torch::kFloat64));
  return at::matmul(record.query_basis.to(torch::kFloat64), moved).transpose(1, 2).flatten(2);
}

Eigen::MatrixXd matrix(const HeadInspection& head) {
  return Eigen::Map<const Eigen::Matrix<double, -1, -1, Eigen::RowMajor>>(head.transport.data(),
                                                                          head.rows, head.columns);
}

double sum(const std::vector<double>& list) {
  double total = 0;
  for (const double value : list) total += value;
  return total;
}

std::vector<BlockInspection> inspected(Model& model, const PointSamples& source,
                                       const PointSamples& query, InspectionOptions options = {}) {
  options.keep_basis = true;
  std::vector<BlockInspection> blocks;
  (void)inspect(model, source, query, options,
                [&](const BlockInspection& block) { blocks.push_back(block); });
  return blocks;
}

/// Every form, in both dtypes.
class Inspection : public ::testing::TestWithParam<std::tuple<std::size_t, torch::Dtype>> {
 protected:
  void SetUp() override {
    config_ = all_configs()[std::get<0>(GetParam())].config;
    model_ = make_model(config_, dtype(), 3);
    source_ = random_points(config_, 1, 60, dtype(), 11);
    source_.weights[0][7] = 0;
    source_.coordinates[0][7].fill_(std::numeric_limits<double>::quiet_NaN());
    query_ = model_->separates_query() ? random_points(config_, 1, 25, dtype(), 12) : source_;
  }
  torch::Dtype dtype() const { return std::get<1>(GetParam()); }
  double tolerance() const { return dtype() == torch::kFloat32 ? 2e-5 : 1e-12; }

  ModelConfig config_;
  std::shared_ptr<Model> model_;
  PointSamples source_, query_;
};

INSTANTIATE_TEST_SUITE_P(All, Inspection,
                         ::testing::Combine(::testing::Range<std::size_t>(0, all_configs().size()),
                                            ::testing::Values(torch::kFloat32, torch::kFloat64)),
                         [](const auto& instance) {
                           return all_configs()[std::get<0>(instance.param)].name + "_" +
                                  c10::toString(std::get<1>(instance.param));
                         });

TEST_P(Inspection, ChangesNoBitOfThePrediction) {
  const torch::NoGradGuard no_grad;
  const Tensor plain = model_->predict(source_, query_);
  int visits = 0;
  const Tensor observed = inspect(*model_, source_, query_, {}, [&](const BlockInspection& block) {
    EXPECT_EQ(block.block, ++visits);
    EXPECT_FALSE(block.query_basis.defined());
  });
  EXPECT_TRUE(at::equal(observed, plain));
  EXPECT_EQ(visits, attention_blocks(config_));
}

TEST_P(Inspection, ShowsBasesOfTheRightSums) {
  for (const BlockInspection& block : inspected(*model_, source_, query_)) {
    const std::int64_t heads = config_.form == Form::few_shot ? 1 : config_.heads;
    ASSERT_EQ(block.source_basis.sizes(), at::IntArrayRef({heads, 60, config_.basis}));
    ASSERT_EQ(block.heads.size(), static_cast<std::size_t>(heads));
    const auto expect_sums = [&](const Tensor& basis) {
      Tensor sums = basis.sum(-1);
      if (config_.form == Form::sum_coefficients) sums = sums.sum(0);
      if (config_.form == Form::few_shot) sums = basis.sum(1);
      EXPECT_LE((sums - 1).abs().max().item<double>(), 5e-6);
      EXPECT_GE(basis.min().item<double>(), 0);
    };
    expect_sums(block.source_basis);
    if (!block.queries_act_directly) expect_sums(block.query_basis);
    for (const HeadInspection& head : block.heads) {
      EXPECT_NEAR(sum(head.basis.coverage), head.basis.row_sum, 1e-12);
      if (config_.form != Form::sum_coefficients) {
        EXPECT_NEAR(head.basis.row_sum, 1, 1e-6);
      }
      EXPECT_NEAR(sum(head.basis.points_served), 59 * head.basis.row_sum,
                  config_.form == Form::sum_coefficients ? 2 : 1e-4)
          << "one of the 60 points is not there";
      EXPECT_GT(head.basis.entropy, 0);
      EXPECT_LE(head.basis.entropy, 1 + 1e-12);
      EXPECT_NEAR(head.basis.effective_functions, std::pow(config_.basis, head.basis.entropy),
                  1e-9);
    }
  }
}

TEST_P(Inspection, SingularValuesAndConditionAreThoseOfEigen) {
  for (const BlockInspection& block : inspected(*model_, source_, query_))
    for (const HeadInspection& head : block.heads) {
      const Eigen::VectorXd expected =
          Eigen::JacobiSVD<Eigen::MatrixXd>(matrix(head)).singularValues();
      ASSERT_EQ(head.singular_values.size(), static_cast<std::size_t>(expected.size()));
      for (Eigen::Index i = 0; i < expected.size(); ++i)
        EXPECT_NEAR(head.singular_values[static_cast<std::size_t>(i)], expected[i],
                    1e-12 * expected[0]);
      const bool solves = config_.mixing == Mixing::functional;
      EXPECT_EQ(std::isnan(head.condition_number), !solves);
      if (solves) {
        EXPECT_GE(head.condition_number, 1);
      }
    }
}

// The last block's basis, coefficients and transport give the prediction of the bare forms.
TEST_P(Inspection, BareLayersAreRebuiltFromTheirParts) {
  if (config_.form != Form::few_shot && config_.blocks > 0)
    return;  // Their attention is not the last step; LayersAreRebuiltFromTheirParts has it.
  Keeper keeper;
  const torch::NoGradGuard no_grad;
  const Tensor prediction = model_->predict_observed(source_, query_, keeper);
  ASSERT_EQ(keeper.records.size(), 1u);
  Tensor result = rebuilt(keeper.records[0]);
  if (config_.form == Form::paper) {
    const auto parameters = model_->named_parameters();
    result = at::linear(result, parameters["out.weight"].to(torch::kFloat64),
                        parameters["out.bias"].to(torch::kFloat64));
  }
  EXPECT_LE(relative_difference(result, prediction), tolerance());
}

Tensor forward_of(PointAttention& layer, const Tensor& x, const PointMeasure& measure,
                  AttentionObserver* observer) {
  return layer.forward(x, {measure, x.narrow(2, 0, 2).tanh(), observer});
}

Tensor forward_of(SumCoefficientsAttention& layer, const Tensor& x, const PointMeasure& measure,
                  AttentionObserver* observer) {
  return layer.forward(x, measure, observer);
}

/// A layer by itself, so that its output can be seen.
template <typename Layer>
void expect_rebuilt(Layer& layer, const ModelConfig& config, const std::string& output_name) {
  Draw draw(torch::kFloat64);
  const Tensor x = draw.normal({2, 40, config.width});
  const PointMeasure measure(draw.uniform({2, 40}, 0.2, 1.2), torch::kFloat64);
  Keeper keeper;
  const Tensor observed = forward_of(layer, x, measure, &keeper);
  EXPECT_TRUE(at::equal(observed, forward_of(layer, x, measure, nullptr)));
  ASSERT_EQ(keeper.records.size(), 1u);
  const auto parameters = layer.named_parameters();
  const Tensor result = at::linear(rebuilt(keeper.records[0]), parameters[output_name + ".weight"],
                                   parameters[output_name + ".bias"]);
  EXPECT_LE(relative_difference(result, observed), 1e-10);
}

TEST(InspectionOfLayers, LayersAreRebuiltFromTheirParts) {
  const torch::NoGradGuard no_grad;
  Initialiser initialiser(torch::kFloat64, 5);
  for (const Mixing mixing : {Mixing::functional, Mixing::softmax, Mixing::none})
    for (const int basis : {3, 9}) {  // Systems of the functions, and of the 4 channels.
      ModelConfig config = base_config(Form::shared_basis);
      config.mixing = mixing;
      config.basis = basis;
      SharedBasisAttention layer(initialiser, config, nullptr);
      expect_rebuilt(layer, config, "to_out.0");
    }
  const ModelConfig sums = base_config(Form::sum_coefficients);
  SumCoefficientsAttention summing(initialiser, sums);
  expect_rebuilt(summing, sums, "output");
  const ModelConfig paper = base_config(Form::paper);
  PaperAttention separate(initialiser, paper);
  expect_rebuilt(separate, paper, "out");
  FourierAttention given(initialiser, base_config(Form::shared_basis));
  expect_rebuilt(given, base_config(Form::shared_basis), "out");
}

// Everything computed point by point from the parameters of a bare layer.
TEST(InspectionOfLayers, FiguresAreThoseOfADirectEvaluation) {
  const torch::NoGradGuard no_grad;
  ModelConfig config = base_config(Form::paper);
  config.blocks = 0;
  config.width = config.out_features = config.in_features();
  config.temperature = 0.2;
  const auto model = make_model(config, torch::kFloat64, 3);
  const PointSamples points = random_points(config, 1, 50, torch::kFloat64, 4);
  points.weights[0][3] = 0;
  InspectionOptions options;
  options.threshold = 0.4;
  const auto blocks = inspected(*model, points, points, options);
  ASSERT_EQ(blocks.size(), 1u);
  const auto parameters = model->named_parameters();
  const Tensor x = at::cat({points.coordinates, points.values}, 2)[0];
  std::int64_t above_in_all = 0;
  for (const bool of_query : {false, true}) {
    const std::string map = of_query ? "basis_q" : "basis_k";
    const Tensor logits =
        at::linear(x, parameters[map + ".weight"], parameters[map + ".bias"]) / 0.2;
    for (int h = 0; h < config.heads; ++h) {
      double entropy = 0, weights = 0;
      std::vector<double> coverage(5), served(5);
      std::vector<std::int64_t> above(5);
      for (int i = 0; i < 50; ++i) {
        double total = 0;
        std::vector<double> row(5);
        for (int j = 0; j < 5; ++j) total += row[j] = std::exp(logits[i][h * 5 + j].item<double>());
        const double w = points.weights[0][i].item<double>();
        for (int j = 0; j < 5 && w > 0; ++j) {
          const double b = row[j] / total;
          entropy -= w * b * std::log(b);
          coverage[j] += w * b;
          served[j] += b;
          above[j] += b > 0.4;
        }
        weights += w;
      }
      const HeadInspection& head = blocks[0].heads[static_cast<std::size_t>(h)];
      const BasisFigures& figures = of_query ? head.query_basis.value() : head.basis;
      EXPECT_NEAR(figures.entropy, entropy / weights / std::log(5.0), 1e-12);
      EXPECT_NEAR(figures.effective_functions, std::exp(entropy / weights), 1e-11);
      EXPECT_EQ(figures.above_threshold, above);
      for (std::size_t j = 0; j < 5; ++j) {
        above_in_all += above[j];
        EXPECT_NEAR(figures.coverage[j], coverage[j] / weights, 1e-13);
        EXPECT_NEAR(figures.points_served[j], served[j], 1e-11);
      }
    }
  }
  EXPECT_GT(above_in_all, 20) << "the threshold must be met by some";
}

TEST(InspectionOfLayers, ConditionNumberIsThatOfTheSystemSolved) {
  const Tensor keys = Draw(torch::kFloat64).normal({1, 2, 6, 3});
  const auto regularisation = Regularisation::fixed(0.25, true);
  const Tensor system = transport_system(keys, regularisation);
  ASSERT_EQ(system.sizes(), at::IntArrayRef({1, 2, 3, 3})) << "the smaller of both systems";
  for (int head = 0; head < 2; ++head) {
    Eigen::MatrixXd k(6, 3);
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 3; ++j) k(i, j) = keys[0][head][i][j].item<double>();
    const Eigen::MatrixXd expected =
        k.transpose() * k + 0.25 * (k.squaredNorm() / 6) * Eigen::MatrixXd::Identity(3, 3);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        EXPECT_NEAR(system[0][head][i][j].item<double>(), expected(i, j), 1e-12);
  }
}

TEST(InspectionOfLayers, AConstantBasisHasFullEntropy) {
  ModelConfig config = base_config(Form::shared_basis);
  config.mixing = Mixing::softmax;
  const auto model = make_model(config, torch::kFloat64, 3);
  const torch::NoGradGuard no_grad;
  for (const auto& parameter : model->named_parameters())
    if (parameter.key().find("slice1") != std::string::npos) parameter.value().zero_();
  const PointSamples points = random_points(config, 1, 30, torch::kFloat64, 4);
  for (const BlockInspection& block : inspected(*model, points, points))
    for (const HeadInspection& head : block.heads) {
      EXPECT_NEAR(head.basis.entropy, 1, 1e-12);
      EXPECT_NEAR(head.basis.effective_functions, 5, 1e-11);
      for (const double share : head.basis.coverage) EXPECT_NEAR(share, 0.2, 1e-12);
      // All functions have the same coefficients, so that attention cannot tell them apart.
      EXPECT_NEAR(head.attention_entropy, 1, 1e-12);
      for (const double share : head.attention_coverage) EXPECT_NEAR(share, 0.2, 1e-12);
      EXPECT_NEAR(head.singular_values[0], 1, 1e-12);
      EXPECT_NEAR(head.singular_values[1], 0, 1e-12);
    }
}

/// Every point as two of half its weight.
PointSamples split_in_two(const PointSamples& points) {
  const auto twice = [](const Tensor& x) { return at::cat({x, x}, 1); };
  return {twice(points.coordinates), twice(points.values), twice(points.weights * 0.5)};
}

TEST(InspectionOfLayers, RefinementChangesNoFigureButCounts) {
  const ModelConfig config = base_config(Form::shared_basis);
  const auto model = make_model(config, torch::kFloat64, 3);
  const PointSamples points = random_points(config, 1, 30, torch::kFloat64, 4);
  const auto coarse = inspected(*model, points, points);
  const auto fine = inspected(*model, split_in_two(points), split_in_two(points));
  for (std::size_t block = 0; block < coarse.size(); ++block)
    for (std::size_t h = 0; h < 3; ++h) {
      const HeadInspection& a = coarse[block].heads[h];
      const HeadInspection& b = fine[block].heads[h];
      EXPECT_NEAR(a.basis.entropy, b.basis.entropy, 1e-10);
      for (std::size_t j = 0; j < 5; ++j) {
        EXPECT_NEAR(a.basis.coverage[j], b.basis.coverage[j], 1e-10);
        EXPECT_NEAR(2 * a.basis.points_served[j], b.basis.points_served[j], 1e-8);
      }
      for (std::size_t i = 0; i < a.transport.size(); ++i)
        EXPECT_NEAR(a.transport[i], b.transport[i], 1e-8);
    }
}

template <typename Expected, typename Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const Expected& error) {
    return error.what();
  }
  return "nothing was thrown";
}

ModelConfig softmax_config() {
  ModelConfig config = base_config(Form::shared_basis);
  config.attention = Attention::softmax;
  return config;
}

/// Keeps what attentions between points show.
struct PointKeeper : AttentionObserver {
  void observe(const AttentionRecord&) override { FAIL() << "there is no basis"; }
  void observe_points(const PointAttentionRecord& record) override { records.push_back(record); }
  std::vector<PointAttentionRecord> records;
};

TEST(InspectionOfPointAttention, FiguresAreThoseOfTheSoftmax) {
  const torch::NoGradGuard no_grad;
  ModelConfig config = softmax_config();
  config.heads = 1;
  config.memory_tokens = 1;
  config.reference_points = 4;
  Initialiser initialiser(torch::kFloat64, 5);
  SoftmaxAttention attention(initialiser, config);
  const auto parameters = attention.named_parameters();
  Draw draw(torch::kFloat64, 9);
  const Tensor x = draw.normal({1, 5, 12});
  const Tensor coordinates = draw.uniform({1, 5, 2}, -1, 1);
  // The fourth point is not there.
  const Tensor weights = torch::tensor({1.0, 2.0, 0.5, 0.0, 1.5}, torch::kFloat64).unsqueeze(0);
  const PointMeasure measure(weights, torch::kFloat64);
  PointKeeper keeper;
  (void)attention.forward(x, {measure, coordinates, &keeper});
  ASSERT_EQ(keeper.records.size(), 1u);
  const PointAttentionRecord& record = keeper.records[0];
  EXPECT_EQ(record.tokens, 1);

  // The token weighs as much as one of four points: 5 / 4.
  const double w[] = {1, 2, 0.5, 0, 1.5, 1.25};
  const auto rows = [&](const char* name) {
    return at::linear(x[0], parameters[std::string(name) + ".weight"],
                      parameters[std::string(name) + ".bias"]);
  };
  const Tensor q = rows("q");
  const Tensor k = at::cat({rows("k"), parameters["memory_keys"][0]}, 0);
  double divergence = 0;
  double received[6] = {};
  for (int i = 0; i < 5; ++i) {
    double p[6], sum = 0;
    for (int j = 0; j < 6; ++j)
      sum += p[j] = w[j] * std::exp((q[i] * k[j]).sum().item<double>() / std::sqrt(12.0));
    if (w[i] == 0) continue;
    for (int j = 0; j < 6; ++j) {
      p[j] /= sum;
      received[j] += w[i] / 5 * p[j];
      if (p[j] > 0) divergence += w[i] / 5 * p[j] * std::log(p[j] / (w[j] / 6.25));
    }
  }
  EXPECT_NEAR(record.divergence[0][0].item<double>(), divergence, 1e-12);
  EXPECT_GT(divergence, 0.01);
  for (int j = 0; j < 6; ++j) {
    EXPECT_NEAR(record.received[0][0][j].item<double>(), received[j], 1e-13);
    EXPECT_NEAR(record.share[0][j].item<double>(), w[j] / 6.25, 1e-15);
  }
}

TEST(InspectionOfPointAttention, AlikeEverywhereIsAllOfTheDomain) {
  const auto model = make_model(softmax_config(), torch::kFloat64, 3);
  {
    const torch::NoGradGuard no_grad;
    for (const auto& parameter : model->named_parameters())
      if (parameter.key().find(".q.") != std::string::npos) parameter.value().zero_();
  }
  PointSamples points = random_points(model->config(), 1, 40, torch::kFloat64, 4);
  points.weights[0][7] = 0;
  const auto blocks = inspected(*model, points, points);
  ASSERT_EQ(blocks.size(), 2u);
  for (const BlockInspection& block : blocks) {
    EXPECT_EQ(block.received.sizes(), at::IntArrayRef({3, 40}));
    EXPECT_TRUE(std::isnan(block.received[1][7].item<double>())) << "takes no part";
    EXPECT_NEAR(block.received[1][8].item<double>(), 1, 1e-12);
    ASSERT_EQ(block.heads.size(), 3u);
    for (const HeadInspection& head : block.heads) {
      ASSERT_TRUE(head.points);
      EXPECT_TRUE(head.transport.empty());
      EXPECT_EQ(head.points->keys, 39);
      EXPECT_NEAR(head.points->domain, 1, 1e-12);
      EXPECT_NEAR(head.points->entropy, 1, 1e-12);
      EXPECT_NEAR(head.points->effective_keys, 39, 1e-10);
      EXPECT_NEAR(head.points->received_domain, 1, 1e-12);
      EXPECT_EQ(head.points->above_share, 0);
      ASSERT_EQ(head.points->received.size(), 101u);
      EXPECT_NEAR(head.points->received[100], 1, 1e-12);
    }
  }
  EXPECT_EQ(blocks[1].heads[2].block, 2);
  EXPECT_EQ(blocks[1].heads[2].head, 3);
}

TEST(InspectionOfPointAttention, OfTheFirstPointAloneIsOnePoint) {
  // Causal, and only the first point is asked: it sees nothing but itself.
  ModelConfig config = softmax_config();
  config.causal = true;
  const auto model = make_model(config, torch::kFloat64, 3);
  PointSamples points = random_points(config, 1, 1, torch::kFloat64, 4);
  const auto alone = inspected(*model, points, points);
  EXPECT_EQ(alone[0].heads[0].points->keys, 1);
  EXPECT_EQ(alone[0].heads[0].points->domain, 1);
  points = random_points(config, 1, 2, torch::kFloat64, 4);
  points.weights = torch::tensor({{1.0, 1.0}}, torch::kFloat64);
  const PointAttentionFigures two = *inspected(*model, points, points)[0].heads[0].points;
  EXPECT_EQ(two.above_share, 1) << "the first is seen by both";
  EXPECT_GT(two.received[0], 1);
  EXPECT_LT(two.received[100], 1);
  EXPECT_LT(two.domain, 0.75) << "one of two queries sees half";
  EXPECT_NEAR(two.entropy, 1 + std::log(two.domain) / std::log(2.0), 1e-12);
}

TEST(InspectionOfPointAttention, RefinementChangesNoShareOfTheDomain) {
  const ModelConfig config = softmax_config();
  const auto model = testing::trained_scale_model(config, torch::kFloat64);
  const PointSamples points = random_points(config, 1, 30, torch::kFloat64, 4);
  const auto coarse = inspected(*model, points, points);
  const auto fine = inspected(*model, split_in_two(points), split_in_two(points));
  for (std::size_t block = 0; block < coarse.size(); ++block)
    for (std::size_t h = 0; h < 3; ++h) {
      const PointAttentionFigures& a = *coarse[block].heads[h].points;
      const PointAttentionFigures& b = *fine[block].heads[h].points;
      EXPECT_LT(a.domain, 0.999);
      EXPECT_NEAR(a.domain, b.domain, 1e-10);
      EXPECT_NEAR(a.received_domain, b.received_domain, 1e-10);
      EXPECT_NEAR(2 * a.effective_keys, b.effective_keys, 1e-8);
      EXPECT_EQ(2 * a.above_share, b.above_share);
      for (std::size_t i = 0; i <= 100; i += 10)
        EXPECT_NEAR(a.received[i], b.received[i], 1e-9) << i;
    }
}

TEST(InspectionOfPointAttention, ChangesNoBitOfThePredictionAndHasWholeSumsOfParts) {
  const torch::NoGradGuard no_grad;
  const ModelConfig config = softmax_config();
  const auto model = make_model(config, torch::kFloat32, 3);
  // Three heads of 1,500 x 1,500 weights are widened in several parts.
  const PointSamples points = random_points(config, 1, 1500, torch::kFloat32, 4);
  PointKeeper keeper;
  const Tensor observed = model->predict_observed(points, points, keeper);
  EXPECT_TRUE(at::equal(observed, model->predict(points, points)));
  ASSERT_EQ(keeper.records.size(), 2u);
  for (const PointAttentionRecord& record : keeper.records)
    EXPECT_LE(relative_difference(record.received.sum(-1), at::ones({1, 3}, torch::kFloat64)),
              1e-6);
}

TEST(InspectionOfPointAttention, OthersThanSoftmaxAreRefused) {
  ModelConfig config = softmax_config();
  config.attention = Attention::linear;
  const auto model = make_model(config);
  const PointSamples points = random_points(config, 1, 12, torch::kFloat32, 4);
  EXPECT_EQ(error_of<UsageError>([&] { (void)inspected(*model, points, points); }),
            "attention linear has neither basis functions nor weights between points to look into; "
            "give an operator with functional, fourier or softmax attention");
  InspectionOptions options;
  options.memory_limit = 1000;
  config.attention = Attention::softmax;
  const auto softmax = make_model(config);
  EXPECT_NE(error_of<MemoryError>([&] {
              (void)inspected(*softmax, points, points, options);
            }).find("looking into the operator at 12 points takes about"),
            std::string::npos);
}

TEST(InspectionOfLayers, GivenFunctionsAreShownByTheirSquares) {
  ModelConfig config = base_config(Form::shared_basis);
  config.attention = Attention::fourier;
  config.coordinate_dimension = 1;
  const auto model = make_model(config, torch::kFloat64, 3);
  // The midpoints of equal intervals of [-1, 1], where the cosines are orthonormal.
  constexpr std::int64_t count = 40;
  PointSamples points = random_points(config, 1, count, torch::kFloat64, 4);
  points.coordinates =
      ((at::arange(count, torch::kFloat64) + 0.5) * (2.0 / count) - 1).view({1, count, 1});
  points.weights = at::ones({1, count}, torch::kFloat64);
  const auto blocks = inspected(*model, points, points);
  ASSERT_EQ(blocks.size(), 2u);
  const Tensor cosines = cosine_basis(points.coordinates, config.basis)[0];
  for (const BlockInspection& block : blocks)
    for (const HeadInspection& head : block.heads) {
      EXPECT_TRUE(at::equal(block.source_basis[head.head - 1], cosines));
      for (const double coverage : head.basis.coverage) EXPECT_NEAR(coverage, 1, 1e-12);
      EXPECT_NEAR(head.basis.row_sum, config.basis, 1e-12);
      EXPECT_GT(head.basis.entropy, 0);
      EXPECT_LT(head.basis.entropy, 1);
      EXPECT_GE(head.condition_number, 1);
      EXPECT_NEAR(head.singular_values.front(),
                  Eigen::JacobiSVD<Eigen::MatrixXd>(matrix(head)).singularValues()[0], 1e-12);
    }
}

TEST(InspectionOfLayers, OnlyChosenBlocksAreVisited) {
  const ModelConfig config = base_config(Form::shared_basis_tied);
  const auto model = make_model(config);
  const PointSamples points = random_points(config, 1, 12, torch::kFloat32, 4);
  InspectionOptions options;
  options.blocks = {2};
  const auto blocks = inspected(*model, points, points, options);
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_EQ(blocks[0].block, 2);
  EXPECT_EQ(blocks[0].heads[2].block, 2);
  EXPECT_EQ(blocks[0].heads[2].head, 3);
}

TEST(InspectionOfLayers, RefusalsSayWhatTheyMiss) {
  const ModelConfig config = base_config(Form::shared_basis);
  const auto model = make_model(config);
  const PointSamples points = random_points(config, 1, 12, torch::kFloat32, 4);
  InspectionOptions options;
  options.blocks = {3};
  EXPECT_EQ(error_of<UsageError>([&] { (void)inspected(*model, points, points, options); }),
            "there is no block 3 to look into; the operator has 1 to 2");
  options.blocks = {};
  options.memory_limit = 1000;
  const std::string text =
      error_of<MemoryError>([&] { (void)inspected(*model, points, points, options); });
  EXPECT_NE(text.find("looking into the operator at 12 points takes about"), std::string::npos)
      << text;
  const PointSamples pair = random_points(config, 2, 12, torch::kFloat32, 4);
  EXPECT_EQ(error_of<UsageError>([&] { (void)inspected(*model, pair, pair); }),
            "one sample can be looked into at a time, found 2");
}

}  // namespace
}  // namespace funcattn
