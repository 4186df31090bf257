#include "operators/engine/packed_linear.h"

namespace funcattn {

template <class T>
PackedLinear<T>::PackedLinear(const Tensor& weight, const Tensor& bias)
    : outs_(static_cast<int>(weight.size(0))),
      ins_(static_cast<int>(weight.size(1))),
      has_bias_(bias.defined()),
      weights_(static_cast<std::size_t>(round_up_rows(outs_)) * static_cast<std::size_t>(ins_)),
      bias_(static_cast<std::size_t>(round_up_rows(outs_))) {
  const Tensor wide = weight.detach().to(torch::kFloat64).contiguous();
  const double* from = wide.data_ptr<double>();
  weights_.fill(T(0));
  for (int o = 0; o < outs_; ++o) {
    T* group = weights_.data() +
               static_cast<std::ptrdiff_t>(o / panel_row_group) * panel_row_group * ins_ +
               o % panel_row_group;
    for (int i = 0; i < ins_; ++i)
      group[static_cast<std::ptrdiff_t>(i) * panel_row_group] =
          static_cast<T>(from[static_cast<std::ptrdiff_t>(o) * ins_ + i]);
  }
  bias_.fill(T(0));
  if (!has_bias_) return;
  const Tensor wide_bias = bias.detach().to(torch::kFloat64).contiguous();
  for (int o = 0; o < outs_; ++o)
    bias_[static_cast<std::size_t>(o)] = static_cast<T>(wide_bias.data_ptr<double>()[o]);
}

template class PackedLinear<float>;
template class PackedLinear<double>;

}  // namespace funcattn
