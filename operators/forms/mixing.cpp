#include "operators/forms/mixing.h"

#include <cmath>

#include "core/error.h"

namespace funcattn {

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

Tensor mix_coefficients(Mixing mixing, const Tensor& coefficients, const MixingMaps& maps,
                        bool relative_ridge) {
  const Tensor values = at::linear(coefficients, maps.to_v);
  if (mixing == Mixing::none) return values;
  const Tensor queries = at::linear(coefficients, maps.to_q);
  const Tensor keys = at::linear(coefficients, maps.to_k);
  if (mixing == Mixing::softmax) {
    const double scale = 1.0 / std::sqrt(static_cast<double>(coefficients.size(-1)));
    return at::matmul(at::softmax(at::matmul(queries, keys.transpose(-2, -1)) * scale, -1), values);
  }
  return transport(queries, keys, values,
                   Regularisation::blend(maps.alpha.to(torch::kFloat64).sigmoid(), relative_ridge));
}

}  // namespace funcattn
