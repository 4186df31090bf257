#include <torch/csrc/autograd/autograd.h>

#include "core/error.h"
#include "operators/attention.h"
#include "operators/linear_solve.h"
#include "tests/operators/attention_test_support.h"

// Linear systems, long sums and their gradients.

namespace funcattn {
namespace {

using testing::all_finite;
using testing::Draw;
using testing::expect_gradients_match;
using testing::relative_difference;

Tensor random_systems(at::IntArrayRef batch, std::int64_t size, double ridge, Draw& draw) {
  std::vector<std::int64_t> shape = batch.vec();
  shape.insert(shape.end(), {size, size});
  const Tensor root = draw.normal(shape);
  return at::matmul(root, root.transpose(-2, -1)) + ridge * at::eye(size, root.options());
}

TEST(Solve, AgreesWithTheInverse) {
  Draw draw(torch::kFloat64);
  const Tensor A = random_systems({2, 3}, 6, 0.1, draw);
  const Tensor B = draw.normal({2, 3, 6, 4});
  EXPECT_LE(relative_difference(solve_positive_definite(A, B), at::matmul(at::linalg_inv(A), B)),
            1e-12);
  EXPECT_LE(relative_difference(solve_positive_definite(A[0][0], B[0][0]),
                                at::linalg_inv(A[0][0]).mm(B[0][0])),
            1e-12);
}

// Condition 1e9: hopeless in float32 arithmetic, accurate for the float32 numbers given.
TEST(Solve, WorksInDoublePrecisionWhateverTheDtype) {
  Draw draw(torch::kFloat32);
  const Tensor q = std::get<0>(at::linalg_qr(draw.normal({5, 5}).to(torch::kFloat64)));
  const Tensor eigenvalues = at::logspace(0, -7, 5, 10.0, torch::kFloat64);
  const Tensor wide = q.mm(eigenvalues.diag()).mm(q.t());
  const Tensor A = ((wide + wide.t()) / 2).to(torch::kFloat32);
  const Tensor symmetric = (A + A.t()) / 2 + 1e-6 * at::eye(5, A.options());
  const Tensor B = draw.normal({5, 2});
  const Tensor X = solve_positive_definite(symmetric, B);
  EXPECT_EQ(X.scalar_type(), torch::kFloat32);
  const Tensor exact = at::linalg_solve(symmetric.to(torch::kFloat64), B.to(torch::kFloat64));
  EXPECT_LE(relative_difference(X, exact), 1e-6);
}

TEST(Solve, OneSingularOrNonFiniteSystemLeavesTheOthersBitEqual) {
  Draw draw(torch::kFloat64);
  const Tensor good = random_systems({5}, 6, 0.1, draw);
  const Tensor B = draw.normal({5, 6, 3});
  const Tensor expected = solve_positive_definite(good, B);
  Tensor mixed = good.clone();
  const Tensor column = draw.normal({6, 1});
  mixed[1] = column.mm(column.t());  // rank 1
  mixed[3][2][2] = NAN;
  const Tensor X = solve_positive_definite(mixed, B);
  for (const int i : {0, 2, 4}) EXPECT_TRUE(X[i].equal(expected[i])) << i;
  EXPECT_TRUE(all_finite(X[1]));
  EXPECT_TRUE(X[3].isnan().all().item<bool>());
  mixed[3].fill_(INFINITY);
  EXPECT_TRUE(solve_positive_definite(mixed, B)[3].isnan().all().item<bool>());
}

TEST(Solve, SingularSystemIsSolvedInItsRange) {
  Draw draw(torch::kFloat64);
  const Tensor factor = draw.normal({1, 8, 2});
  const Tensor A = at::matmul(factor, factor.transpose(-2, -1));
  const Tensor B = at::matmul(A, draw.normal({1, 8, 1}));
  const Tensor X = solve_positive_definite(A, B);
  EXPECT_LE(relative_difference(at::matmul(A, X), B), 1e-9);
  EXPECT_LT(X.abs().max().item<double>(), 1e2);
}

TEST(Solve, AllZeroSystemActsAsTheIdentity) {
  const Tensor B = Draw(torch::kFloat64).normal({2, 4, 3});
  EXPECT_LE(
      relative_difference(solve_positive_definite(at::zeros({2, 4, 4}, torch::kFloat64), B), B),
      1e-13);
}

// Cholesky does not mind the units of the unknowns: a system that is only badly scaled is not
// singular and must not be regularised.
TEST(Solve, BadlyScaledSystemIsNotTakenForSingular) {
  const Tensor scales = at::logspace(0, -40, 5, 10.0, torch::kFloat64);
  Draw draw(torch::kFloat64);
  const Tensor regular = random_systems({}, 5, 1.0, draw);
  const Tensor B = draw.normal({5, 1});
  const Tensor A = regular * scales.unsqueeze(0) * scales.unsqueeze(1);
  const Tensor X = solve_positive_definite(A, B * scales.unsqueeze(1));
  EXPECT_LE(relative_difference(X * scales.unsqueeze(1), solve_positive_definite(regular, B)),
            1e-12);
}

TEST(Solve, GradientsMatchFiniteDifferences) {
  Draw draw(torch::kFloat64);
  const Tensor root = draw.normal({2, 4, 4}).requires_grad_();
  const Tensor B = draw.normal({2, 4, 3}).requires_grad_();
  expect_gradients_match(
      [&] {
        const Tensor A =
            at::matmul(root, root.transpose(-2, -1)) + 0.5 * at::eye(4, root.options());
        return solve_positive_definite(A, B);
      },
      {{"root", root}, {"right-hand side", B}});
}

TEST(Solve, GradientsStayInTheirSystem) {
  Draw draw(torch::kFloat64);
  Tensor A = random_systems({3}, 4, 0.1, draw);
  A[1][0][0] = NAN;
  A.requires_grad_();
  solve_positive_definite(A, draw.normal({3, 4, 2})).narrow(0, 0, 1).sum().backward();
  EXPECT_TRUE(all_finite(A.grad()[0]));
  EXPECT_TRUE(all_finite(A.grad()[2]));
}

TEST(Solve, SecondDerivativesAreRefused) {
  Draw draw(torch::kFloat64);
  const Tensor A = random_systems({1}, 3, 0.1, draw).requires_grad_();
  const Tensor sum = solve_positive_definite(A, draw.normal({1, 3, 1})).sum();
  try {
    torch::autograd::grad({sum}, {A}, {}, true, true);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("second derivatives"), std::string::npos);
  }
}

TEST(Solve, MisshapenSystemsAreRefused) {
  const Tensor A = at::ones({2, 3, 4});
  try {
    solve_positive_definite(A, at::ones({2, 3, 1}));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "solve_positive_definite: expected A [...,k,k] and B [...,k,m], found [2, 3, 4] "
                 "and [2, 3, 1]");
  }
}

TEST(Sums, TenMillionPointsDoNotSpoilFloat32) {
  constexpr std::int64_t points = 10'000'000;
  const torch::NoGradGuard no_grad;
  const auto options = at::TensorOptions().dtype(torch::kFloat32);
  const Tensor basis = at::ones({1, 1, points, 1}, options);
  const Tensor ones = at::ones({1, 1, points, 1}, options);
  const Tensor weights = at::full({1, points}, 1.7, options);
  const auto coefficient = [&](const Tensor& field, Coefficients kind) {
    return project(basis, field, weights, kind).item<double>();
  };
  EXPECT_EQ(coefficient(ones, Coefficients::sum), 1e7);
  EXPECT_NEAR(coefficient(ones, Coefficients::integral), 1, 1e-5);
  EXPECT_NEAR(coefficient(ones, Coefficients::mean), 1, 1e-7);
  // Equal terms that are no sums of few powers of two all round to the same side.
  const double value = static_cast<double>(0.1F);
  const Tensor field = value * ones;
  EXPECT_NEAR(coefficient(field, Coefficients::sum) / (points * value), 1, 1e-5);
  EXPECT_NEAR(coefficient(field, Coefficients::integral) / value, 1, 1e-5);
  EXPECT_NEAR(coefficient(field, Coefficients::mean) / value, 1, 1e-5);
}

TEST(Sums, PartialSumsAgreeWithFloat64) {
  Draw draw(torch::kFloat32);
  const Tensor basis = draw.uniform({2, 3, 5000, 4}, 0, 1);
  const Tensor field = draw.uniform({2, 3, 5000, 5}, 0, 1);
  const Tensor expected =
      at::matmul(basis.to(torch::kFloat64).transpose(-2, -1), field.to(torch::kFloat64));
  const Tensor sums = accumulate(basis, field);
  EXPECT_EQ(sums.scalar_type(), torch::kFloat64);
  EXPECT_LE(relative_difference(sums, expected), 1e-6);
}

// More points than one partial sum takes, so that the gradient passes through the parts.
TEST(Sums, GradientsOfPartialSumsAgreeWithFloat64) {
  Draw draw(torch::kFloat32);
  const Tensor basis = draw.uniform({1, 2, 5000, 3}, 0, 1).requires_grad_();
  const Tensor field = draw.normal({1, 2, 5000, 2}).requires_grad_();
  const Tensor weights = draw.uniform({1, 5000}, 0.2, 1.2);
  const Tensor wide_basis = basis.detach().to(torch::kFloat64).requires_grad_();
  const Tensor wide_field = field.detach().to(torch::kFloat64).requires_grad_();
  project(basis, field, weights, Coefficients::mean).square().sum().backward();
  project(wide_basis, wide_field, weights, Coefficients::mean).square().sum().backward();
  EXPECT_LE(relative_difference(basis.grad(), wide_basis.grad()), 1e-5);
  EXPECT_LE(relative_difference(field.grad(), wide_field.grad()), 1e-5);
}

TEST(Gradients, ProjectAndReconstructMatchFiniteDifferences) {
  Draw draw(torch::kFloat64);
  const Tensor logits = draw.normal({2, 2, 5, 3}).requires_grad_();
  const Tensor field = draw.normal({2, 2, 5, 2}).requires_grad_();
  const Tensor temperature = at::full({1, 2, 1, 1}, 0.6, torch::kFloat64).requires_grad_();
  Tensor weights = draw.uniform({2, 5}, 0.2, 1.2);
  weights[1].narrow(0, 3, 2).zero_();
  for (const auto kind : {Coefficients::mean, Coefficients::integral, Coefficients::sum}) {
    SCOPED_TRACE(to_string(kind));
    expect_gradients_match(
        [&] {
          const Tensor basis = partition_of_unity(logits, temperature);
          return reconstruct(basis, project(basis, field, weights, kind));
        },
        {{"logits", logits}, {"field", field}, {"temperature", temperature}});
  }
}

TEST(Gradients, TransportMatchesFiniteDifferencesInBothShapes) {
  for (const auto& [functions, channels] : std::vector<std::pair<int, int>>{{3, 5}, {5, 3}}) {
    for (const bool relative : {false, true}) {
      Draw draw(torch::kFloat64);
      const Tensor queries = draw.normal({1, 2, 4, channels}).requires_grad_();
      const Tensor keys = draw.normal({1, 2, functions, channels}).requires_grad_();
      const Tensor values = draw.normal({1, 2, functions, 2}).requires_grad_();
      const Tensor alpha = at::full({1}, 0.2, torch::kFloat64).requires_grad_();
      expect_gradients_match(
          [&] {
            return transport(queries, keys, values,
                             Regularisation::blend(alpha.sigmoid(), relative));
          },
          {{"queries", queries}, {"keys", keys}, {"values", values}, {"alpha", alpha}});
    }
  }
}

}  // namespace
}  // namespace funcattn
