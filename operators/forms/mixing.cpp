#include "operators/forms/mixing.h"

#include <cmath>

#include "core/error.h"

namespace funcattn {

namespace {

// [B,H,k,k]; rows sum to 1.
Tensor token_attention(const Tensor& queries, const Tensor& keys) {
  const double scale = 1.0 / std::sqrt(static_cast<double>(queries.size(-1)));
  return at::softmax(at::matmul(queries, keys.transpose(-2, -1)) * scale, -1);
}

Regularisation blend(const MixingMaps& maps, bool relative_ridge) {
  return Regularisation::blend(maps.alpha.to(torch::kFloat64).sigmoid(), relative_ridge);
}

}  // namespace

const char* to_string(Mixing mixing) {
  switch (mixing) {
    case Mixing::functional:
      return "functional";
    case Mixing::softmax:
      return "softmax";
    case Mixing::none:
      return "none";
  }
  return "";
}

Mixing mixing_from_string(const std::string& text) {
  for (const auto mixing : {Mixing::functional, Mixing::softmax, Mixing::none})
    if (text == to_string(mixing)) return mixing;
  throw UsageError("mixing: unknown kind '" + text + "'; choose functional, softmax or none");
}

Tensor fixed_alpha(double blend, const Tensor& like) {
  return at::full({1}, std::log(blend) - std::log1p(-blend),
                  at::TensorOptions().dtype(torch::kFloat64).device(like.device()));
}

Tensor mix_coefficients(Mixing mixing, const Tensor& coefficients, const MixingMaps& maps,
                        bool relative_ridge) {
  const Tensor values = at::linear(coefficients, maps.to_v);
  if (mixing == Mixing::none) return values;
  const Tensor queries = at::linear(coefficients, maps.to_q);
  const Tensor keys = at::linear(coefficients, maps.to_k);
  if (mixing == Mixing::softmax) return at::matmul(token_attention(queries, keys), values);
  return transport(queries, keys, values, blend(maps, relative_ridge));
}

AttentionRecord mixing_record(Mixing mixing, const Tensor& coefficients, const MixingMaps& maps,
                              bool relative_ridge) {
  AttentionRecord record;
  record.coefficients = at::linear(coefficients, maps.to_v);
  if (mixing == Mixing::none) {
    const std::int64_t functions = coefficients.size(2);
    record.transport = at::eye(functions, coefficients.options().dtype(torch::kFloat64))
                           .expand({coefficients.size(0), coefficients.size(1), -1, -1});
    return record;
  }
  const Tensor queries = at::linear(coefficients, maps.to_q).to(torch::kFloat64);
  const Tensor keys = at::linear(coefficients, maps.to_k).to(torch::kFloat64);
  if (mixing == Mixing::softmax) {
    record.transport = token_attention(queries, keys);
    record.transport_is_attention = true;
    return record;
  }
  record.transport = transport_matrix(queries, keys, blend(maps, relative_ridge));
  record.system = transport_system(keys, blend(maps, relative_ridge));
  return record;
}

AttentionRecord transport_record(const Tensor& queries, const Tensor& keys,
                                 const Tensor& coefficients, const Regularisation& regularisation) {
  AttentionRecord record;
  record.coefficients = coefficients;
  record.transport = transport_matrix(queries.to(torch::kFloat64), keys, regularisation);
  record.system = transport_system(keys, regularisation);
  return record;
}

}  // namespace funcattn
