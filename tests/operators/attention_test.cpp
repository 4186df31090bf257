#include "operators/attention.h"

#include "core/error.h"
#include "tests/operators/attention_test_support.h"

// The free functions against explicit dense formulas.

namespace funcattn {
namespace {

using testing::all_finite;
using testing::Draw;
using testing::relative_difference;

class Attention : public ::testing::TestWithParam<torch::Dtype> {
 protected:
  torch::Dtype dtype() const { return GetParam(); }
  double tolerance() const { return dtype() == torch::kFloat32 ? 2e-6 : 1e-13; }
};

INSTANTIATE_TEST_SUITE_P(Dtypes, Attention, ::testing::Values(torch::kFloat32, torch::kFloat64),
                         [](const auto& instance) {
                           return std::string(c10::toString(instance.param));
                         });

TEST_P(Attention, PartitionOfUnityRowsSumToOne) {
  const Tensor basis =
      partition_of_unity(Draw(dtype()).normal({2, 3, 11, 5}), at::full({1, 3, 1, 1}, 0.3, dtype()));
  EXPECT_LE((basis.sum(-1) - 1).abs().max().item<double>(), tolerance());
  EXPECT_GT(basis.min().item<double>(), 0);
}

TEST_P(Attention, CoefficientsFollowTheirDefinition) {
  Draw draw(dtype());
  const Tensor basis = partition_of_unity(draw.normal({2, 3, 11, 5}), at::ones({}, dtype()));
  const Tensor field = draw.normal({2, 3, 11, 4});
  Tensor weights = draw.uniform({2, 11}, 0.2, 1.2);
  weights[1].narrow(0, 8, 3).zero_();
  for (int sample = 0; sample < 2; ++sample) {
    const double count = sample == 0 ? 11 : 8;
    const Tensor w = weights[sample].to(torch::kFloat64);
    for (int head = 0; head < 3; ++head) {
      const Tensor B = basis[sample][head].to(torch::kFloat64);
      const Tensor F = field[sample][head].to(torch::kFloat64);
      const Tensor share = w / w.sum();
      const Tensor scaled = B * (share * count).unsqueeze(1);
      const Tensor mean = scaled.t().mm(F) / (scaled.sum(0).unsqueeze(1) + 1e-5);
      const Tensor integral = B.t().mm(share.unsqueeze(1) * F);
      const Tensor sum = B.t().mm(w.gt(0).to(torch::kFloat64).unsqueeze(1) * F);
      const auto found = [&](Coefficients kind) {
        return project(basis, field, weights, kind)[sample][head];
      };
      EXPECT_LE(relative_difference(found(Coefficients::mean), mean), tolerance());
      EXPECT_LE(relative_difference(found(Coefficients::integral), integral), tolerance());
      EXPECT_LE(relative_difference(found(Coefficients::sum), sum), tolerance());
    }
  }
}

TEST_P(Attention, ReferencePointsSetTheFloorOfTheMean) {
  Draw draw(dtype());
  const Tensor basis = at::full({1, 1, 4, 1}, 1e-6, dtype());
  const Tensor field = at::ones({1, 1, 4, 1}, dtype());
  const Tensor weights = at::ones({1, 4}, dtype());
  // Mass n 1e-6 against the floor 1e-5.
  EXPECT_NEAR(project(basis, field, weights, Coefficients::mean).item<double>(), 4.0 / 14.0, 1e-6);
  EXPECT_NEAR(project(basis, field, weights, Coefficients::mean, 90).item<double>(), 0.9, 1e-6);
}

TEST_P(Attention, AbsentPointsMayHoldAnything) {
  Draw draw(dtype());
  Tensor basis = partition_of_unity(draw.normal({1, 2, 9, 3}), at::ones({}, dtype()));
  Tensor field = draw.normal({1, 2, 9, 4});
  Tensor weights = draw.uniform({1, 9}, 0.2, 1.2);
  const auto shown = [](const Tensor& x) { return x.narrow(2, 0, 6); };
  for (const auto kind : {Coefficients::mean, Coefficients::integral, Coefficients::sum}) {
    const Tensor alone = project(shown(basis), shown(field), weights.narrow(1, 0, 6), kind);
    Tensor spoilt_basis = basis.clone();
    Tensor spoilt_field = field.clone();
    Tensor absent = weights.clone();
    absent.narrow(1, 6, 3).zero_();
    spoilt_basis.narrow(2, 6, 3).fill_(NAN);
    spoilt_field.narrow(2, 6, 3).fill_(INFINITY);
    spoilt_basis.requires_grad_();
    spoilt_field.requires_grad_();
    const Tensor coefficients = project(spoilt_basis, spoilt_field, absent, kind);
    EXPECT_LE(relative_difference(coefficients, alone), tolerance()) << to_string(kind);
    coefficients.sum().backward();
    EXPECT_TRUE(all_finite(spoilt_basis.grad())) << to_string(kind);
    EXPECT_TRUE(all_finite(spoilt_field.grad())) << to_string(kind);
    EXPECT_EQ(spoilt_field.grad().narrow(2, 6, 3).abs().max().item<double>(), 0);
  }
}

TEST_P(Attention, SamplesWithoutWeightHaveCoefficientsZero) {
  Draw draw(dtype());
  const Tensor basis = partition_of_unity(draw.normal({2, 1, 5, 3}), at::ones({}, dtype()));
  const Tensor field = draw.normal({2, 1, 5, 2});
  Tensor weights = at::ones({2, 5}, dtype());
  weights[0].zero_();
  for (const auto kind : {Coefficients::mean, Coefficients::integral, Coefficients::sum}) {
    const Tensor coefficients = project(basis, field, weights, kind);
    EXPECT_EQ(coefficients[0].abs().max().item<double>(), 0) << to_string(kind);
    EXPECT_TRUE(all_finite(coefficients));
  }
}

TEST_P(Attention, OnlyRatiosOfWeightsMatter) {
  Draw draw(dtype());
  const Tensor basis = partition_of_unity(draw.normal({1, 2, 50, 3}), at::ones({}, dtype()));
  const Tensor field = draw.normal({1, 2, 50, 4});
  const Tensor weights = draw.uniform({1, 50}, 0.2, 1.2);
  // Near the largest and the smallest normal numbers of the dtype.
  const bool single = dtype() == torch::kFloat32;
  for (const double factor : {single ? 2e38 : 1e308, single ? 1e-37 : 1e-307}) {
    for (const auto kind : {Coefficients::mean, Coefficients::integral}) {
      EXPECT_LE(relative_difference(project(basis, field, weights * factor, kind),
                                    project(basis, field, weights, kind)),
                tolerance());
    }
  }
}

// As the temperature falls to 0 the basis is the indicator of the region where each logit is
// largest, and projecting followed by reconstructing is taking the average over each region: the P0
// projection.
TEST_P(Attention, VanishingTemperatureGivesThePiecewiseConstantProjection) {
  Draw draw(dtype());
  constexpr int points = 200, functions = 6, channels = 3;
  const Tensor logits = draw.normal({1, 1, points, functions});
  const Tensor field = draw.normal({1, 1, points, channels});
  const Tensor weights = draw.uniform({1, points}, 0.2, 1.2);
  const Tensor basis = partition_of_unity(logits, at::full({}, 1e-9, dtype()));
  const Tensor projected =
      reconstruct(basis, project(basis, field, weights, Coefficients::mean, 1e12));

  std::vector<std::vector<double>> moments(functions, std::vector<double>(channels + 1, 0.0));
  const auto region = [&](int point) { return logits[0][0][point].argmax().item<std::int64_t>(); };
  for (int i = 0; i < points; ++i) {
    auto& moment = moments[static_cast<std::size_t>(region(i))];
    const double weight = weights[0][i].item<double>();
    moment[channels] += weight;
    for (int c = 0; c < channels; ++c) {
      moment[static_cast<std::size_t>(c)] += weight * field[0][0][i][c].item<double>();
    }
  }
  Tensor expected = at::empty({1, 1, points, channels}, torch::kFloat64);
  for (int i = 0; i < points; ++i) {
    const auto& moment = moments[static_cast<std::size_t>(region(i))];
    for (int c = 0; c < channels; ++c) {
      expected[0][0][i][c] = moment[static_cast<std::size_t>(c)] / moment[channels];
    }
  }
  EXPECT_LE(relative_difference(projected, expected), tolerance());
}

// Both sides of the push-through identity, with the system that is formed being k x k or c x c.
TEST_P(Attention, TransportMatchesTheDenseFormulaInBothShapes) {
  const std::vector<std::pair<int, int>> shapes{{4, 9}, {9, 4}, {5, 5}, {1, 3}, {3, 1}};
  for (const auto& [functions, channels] : shapes) {
    Draw draw(dtype());
    const Tensor queries = draw.normal({2, 3, 6, channels});
    const Tensor keys = draw.normal({2, 3, functions, channels});
    const Tensor values = draw.normal({2, 3, functions, 2});
    const Tensor amount = at::full({1, 3, 1, 1}, 0.3, torch::kFloat64);
    for (const bool relative : {false, true}) {
      const Tensor Q = queries.to(torch::kFloat64);
      const Tensor K = keys.to(torch::kFloat64);
      const Tensor gram = at::matmul(K, K.transpose(-2, -1));
      Tensor ridge = amount * at::ones_like(gram.narrow(-1, 0, 1).narrow(-2, 0, 1));
      if (relative) ridge = ridge * gram.diagonal(0, -2, -1).mean(-1).view({2, 3, 1, 1});
      const Tensor system = 0.7 * gram + ridge * at::eye(functions, torch::kFloat64);
      const Tensor matrix = at::matmul(at::matmul(Q, K.transpose(-2, -1)), at::linalg_inv(system));
      const auto regularisation = Regularisation::blend(amount, relative);
      EXPECT_LE(relative_difference(transport(queries, keys, values, regularisation),
                                    at::matmul(matrix, values.to(torch::kFloat64))),
                tolerance())
          << functions << " functions, " << channels << " channels";
      EXPECT_LE(relative_difference(transport_matrix(queries, keys, regularisation), matrix),
                tolerance());
    }
  }
}

TEST_P(Attention, RelativeRidgeFollowsTheScaleOfTheKeys) {
  Draw draw(dtype());
  const Tensor queries = draw.normal({1, 1, 6, 4});
  const Tensor keys = draw.normal({1, 1, 8, 4});
  const Tensor values = draw.normal({1, 1, 8, 2});
  const auto regularisation = Regularisation::fixed(1e-2, true);
  const Tensor expected = transport(queries, keys, values, regularisation);
  EXPECT_LE(
      relative_difference(transport(1024 * queries, 1024 * keys, values, regularisation), expected),
      tolerance());
  const Tensor nothing = transport(queries, at::zeros_like(keys), values, regularisation);
  EXPECT_EQ(nothing.abs().max().item<double>(), 0);
}

TEST(AttentionNames, CoefficientsAreReadBackAndUnknownOnesRefused) {
  for (const auto kind : {Coefficients::mean, Coefficients::integral, Coefficients::sum}) {
    EXPECT_EQ(coefficients_from_string(to_string(kind)), kind);
  }
  try {
    coefficients_from_string("median");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "coefficients: unknown kind 'median'; choose mean, integral or sum");
  }
}

}  // namespace
}  // namespace funcattn
