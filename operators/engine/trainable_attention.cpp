#include "operators/engine/trainable_attention.h"

#include "operators/engine/paper_training.h"
#include "operators/engine/shared_basis_training.h"

namespace funcattn {

template <class T>
SumGradient<T>::SumGradient(const Tensor& of_products, const Tensor& of_mass) {
  for (std::int64_t head = 0; head < of_products.size(1); ++head) {
    const Tensor one = of_products[0][head];
    products.emplace_back(one, of_mass[0][head].squeeze(-1));
    transposed_products.emplace_back(one.t(), Tensor());
  }
}

template <class T>
std::unique_ptr<TrainableAttention<T>> make_trainable_attention(
    const PanelKernels<T>& kernels, const AttentionDescription& description, std::size_t& offset) {
  if (const auto* shared = std::get_if<SharedBasisDescription>(&description))
    return std::make_unique<SharedBasisTraining<T>>(kernels, *shared, offset);
  if (const auto* paper = std::get_if<PaperDescription>(&description))
    return std::make_unique<PaperTraining<T>>(kernels, *paper, offset);
  return nullptr;
}

std::vector<Tensor*> attention_tensors(AttentionDescription& description) {
  if (auto* a = std::get_if<SharedBasisDescription>(&description)) {
    std::vector<Tensor*> tensors{&a->features_weight, &a->features_bias, &a->slice_weight,
                                 &a->slice_bias,      &a->field_weight,  &a->field_bias,
                                 &a->maps.to_q,       &a->maps.to_k,     &a->maps.to_v,
                                 &a->maps.alpha,      &a->out_weight,    &a->out_bias};
    for (Tensor* own :
         {&a->out_features_weight, &a->out_features_bias, &a->out_slice_weight, &a->out_slice_bias})
      if (own->defined()) tensors.push_back(own);
    return tensors;
  }
  if (auto* a = std::get_if<PaperDescription>(&description))
    return {&a->q_weight,
            &a->q_bias,
            &a->k_weight,
            &a->k_bias,
            &a->v_weight,
            &a->v_bias,
            &a->query_basis_weight,
            &a->query_basis_bias,
            &a->source_basis_weight,
            &a->source_basis_bias,
            &a->out_weight,
            &a->out_bias};
  return {};
}

template struct SumGradient<float>;
template struct SumGradient<double>;
template std::unique_ptr<TrainableAttention<float>> make_trainable_attention(
    const PanelKernels<float>&, const AttentionDescription&, std::size_t&);
template std::unique_ptr<TrainableAttention<double>> make_trainable_attention(
    const PanelKernels<double>&, const AttentionDescription&, std::size_t&);

}  // namespace funcattn
