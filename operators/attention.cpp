#include "operators/attention.h"

#include "core/error.h"
#include "operators/linear_solve.h"

namespace funcattn {

namespace {

// Rows of a float32 product before its result moves to float64. Some BLAS kernels add all rows one
// after the other, others in blocks of a few hundred: with longer parts equal terms, which all
// round the same way, would lose a digit more.
constexpr std::int64_t rows_per_partial_sum = 256;

// Added to the mass of a basis function, which is of order n / k.
constexpr double mass_floor = 1e-5;

// Whether the system of the k functions is the smaller one.
bool over_functions(const Tensor& keys) {
  return keys.size(-2) <= keys.size(-1);
}

// (s K^T K + r I)^-1 K^T V = K^T (s K K^T + r I)^-1 V, [B,H,c,v] in float64.
Tensor least_squares_map(const Tensor& keys, const Tensor& values,
                         const Regularisation& regularisation) {
  const Tensor V = values.to(torch::kFloat64);
  const Tensor transposed = keys.to(torch::kFloat64).transpose(-2, -1);
  const Tensor system = transport_system(keys, regularisation);
  if (over_functions(keys)) return at::matmul(transposed, solve_positive_definite(system, V));
  return solve_positive_definite(system, at::matmul(transposed, V));
}

// All partial sums of accumulate() in one product: on a device that runs beside the CPU, thousands
// of small calls would take longer than what they compute.
Tensor accumulate_together(const Tensor& basis, const Tensor& field) {
  const std::int64_t parts = basis.size(2) / rows_per_partial_sum;
  const std::int64_t whole = parts * rows_per_partial_sum;
  const auto split = [&](const Tensor& rows) {
    return rows.narrow(2, 0, whole).unflatten(2, {parts, rows_per_partial_sum});
  };
  const Tensor total =
      at::matmul(split(basis).transpose(-2, -1), split(field)).sum(2, false, torch::kFloat64);
  const std::int64_t rest = basis.size(2) - whole;
  if (rest == 0) return total;
  return total +
         at::matmul(basis.narrow(2, whole, rest).transpose(-2, -1), field.narrow(2, whole, rest))
             .to(torch::kFloat64);
}

}  // namespace

const char* to_string(Coefficients kind) {
  switch (kind) {
    case Coefficients::mean:
      return "mean";
    case Coefficients::integral:
      return "integral";
    case Coefficients::sum:
      return "sum";
  }
  return "";
}

Coefficients coefficients_from_string(const std::string& text) {
  for (const auto kind : {Coefficients::mean, Coefficients::integral, Coefficients::sum}) {
    if (text == to_string(kind)) return kind;
  }
  throw UsageError("coefficients: unknown kind '" + text + "'; choose mean, integral or sum");
}

PointMeasure::PointMeasure(const Tensor& weights, torch::Dtype dtype) {
  if (weights.dim() != 2) {
    throw UsageError("quadrature weights: expected shape [B,N], found " +
                     c10::str(weights.sizes()));
  }
  const Tensor wide = weights.detach().to(torch::kFloat64);
  present = wide.gt(0);
  all_present = present.all().item<bool>();
  if (weights.size(1) == 0) {
    relative = wide;
    share = wide.to(dtype);
    count = at::ones({weights.size(0)}, wide.options());
    return;
  }
  const Tensor counted = all_present ? wide : at::where(present, wide, at::zeros_like(wide));
  const Tensor largest = counted.amax(1, true);
  relative = counted / at::where(largest.gt(0), largest, at::ones_like(largest));
  share = (relative / relative.sum(1, true).clamp_min(1.0)).to(dtype);
  count = all_present
              ? at::full({weights.size(0)}, static_cast<double>(weights.size(1)), wide.options())
              : present.sum(1, false, torch::kFloat64).clamp_min(1.0);
}

Tensor partition_of_unity(const Tensor& logits, const Tensor& temperature) {
  return at::softmax(logits / temperature, -1);
}

Tensor accumulate(const Tensor& basis, const Tensor& field) {
  if (basis.scalar_type() == torch::kFloat64 || basis.size(2) <= rows_per_partial_sum) {
    return at::matmul(basis.transpose(-2, -1), field).to(torch::kFloat64);
  }
  if (!basis.is_cpu()) return accumulate_together(basis, field);
  const auto basis_parts = basis.split(rows_per_partial_sum, 2);
  const auto field_parts = field.split(rows_per_partial_sum, 2);
  Tensor total;
  for (std::size_t part = 0; part < basis_parts.size(); ++part) {
    const Tensor sum =
        at::matmul(basis_parts[part].transpose(-2, -1), field_parts[part]).to(torch::kFloat64);
    total = total.defined() ? total + sum : sum;
  }
  return total;
}

Tensor project(const Tensor& basis, const Tensor& field, const PointMeasure& measure,
               Coefficients kind, double reference_points) {
  Tensor counted_basis = basis;
  Tensor counted_field = field;
  if (!measure.all_present) {
    // Selected, not multiplied by 0: NaN times 0 is NaN, forwards and in the gradients.
    const Tensor present = measure.present.unsqueeze(1).unsqueeze(-1);
    const Tensor zero = at::zeros({}, basis.options());
    counted_basis = at::where(present, basis, zero);
    counted_field = at::where(present, field, zero);
  }
  if (kind == Coefficients::sum) {
    return accumulate(counted_basis, counted_field).to(field.scalar_type());
  }
  const Tensor share = measure.share.unsqueeze(1).unsqueeze(-1);
  const Tensor weighted = counted_field * share;
  if (kind == Coefficients::integral) {
    return accumulate(counted_basis, weighted).to(field.scalar_type());
  }
  const std::int64_t channels = field.size(3);
  const Tensor with_mass = at::cat({weighted, share.expand({-1, field.size(1), -1, -1})}, -1);
  const Tensor sums = accumulate(counted_basis, with_mass);
  const Tensor reference = reference_points > 0 ? at::full({}, reference_points, sums.options())
                                                : measure.count.view({-1, 1, 1, 1});
  return mean_coefficients(sums.narrow(3, 0, channels), sums.narrow(3, channels, 1), reference)
      .to(field.scalar_type());
}

Tensor mean_coefficients(const Tensor& products, const Tensor& mass,
                         const Tensor& reference_points) {
  // Shares are the weights scaled to sum to 1; numerator and denominator both carry the factor n.
  return products / (mass + mass_floor / reference_points);
}

Tensor mean_coefficients(const Tensor& products, const Tensor& mass, double reference_points) {
  return products / (mass + mass_floor / reference_points);
}

Tensor project(const Tensor& basis, const Tensor& field, const Tensor& weights, Coefficients kind,
               double reference_points) {
  return project(basis, field, PointMeasure(weights, field.scalar_type()), kind, reference_points);
}

Regularisation Regularisation::fixed(double ridge, bool relative) {
  const auto options = at::TensorOptions().dtype(torch::kFloat64);
  return {at::ones({}, options), at::full({}, ridge, options), relative};
}

Regularisation Regularisation::blend(const Tensor& amount, bool relative) {
  return {1 - amount, amount, relative};
}

Tensor transport_system(const Tensor& keys, const Regularisation& regularisation) {
  const Tensor K = keys.to(torch::kFloat64);
  const Tensor transposed = K.transpose(-2, -1);
  const Tensor gram = over_functions(keys) ? at::matmul(K, transposed) : at::matmul(transposed, K);
  Tensor ridge = regularisation.ridge.to(torch::kFloat64);
  if (regularisation.relative) {
    ridge = ridge * (K.square().sum({-2, -1}, true) / static_cast<double>(K.size(-2)));
  }
  return regularisation.gram_scale.to(torch::kFloat64) * gram +
         ridge * at::eye(gram.size(-1), K.options());
}

Tensor transport(const Tensor& queries, const Tensor& keys, const Tensor& values,
                 const Regularisation& regularisation) {
  return at::matmul(queries,
                    least_squares_map(keys, values, regularisation).to(queries.scalar_type()));
}

Tensor transport_matrix(const Tensor& queries, const Tensor& keys,
                        const Regularisation& regularisation) {
  const std::int64_t functions = keys.size(-2);
  const Tensor identity =
      at::eye(functions, keys.options()).expand({keys.size(0), keys.size(1), functions, functions});
  return transport(queries, keys, identity, regularisation);
}

Tensor reconstruct(const Tensor& basis, const Tensor& coefficients) {
  return at::matmul(basis, coefficients);
}

}  // namespace funcattn
