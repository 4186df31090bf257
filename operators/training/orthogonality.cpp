#include "operators/training/orthogonality.h"

#include <limits>
#include <string>

#include "core/error.h"
#include "operators/attention.h"

namespace funcattn {

Tensor orthogonality_defect(const Tensor& basis, const Tensor& weights) {
  const Tensor gram = project(basis, basis, weights, Coefficients::integral).to(torch::kFloat64);
  const Tensor norms = gram.diagonal(0, -2, -1).clamp_min(std::numeric_limits<float>::min()).sqrt();
  const Tensor cosines = gram / (norms.unsqueeze(-1) * norms.unsqueeze(-2));
  // The diagonal is 1 whatever the functions are: left away, not computed.
  const Tensor others = 1 - at::eye(gram.size(-1), gram.options().requires_grad(false));
  return (cosines * others).square().mean({-2, -1}).mean(1);
}

void OrthogonalityObserver::observe(const AttentionRecord& record) {
  Tensor source_basis = record.source_basis;
  if (record.basis_sum == BasisSum::points) {
    // Such values have the weight of their point in them already.
    const Tensor weights = record.source_weights.to(source_basis.scalar_type());
    const Tensor divisors = at::where(weights.gt(0), weights, at::ones_like(weights));
    source_basis = source_basis / divisors.unsqueeze(1).unsqueeze(-1);
  }
  Tensor defect = orthogonality_defect(source_basis, record.source_weights);
  if (!record.queries_act_directly && !record.query_basis.is_same(record.source_basis))
    defect = 0.5 * (defect + orthogonality_defect(record.query_basis, record.query_weights));
  sum_ = layers_ > 0 ? sum_ + defect : defect;
  ++layers_;
}

Tensor OrthogonalityObserver::defect() const {
  return sum_ / static_cast<double>(layers_);
}

void check_orthogonality(double weight, const ModelConfig& config) {
  if (weight > 0 && config.attention != Attention::functional)
    throw UsageError(
        std::string("orthogonality is asked of learned basis functions, but attention ") +
        to_string(config.attention) + " has none; leave it away");
}

}  // namespace funcattn
