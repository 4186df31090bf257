#pragma once

#include <optional>

#include "operators/engine/head_slices.h"
#include "operators/engine/trainable_attention.h"

namespace funcattn {

/// Keeps the features that decide on the bases; bases themselves are computed anew in each visit.
template <class T>
class SharedBasisTraining : public TrainableAttention<T> {
 public:
  using Solved = typename TrainableAttention<T>::Solved;
  using ApplyTape = typename TrainableAttention<T>::ApplyTape;
  SharedBasisTraining(const PanelKernels<T>& kernels, const SharedBasisDescription& description,
                      std::size_t& offset);
  std::size_t sum_size() const override { return sums_.size(); }
  int kept_rows() const override { return out_features_ ? round_up_rows(width_) + width_ : width_; }
  int joined_rows() const override { return width_ + panel_row_group; }
  void accumulate(PanelArena<T>& arena, const T* x, const PanelMeasure<T>& measure, T* kept,
                  T* sums) const override;
  Solved solve(const double* sums, const SampleSize& size) const override;
  ApplyTape apply(PanelArena<T>& arena, const Solved& solved, const T* kept, T* y) const override;
  void backward_apply(PanelArena<T>& arena, const ApplyTape& tape, const T* dy, T* d_joined,
                      T* sums, T* map_sums) const override;
  SolveGradient<T> backward_solve(const double* map_sums, const Solved& solved,
                                  const SampleSize& size,
                                  std::vector<Tensor>& small) const override;
  void backward_points(PanelArena<T>& arena, const Solved& solved, const SolveGradient<T>& gradient,
                       const T* x, const T* kept, const T* share, const T* d_joined, T* dx,
                       T* sums) const override;
  std::vector<Tensor> gradients(const double* sums,
                                const std::vector<Tensor>& small) const override;

 private:
  Tensor moved(const SharedBasisDescription& description, const Tensor& products,
               const Tensor& mass, const SampleSize& size) const;
  /// Numbers before a head's channels, and before its functions in a tape.
  std::ptrdiff_t head_rows(const PanelKernels<T>& kernels, int head) const;
  std::ptrdiff_t basis_rows(const PanelKernels<T>& kernels, int head) const;
  /// Of what is kept, the features that decide on the basis of the reconstruction.
  const T* out_features(const PanelKernels<T>& kernels, const T* kept) const {
    return out_features_
               ? kept + static_cast<std::ptrdiff_t>(round_up_rows(width_)) * kernels.points
               : kept;
  }
  const TrainableSlices<T>& out_slices() const { return out_slices_ ? *out_slices_ : slices_; }

  SharedBasisDescription description_;  ///< Of the small maps, as float64 copies.
  BasisSums sums_;
  int width_;
  TrainableLinear<T> features_, field_, out_;
  TrainableSlices<T> slices_;
  std::optional<TrainableLinear<T>> out_features_;  ///< Of a reconstruction with its own.
  std::optional<TrainableSlices<T>> out_slices_;
};

}  // namespace funcattn
