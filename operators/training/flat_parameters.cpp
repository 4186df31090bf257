#include "operators/training/flat_parameters.h"

#include <Eigen/Core>
#include <cmath>
#include <unordered_set>

#include "core/error.h"

namespace funcattn {

namespace {

constexpr std::int64_t alignment_bytes = 64;

template <typename Scalar>
double norm_of(const Tensor& flat) {
  using Array = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
  const Eigen::Map<const Array> values(flat.data_ptr<Scalar>(), flat.numel());
  return std::sqrt(values.template cast<double>().squaredNorm());
}

}  // namespace

FlatParameters::FlatParameters(torch::nn::Module& module) {
  const torch::NoGradGuard no_grad;
  std::unordered_set<const c10::TensorImpl*> seen;  // Blocks may share one parameter.
  std::vector<Slot> decaying;
  std::vector<Slot> others;
  for (const auto& item : module.named_parameters()) {
    const Tensor& parameter = item.value();
    if (!parameter.requires_grad() || !seen.insert(parameter.unsafeGetTensorImpl()).second)
      continue;
    (parameter.dim() >= 2 ? decaying : others).push_back({item.key(), parameter, 0});
  }
  slots_ = std::move(decaying);
  const std::size_t decaying_count = slots_.size();
  slots_.insert(slots_.end(), others.begin(), others.end());
  if (slots_.empty()) throw UsageError("the model has no parameter that can be trained");

  const auto options = slots_.front().parameter.options().requires_grad(false);
  const auto step = alignment_bytes / static_cast<std::int64_t>(options.dtype().itemsize());
  std::int64_t size = 0;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Tensor& parameter = slots_[i].parameter;
    if (parameter.dtype() != options.dtype() || parameter.device() != options.device())
      throw UsageError("parameter '" + slots_[i].name +
                       "' has another dtype or device than the first one; convert the model");
    slots_[i].offset = size;
    size += (parameter.numel() + step - 1) / step * step;
    if (i + 1 == decaying_count) decayed_ = size;
  }
  values_ = torch::zeros({size}, options);
  gradients_ = torch::zeros({size}, options);
  for (auto& slot : slots_) {
    const Tensor part = view(values_, slot);
    part.copy_(slot.parameter);
    slot.parameter.set_data(part);
    slot.parameter.mutable_grad() = view(gradients_, slot);
  }
}

FlatParameters::~FlatParameters() {
  const torch::NoGradGuard no_grad;
  for (auto& slot : slots_) {
    slot.parameter.mutable_grad() = Tensor();
    try {
      slot.parameter.set_data(view(values_, slot).clone());
    } catch (const std::exception&) {
      // Without memory for a copy the parameter stays a view: valid, only not independent.
      continue;
    }
  }
}

Tensor FlatParameters::view(const Tensor& flat, const Slot& slot) {
  return flat.narrow(0, slot.offset, slot.parameter.numel()).view(slot.parameter.sizes());
}

double FlatParameters::gradient_norm() const {
  if (!gradients_.is_cpu() || !gradients_.is_floating_point())
    return gradients_.to(torch::kFloat64).norm().item<double>();
  return gradients_.scalar_type() == torch::kFloat64 ? norm_of<double>(gradients_)
                                                     : norm_of<float>(gradients_);
}

std::string FlatParameters::non_finite_gradient() const {
  for (const auto& slot : slots_)
    if (!view(gradients_, slot).isfinite().all().item<bool>()) return slot.name;
  return {};
}

}  // namespace funcattn
