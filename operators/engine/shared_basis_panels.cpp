#include "operators/engine/shared_basis_panels.h"

namespace funcattn {

template <class T>
SharedBasisPanels<T>::SharedBasisPanels(const PanelKernels<T>& kernels,
                                        const SharedBasisDescription& description)
    : description_(description),
      sums_(description.heads, static_cast<int>(description.slice_weight.size(0)),
            static_cast<int>(description.slice_weight.size(1)), kernels.lanes),
      width_(static_cast<int>(description.field_weight.size(0))),
      features_(description.features_weight, description.features_bias),
      field_(description.field_weight, description.field_bias),
      out_(description.out_weight, description.out_bias),
      slices_(description.slice_weight, description.slice_bias) {
  description_.maps = copy_maps(description.maps);
  if (description.out_features_weight.defined())
    out_features_.emplace(description.out_features_weight, description.out_features_bias);
  if (description.out_slice_weight.defined())
    out_slices_.emplace(description.out_slice_weight, description.out_slice_bias);
}

template <class T>
void SharedBasisPanels<T>::accumulate(PanelArena<T>& arena, Sides, const T* x,
                                      const PanelMeasure<T>& measure, T* sums) const {
  const PanelKernels<T>& kernels = arena.kernels();
  const typename PanelArena<T>::Frame frame(arena);
  T* features = arena.rows(width_);
  T* field = arena.rows(width_);
  T* e = arena.rows(sums_.functions());
  T* inverse_sum = arena.rows(1);
  T* scratch = arena.rows(sums_.transpose_rows() + panel_row_group);
  features_.apply(kernels, x, features);
  field_.apply(kernels, x, field);
  for (int head = 0; head < sums_.heads(); ++head) {
    slices_.basis(kernels, head, features, e, inverse_sum);
    T* channels = field + static_cast<std::ptrdiff_t>(head) * sums_.channels() * kernels.points;
    sums_.accumulate(kernels, head, e, inverse_sum, channels, measure, scratch, sums);
  }
}

template <class T>
Transported<T> SharedBasisPanels<T>::solve(const double* sums, const SampleSize& source,
                                           const SampleSize&) const {
  const double reference =
      description_.reference_points > 0 ? description_.reference_points : source.present;
  return pack_transported<T>(
      mix_coefficients(description_.mixing, sums_.coefficients(sums, Coefficients::mean, reference),
                       description_.maps, description_.relative_ridge));
}

template <class T>
void SharedBasisPanels<T>::apply(PanelArena<T>& arena, const Transported<T>& transported,
                                 const T* x, T* y) const {
  const PanelKernels<T>& kernels = arena.kernels();
  const typename PanelArena<T>::Frame frame(arena);
  T* features = arena.rows(width_);
  T* joined = arena.rows(width_ + panel_row_group);
  T* e = arena.rows(sums_.functions());
  T* inverse_sum = arena.rows(1);
  (out_features_ ? *out_features_ : features_).apply(kernels, x, features);
  const HeadSlices<T>& slices = out_slices_ ? *out_slices_ : slices_;
  for (int head = 0; head < sums_.heads(); ++head) {
    slices.basis(kernels, head, features, e, inverse_sum);
    // The rows beyond a head's channels are overwritten by the next head.
    transported[static_cast<std::size_t>(head)].apply(
        kernels, e, joined + static_cast<std::ptrdiff_t>(head) * sums_.channels() * kernels.points,
        inverse_sum);
  }
  out_.apply_add(kernels, joined, y);
}

template class SharedBasisPanels<float>;
template class SharedBasisPanels<double>;

}  // namespace funcattn
