#include "operators/engine/trainable_attention.h"

#include "operators/engine/shared_basis_training.h"

namespace funcattn {

template <class T>
std::unique_ptr<TrainableAttention<T>> make_trainable_attention(
    const PanelKernels<T>& kernels, const AttentionDescription& description, std::size_t& offset) {
  if (const auto* shared = std::get_if<SharedBasisDescription>(&description))
    return std::make_unique<SharedBasisTraining<T>>(kernels, *shared, offset);
  return nullptr;
}

std::vector<Tensor*> attention_tensors(AttentionDescription& description) {
  auto* a = std::get_if<SharedBasisDescription>(&description);
  if (!a) return {};
  return {
      &a->features_weight, &a->features_bias, &a->slice_weight, &a->slice_bias, &a->field_weight,
      &a->field_bias,      &a->to_q,          &a->to_k,         &a->to_v,       &a->alpha,
      &a->out_weight,      &a->out_bias};
}

template std::unique_ptr<TrainableAttention<float>> make_trainable_attention(
    const PanelKernels<float>&, const AttentionDescription&, std::size_t&);
template std::unique_ptr<TrainableAttention<double>> make_trainable_attention(
    const PanelKernels<double>&, const AttentionDescription&, std::size_t&);

}  // namespace funcattn
