#include "operators/engine/few_shot_panels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "operators/forms/few_shot.h"

namespace funcattn {

template <class T>
FewShotPanels<T>::FewShotPanels(const PanelKernels<T>& kernels,
                                const FewShotDescription& description)
    : sums_(1, static_cast<int>(description.slice_weight.size(0)),
            static_cast<int>(description.slice_weight.size(1)) + description.values, kernels.lanes),
      groups_(static_cast<std::size_t>(description.slice_weight.size(0))),
      latent_(static_cast<int>(description.slice_weight.size(1))),
      values_(description.values),
      slice_(description.slice_weight, description.slice_bias),
      regularisation_(few_shot_regularisation(description.ridge, description.relative_ridge)) {}

template <class T>
void FewShotPanels<T>::clear_tile(T* sums) const {
  for (std::size_t i = 0; i < sums_.size(); ++i) sums[i] = T(0);
  for (std::size_t j = 0; j < groups_; ++j)
    sums[sums_.size() + j] = -std::numeric_limits<T>::infinity();
}

template <class T>
void FewShotPanels<T>::clear_total(double* sums) const {
  for (std::size_t i = 0; i < sums_.size(); ++i) sums[i] = 0;
  for (std::size_t j = 0; j < groups_; ++j)
    sums[sums_.size() + j] = -std::numeric_limits<double>::infinity();
}

template <class T>
template <class Number>
void FewShotPanels<T>::scale_group(int group, Number factor, Number* sums) const {
  const auto columns = static_cast<std::size_t>(sums_.transpose_rows());
  const auto lanes = static_cast<std::size_t>(sums_.lanes());
  const auto row = static_cast<std::size_t>(group);
  for (std::size_t i = 0; i < columns; ++i) sums[sums_.products(0) + row * columns + i] *= factor;
  for (std::size_t i = 0; i < lanes; ++i) sums[sums_.mass(0) + row * lanes + i] *= factor;
}

template <class T>
void FewShotPanels<T>::accumulate(PanelArena<T>& arena, Sides sides, const T* x,
                                  const PanelMeasure<T>& measure, T* sums) const {
  if (!sides.source) return;
  const PanelKernels<T>& kernels = arena.kernels();
  const typename PanelArena<T>::Frame frame(arena);
  T* e = arena.rows(sums_.functions());
  T* factor = arena.rows(static_cast<int>(groups_));
  T* by_point = arena.rows(sums_.transpose_rows());
  slice_.apply(kernels, x, e);
  T* largest = sums + sums_.size();
  kernels.exponentials_along(e, sums_.functions(), measure.share, largest, factor);
  for (int j = 0; j < sums_.functions(); ++j)
    if (factor[j] != T(1)) scale_group(j, factor[j], sums);
  const T* field = x;
  if (!measure.all_present) {
    T* present = arena.rows(latent_ + values_);
    std::copy(x, x + static_cast<std::ptrdiff_t>(latent_ + values_) * kernels.points, present);
    kernels.clear_absent(measure.share, latent_ + values_, present);
    field = present;
  }
  kernels.transpose(field, latent_ + values_, measure.share, by_point);
  kernels.accumulate(e, sums_.functions(), by_point, latent_ + values_, sums + sums_.products(0));
  kernels.accumulate_rows(e, sums_.functions(), measure.share, sums + sums_.mass(0));
}

template <class T>
template <class Number>
void FewShotPanels<T>::merge_scaled(const Number* part, double* sums) const {
  const auto columns = static_cast<std::size_t>(sums_.transpose_rows());
  const auto lanes = static_cast<std::size_t>(sums_.lanes());
  for (std::size_t j = 0; j < groups_; ++j) {
    double& largest = sums[sums_.size() + j];
    const auto other = static_cast<double>(part[sums_.size() + j]);
    if (std::isinf(other) && other < 0) continue;
    if (other > largest) {
      scale_group(static_cast<int>(j), std::isinf(largest) ? 0.0 : std::exp2(largest - other),
                  sums);
      largest = other;
    }
    const double factor = std::exp2(other - largest);
    const std::size_t products = sums_.products(0) + j * columns;
    for (std::size_t i = products; i < products + columns; ++i)
      sums[i] += factor * static_cast<double>(part[i]);
    const std::size_t mass = sums_.mass(0) + j * lanes;
    for (std::size_t i = mass; i < mass + lanes; ++i)
      sums[i] += factor * static_cast<double>(part[i]);
  }
}

template <class T>
void FewShotPanels<T>::merge_tile(const T* tile, double* sums) const {
  merge_scaled(tile, sums);
}

template <class T>
void FewShotPanels<T>::merge_total(const double* part, double* sums) const {
  merge_scaled(part, sums);
}

template <class T>
void FewShotPanels<T>::pack(const double* sums, double* packed) const {
  std::copy_n(sums + sums_.size(), groups_, packed);
  sums_.pack(sums, packed + groups_);
}

template <class T>
void FewShotPanels<T>::unpack(const double* packed, double* sums) const {
  std::copy_n(packed, groups_, sums + sums_.size());
  sums_.unpack(packed + groups_, sums);
}

template <class T>
void FewShotPanels<T>::rescale(const double* maxima, double* packed) const {
  const auto row = static_cast<std::size_t>(sums_.channels()) + 1;
  for (std::size_t j = 0; j < groups_; ++j) {
    const double factor = std::isinf(packed[j]) ? 0.0 : std::exp2(packed[j] - maxima[j]);
    double* sums = packed + groups_ + j * row;
    for (std::size_t i = 0; i < row; ++i) sums[i] *= factor;
    packed[j] = maxima[j];
  }
}

template <class T>
Transported<T> FewShotPanels<T>::solve(const double* sums, const SampleSize&,
                                       const SampleSize&) const {
  const Tensor mass = sums_.mass_tensor(sums);
  const Tensor means =
      sums_.product_tensor(sums) / at::where(mass.gt(0), mass, at::ones_like(mass));
  const Tensor keys = means.narrow(3, 0, latent_) / (1.0 + group_mass_floor);
  const Tensor values = means.narrow(3, latent_, values_);
  const Tensor features = at::eye(latent_, keys.options()).view({1, 1, latent_, latent_});
  return pack_transported<T>(transport(features, keys, values, regularisation_));
}

template <class T>
void FewShotPanels<T>::apply(PanelArena<T>& arena, const Transported<T>& transported, const T* x,
                             T* y) const {
  transported.front().apply_add(arena.kernels(), x, y);
}

template class FewShotPanels<float>;
template class FewShotPanels<double>;

}  // namespace funcattn
