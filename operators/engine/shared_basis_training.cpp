#include "operators/engine/shared_basis_training.h"

#include <algorithm>

#include "operators/engine/attention_panels.h"

namespace funcattn {

namespace {

SharedBasisDescription small_maps(const SharedBasisDescription& description) {
  SharedBasisDescription small;
  small.heads = description.heads;
  small.relative_ridge = description.relative_ridge;
  small.reference_points = description.reference_points;
  small.mixing = description.mixing;
  small.maps = copy_maps(description.maps);
  return small;
}

}  // namespace

template <class T>
SharedBasisTraining<T>::SharedBasisTraining(const PanelKernels<T>& kernels,
                                            const SharedBasisDescription& description,
                                            std::size_t& offset)
    : description_(small_maps(description)),
      sums_(description.heads, static_cast<int>(description.slice_weight.size(0)),
            static_cast<int>(description.slice_weight.size(1)), kernels.lanes),
      width_(static_cast<int>(description.field_weight.size(0))),
      features_(description.features_weight, description.features_bias, kernels.lanes, offset),
      field_(description.field_weight, description.field_bias, kernels.lanes, offset),
      out_(description.out_weight, description.out_bias, kernels.lanes, offset),
      slices_(description.slice_weight, description.slice_bias, kernels.lanes, offset) {
  if (description.out_features_weight.defined())
    out_features_.emplace(description.out_features_weight, description.out_features_bias,
                          kernels.lanes, offset);
  if (description.out_slice_weight.defined())
    out_slices_.emplace(description.out_slice_weight, description.out_slice_bias, kernels.lanes,
                        offset);
}

template <class T>
std::ptrdiff_t SharedBasisTraining<T>::head_rows(const PanelKernels<T>& kernels, int head) const {
  return static_cast<std::ptrdiff_t>(head) * sums_.channels() * kernels.points;
}

template <class T>
std::ptrdiff_t SharedBasisTraining<T>::basis_rows(const PanelKernels<T>& kernels, int head) const {
  return static_cast<std::ptrdiff_t>(head) * round_up_rows(sums_.functions()) * kernels.points;
}

template <class T>
Tensor SharedBasisTraining<T>::moved(const SharedBasisDescription& description,
                                     const Tensor& products, const Tensor& mass,
                                     const SampleSize& size) const {
  const double reference =
      description.reference_points > 0 ? description.reference_points : size.present;
  return mix_coefficients(description.mixing, mean_coefficients(products, mass, reference),
                          description.maps, description.relative_ridge);
}

template <class T>
typename SharedBasisTraining<T>::Solved SharedBasisTraining<T>::solve(
    const double* sums, const SampleSize& size) const {
  Solved solved;
  solved.products = sums_.product_tensor(sums);
  solved.mass = sums_.mass_tensor(sums);
  const Tensor map = moved(description_, solved.products, solved.mass, size);
  solved.map = pack_transported<T>(map);
  solved.transposed_map = pack_transported<T>(map.transpose(-2, -1));
  return solved;
}

template <class T>
void SharedBasisTraining<T>::accumulate(PanelArena<T>& arena, const T* x,
                                        const PanelMeasure<T>& measure, T* kept, T* sums) const {
  const PanelKernels<T>& kernels = arena.kernels();
  const typename PanelArena<T>::Frame frame(arena);
  T* field = arena.rows(width_);
  T* e = arena.rows(sums_.functions());
  T* inverse_sum = arena.rows(1);
  T* scratch = arena.rows(sums_.transpose_rows() + panel_row_group);
  features_.forward.apply(kernels, x, kept);
  if (out_features_)
    out_features_->forward.apply(
        kernels, x, kept + static_cast<std::ptrdiff_t>(round_up_rows(width_)) * kernels.points);
  field_.forward.apply(kernels, x, field);
  for (int head = 0; head < sums_.heads(); ++head) {
    slices_.forward().basis(kernels, head, kept, e, inverse_sum);
    sums_.accumulate(kernels, head, e, inverse_sum, field + head_rows(kernels, head), measure,
                     scratch, sums);
  }
}

template <class T>
typename SharedBasisTraining<T>::ApplyTape SharedBasisTraining<T>::apply(PanelArena<T>& arena,
                                                                         const Solved& solved,
                                                                         const T* kept,
                                                                         T* y) const {
  const PanelKernels<T>& kernels = arena.kernels();
  ApplyTape tape;
  tape.joined = arena.rows(width_ + panel_row_group);
  tape.bases = arena.rows(sums_.heads() * round_up_rows(sums_.functions()));
  tape.inverse_sums = arena.rows(sums_.heads() * panel_row_group);
  for (int head = 0; head < sums_.heads(); ++head) {
    T* e = tape.bases + basis_rows(kernels, head);
    T* inverse_sum =
        tape.inverse_sums + static_cast<std::ptrdiff_t>(head) * panel_row_group * kernels.points;
    out_slices().forward().basis(kernels, head, out_features(kernels, kept), e, inverse_sum);
    // The rows beyond a head's channels are overwritten by the next head.
    solved.map[static_cast<std::size_t>(head)].apply(
        kernels, e, tape.joined + head_rows(kernels, head), inverse_sum);
  }
  out_.forward.apply_add(kernels, tape.joined, y);
  return tape;
}

template <class T>
void SharedBasisTraining<T>::backward_apply(PanelArena<T>& arena, const ApplyTape& tape,
                                            const T* dy, T* d_joined, T* sums, T* map_sums) const {
  const PanelKernels<T>& kernels = arena.kernels();
  const typename PanelArena<T>::Frame frame(arena);
  T* by_point = arena.rows(out_.gradient.transpose_rows());
  T* head_by_point = arena.rows(sums_.transpose_rows());
  kernels.transpose(tape.joined, width_, nullptr, by_point);
  out_.gradient.add(kernels, dy, by_point, sums);
  out_.transposed.apply(kernels, dy, d_joined);
  for (int head = 0; head < sums_.heads(); ++head) {
    const T* inverse_sum =
        tape.inverse_sums + static_cast<std::ptrdiff_t>(head) * panel_row_group * kernels.points;
    kernels.transpose(d_joined + head_rows(kernels, head), sums_.channels(), inverse_sum,
                      head_by_point);
    kernels.accumulate(tape.bases + basis_rows(kernels, head), sums_.functions(), head_by_point,
                       sums_.channels(), map_sums + sums_.products(head));
  }
}

template <class T>
SolveGradient<T> SharedBasisTraining<T>::backward_solve(const double* map_sums,
                                                        const Solved& solved,
                                                        const SampleSize& size,
                                                        std::vector<Tensor>& small) const {
  const at::AutoGradMode record(true);
  const auto leaf = [](const Tensor& tensor) { return tensor.detach().requires_grad_(); };
  SharedBasisDescription leaves = description_;
  leaves.maps = {leaf(description_.maps.to_q), leaf(description_.maps.to_k),
                 leaf(description_.maps.to_v), leaf(description_.maps.alpha)};
  const Tensor products = leaf(solved.products);
  const Tensor mass = leaf(solved.mass);
  const Tensor map = moved(leaves, products, mass, size);
  map.backward(sums_.product_tensor(map_sums));

  std::size_t index = 0;
  for (const Tensor& parameter :
       {leaves.maps.to_q, leaves.maps.to_k, leaves.maps.to_v, leaves.maps.alpha}) {
    // A mixing that does without one of the maps leaves it without a gradient.
    const Tensor one =
        parameter.grad().defined() ? parameter.grad() : at::zeros_like(parameter.detach());
    if (small.size() <= index)
      small.push_back(one);
    else
      small[index] = small[index] + one;
    ++index;
  }
  SolveGradient<T> gradient;
  gradient.source = SumGradient<T>(products.grad(), mass.grad());
  return gradient;
}

template <class T>
void SharedBasisTraining<T>::backward_points(PanelArena<T>& arena, const Solved& solved,
                                             const SolveGradient<T>& gradient, const T* x,
                                             const T* kept, const T* share, const T* d_joined,
                                             T* dx, T* sums) const {
  const PanelKernels<T>& kernels = arena.kernels();
  const typename PanelArena<T>::Frame frame(arena);
  T* field = arena.rows(width_);
  T* d_features = arena.rows(width_ + panel_row_group);
  T* d_field = arena.rows(width_ + panel_row_group);
  T* d_out_features = out_features_ ? arena.rows(width_ + panel_row_group) : nullptr;
  T* e = arena.rows(sums_.functions());
  T* d_basis = arena.rows(sums_.functions());
  T* inverse_sum = arena.rows(1);
  T* share_of_basis = arena.rows(1);
  T* by_point = arena.rows(features_.gradient.transpose_rows());
  T* head_by_point = arena.rows(sums_.transpose_rows());
  field_.forward.apply(kernels, x, field);
  for (int head = 0; head < sums_.heads(); ++head) {
    const auto index = static_cast<std::size_t>(head);
    const std::ptrdiff_t rows = head_rows(kernels, head);
    slices_.forward().basis(kernels, head, kept, e, inverse_sum);
    // Of the projection dB = share (dP F + dm), of the reconstruction dB = M dZ.
    if (out_slices_) {
      gradient.source.products[index].apply(kernels, field + rows, d_basis, share);
    } else {
      solved.transposed_map[index].apply(kernels, d_joined + rows, d_basis);
      gradient.source.products[index].apply_add(kernels, field + rows, d_basis, share);
    }
    // dF = share dP^T B
    kernels.scale_points(inverse_sum, share, 1, share_of_basis);
    gradient.source.transposed_products[index].apply(kernels, e, d_field + rows, share_of_basis);
    slices_.backward(kernels, head, e, inverse_sum, d_basis, kept, head_by_point, d_features, false,
                     sums);
    if (!out_slices_) continue;
    const T* features = out_features(kernels, kept);
    out_slices_->forward().basis(kernels, head, features, e, inverse_sum);
    solved.transposed_map[index].apply(kernels, d_joined + rows, d_basis);
    out_slices_->backward(kernels, head, e, inverse_sum, d_basis, features, head_by_point,
                          out_features_ ? d_out_features : d_features, !out_features_, sums);
  }
  kernels.transpose(x, width_, nullptr, by_point);
  features_.gradient.add(kernels, d_features, by_point, sums);
  field_.gradient.add(kernels, d_field, by_point, sums);
  features_.transposed.apply_add(kernels, d_features, dx);
  field_.transposed.apply_add(kernels, d_field, dx);
  if (!out_features_) return;
  out_features_->gradient.add(kernels, d_out_features, by_point, sums);
  out_features_->transposed.apply_add(kernels, d_out_features, dx);
}

template <class T>
std::vector<Tensor> SharedBasisTraining<T>::gradients(const double* sums,
                                                      const std::vector<Tensor>& small) const {
  std::vector<Tensor> all{features_.gradient.weight(sums),
                          features_.gradient.bias(sums),
                          slices_.weight(sums),
                          slices_.bias(sums),
                          field_.gradient.weight(sums),
                          field_.gradient.bias(sums),
                          small[0],
                          small[1],
                          small[2],
                          small[3],
                          out_.gradient.weight(sums),
                          out_.gradient.bias(sums)};
  if (out_features_) {
    all.push_back(out_features_->gradient.weight(sums));
    all.push_back(out_features_->gradient.bias(sums));
  }
  if (out_slices_) {
    all.push_back(out_slices_->weight(sums));
    all.push_back(out_slices_->bias(sums));
  }
  return all;
}

template class SharedBasisTraining<float>;
template class SharedBasisTraining<double>;

}  // namespace funcattn
