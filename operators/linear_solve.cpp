#include "operators/linear_solve.h"

#include <limits>
#include <tuple>

#include "core/error.h"

namespace funcattn {

namespace {

constexpr double first_shift = 1e-14;
constexpr double last_shift = 1e2;

struct Factorisation {
  Tensor lower;   // Cholesky factors, [...,k,k]
  Tensor usable;  // bool [...]: finite, and regular to working precision
};

Factorisation factorise(const Tensor& matrices) {
  const auto [lower, info] = at::linalg_cholesky_ex(matrices);
  // A pivot is compared with its own diagonal entry: rescaling an unknown, which does no harm to a
  // Cholesky solution, must not make a system look singular.
  const double threshold =
      static_cast<double>(matrices.size(-1)) * std::numeric_limits<double>::epsilon();
  const Tensor pivots = lower.diagonal(0, -2, -1).square();
  const Tensor diagonal = matrices.diagonal(0, -2, -1);
  const Tensor regular = pivots.gt(diagonal * threshold).logical_and_(pivots.isfinite()).all(-1);
  return {lower, regular.logical_and(info.eq(0))};
}

// Replaces the matrices and factors of the systems listed in `indices` (all matrices finite).
void regularise(const Tensor& matrices, const Tensor& factors, const Tensor& indices) {
  Tensor remaining = indices;
  const Tensor identity = at::eye(matrices.size(-1), matrices.options());
  Tensor originals = matrices.index_select(0, remaining);
  Tensor scale = originals.diagonal(0, -2, -1).mean(-1).view({-1, 1, 1});
  const Tensor all_zero = originals.eq(0).flatten(1).all(1).view({-1, 1, 1});
  originals = at::where(all_zero, identity, originals);
  scale = at::where(all_zero, at::ones_like(scale), scale);
  for (double shift = first_shift; shift <= last_shift && remaining.size(0) > 0; shift *= 10) {
    const Tensor shifted = originals + shift * scale * identity;
    const Factorisation attempt = factorise(shifted);
    const Tensor solved = attempt.usable.nonzero().squeeze(-1);
    const Tensor unsolved = attempt.usable.logical_not().nonzero().squeeze(-1);
    matrices.index_copy_(0, remaining.index_select(0, solved), shifted.index_select(0, solved));
    factors.index_copy_(0, remaining.index_select(0, solved),
                        attempt.lower.index_select(0, solved));
    remaining = remaining.index_select(0, unsolved);
    originals = originals.index_select(0, unsolved);
    scale = scale.index_select(0, unsolved);
  }
  factors.index_fill_(0, remaining, std::numeric_limits<double>::quiet_NaN());
}

struct Solution {
  Tensor values;   // float64, the shape of B
  Tensor factors;  // Cholesky factors of the matrices that were used
};

Solution solve(const Tensor& A, const Tensor& B) {
  Tensor matrices = A.to(torch::kFloat64);
  const Tensor right = B.to(torch::kFloat64);
  Factorisation factorisation = factorise(matrices);
  Tensor factors = factorisation.lower;
  if (!factorisation.usable.all().item<bool>()) {
    const std::int64_t unknowns = A.size(-1);
    matrices = matrices.reshape({-1, unknowns, unknowns}).clone();
    factors = factors.reshape({-1, unknowns, unknowns}).clone();
    const Tensor finite = matrices.isfinite().flatten(1).all(1);
    const Tensor usable = factorisation.usable.reshape({-1});
    factors.index_fill_(0, finite.logical_not().nonzero().squeeze(-1),
                        std::numeric_limits<double>::quiet_NaN());
    regularise(matrices, factors, usable.logical_not().logical_and(finite).nonzero().squeeze(-1));
    matrices = matrices.view(A.sizes());
    factors = factors.view(A.sizes());
  }
  const Tensor first = at::cholesky_solve(right, factors);
  const Tensor residual = right - at::matmul(matrices, first);
  return {first + at::cholesky_solve(residual, factors), factors};
}

class PositiveDefiniteSolve : public torch::autograd::Function<PositiveDefiniteSolve> {
 public:
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& A,
                        const Tensor& B) {
    const Solution solution = solve(A, B);
    context->save_for_backward({solution.factors, solution.values});
    context->saved_data["matrix_type"] = static_cast<std::int64_t>(A.scalar_type());
    context->saved_data["right_type"] = static_cast<std::int64_t>(B.scalar_type());
    return solution.values.to(B.scalar_type());
  }

  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                               torch::autograd::tensor_list gradients) {
    if (at::GradMode::is_enabled()) {
      throw UsageError(
          "solve_positive_definite: second derivatives are not available; call backward without "
          "create_graph");
    }
    const auto saved = context->get_saved_variables();
    const Tensor& factors = saved[0];
    const Tensor& values = saved[1];
    // X = A^-1 B: dB = A^-1 dX and dA = -dB X^T; A is symmetric, so is its gradient.
    const Tensor right = at::cholesky_solve(gradients[0].to(torch::kFloat64), factors);
    Tensor matrix;
    if (context->needs_input_grad(0)) {
      const Tensor product = at::matmul(right, values.transpose(-2, -1));
      matrix = (product + product.transpose(-2, -1)).mul_(-0.5).to(type(context, "matrix_type"));
    }
    return {matrix, right.to(type(context, "right_type"))};
  }

 private:
  static at::ScalarType type(torch::autograd::AutogradContext* context, const char* key) {
    return static_cast<at::ScalarType>(context->saved_data[key].toInt());
  }
};

}  // namespace

Tensor solve_positive_definite(const Tensor& A, const Tensor& B) {
  if (A.dim() < 2 || A.size(-1) != A.size(-2) || B.dim() != A.dim() || B.size(-2) != A.size(-1)) {
    throw UsageError("solve_positive_definite: expected A [...,k,k] and B [...,k,m], found " +
                     c10::str(A.sizes()) + " and " + c10::str(B.sizes()));
  }
  return PositiveDefiniteSolve::apply(A, B);
}

}  // namespace funcattn
