#include "operators/engine/sum_coefficients_panels.h"

namespace funcattn {

template <class T>
SumCoefficientsPanels<T>::SumCoefficientsPanels(const PanelKernels<T>& kernels,
                                                const SumCoefficientsDescription& description)
    : sums_(description.heads,
            static_cast<int>(description.query_basis_weight.size(0)) / description.heads,
            static_cast<int>(description.q_weight.size(0)) / description.heads, kernels.lanes),
      width_(static_cast<int>(description.q_weight.size(0))),
      functions_(static_cast<int>(description.query_basis_weight.size(0))),
      regularisation_(Regularisation::fixed(description.ridge, description.relative_ridge)),
      queries_(description.q_weight, description.q_bias),
      keys_(description.k_weight, description.k_bias),
      values_(description.v_weight, description.v_bias),
      query_basis_(description.query_basis_weight, description.query_basis_bias),
      value_basis_(description.value_basis_weight, description.value_basis_bias),
      out_(description.out_weight, description.out_bias) {}

template <class T>
void SumCoefficientsPanels<T>::accumulate_side(PanelArena<T>& arena, const T* x,
                                               const PackedLinear<T>& basis_features,
                                               const PackedLinear<T>& basis,
                                               const PackedLinear<T>& fields,
                                               const PanelMeasure<T>& measure, T* sums) const {
  const PanelKernels<T>& kernels = arena.kernels();
  const typename PanelArena<T>::Frame frame(arena);
  T* features = arena.rows(width_);
  T* field = arena.rows(width_);
  // The functions of the last head are read in whole groups.
  T* e = arena.rows(functions_ + panel_row_group);
  T* inverse_sum = arena.rows(1);
  T* scratch = arena.rows(sums_.transpose_rows() + panel_row_group);
  basis_features.apply(kernels, x, features);
  fields.apply(kernels, x, field);
  basis.apply(kernels, features, e);
  kernels.exponentials(e, functions_, inverse_sum);
  for (int head = 0; head < sums_.heads(); ++head)
    sums_.accumulate(
        kernels, head, e + static_cast<std::ptrdiff_t>(head) * sums_.functions() * kernels.points,
        inverse_sum, field + static_cast<std::ptrdiff_t>(head) * sums_.channels() * kernels.points,
        measure, scratch, sums);
}

template <class T>
void SumCoefficientsPanels<T>::accumulate(PanelArena<T>& arena, Sides, const T* x,
                                          const PanelMeasure<T>& measure, T* sums) const {
  accumulate_side(arena, x, queries_, query_basis_, queries_, measure, sums);
  accumulate_side(arena, x, keys_, value_basis_, values_, measure, sums + sums_.size());
}

template <class T>
Transported<T> SumCoefficientsPanels<T>::solve(const double* sums, const SampleSize&,
                                               const SampleSize&) const {
  const Tensor queries = sums_.product_tensor(sums);
  const Tensor values = sums_.product_tensor(sums + sums_.size());
  // C Q with C = V Q^T (Q Q^T + lambda I)^-1: a transport whose queries are the values.
  return pack_transported<T>(transport(values, queries, queries, regularisation_));
}

template <class T>
void SumCoefficientsPanels<T>::apply(PanelArena<T>& arena, const Transported<T>& transported,
                                     const T* x, T* y) const {
  const PanelKernels<T>& kernels = arena.kernels();
  const typename PanelArena<T>::Frame frame(arena);
  T* features = arena.rows(width_);
  T* joined = arena.rows(width_ + panel_row_group);
  T* e = arena.rows(functions_ + panel_row_group);
  T* inverse_sum = arena.rows(1);
  queries_.apply(kernels, x, features);
  query_basis_.apply(kernels, features, e);
  kernels.exponentials(e, functions_, inverse_sum);
  for (int head = 0; head < sums_.heads(); ++head)
    transported[static_cast<std::size_t>(head)].apply(
        kernels, e + static_cast<std::ptrdiff_t>(head) * sums_.functions() * kernels.points,
        joined + static_cast<std::ptrdiff_t>(head) * sums_.channels() * kernels.points,
        inverse_sum);
  out_.apply_add(kernels, joined, y);
}

template class SumCoefficientsPanels<float>;
template class SumCoefficientsPanels<double>;

}  // namespace funcattn
