#pragma once

#include "operators/engine/trainable_attention.h"

namespace funcattn {

/// Two bases, both computed anew in each visit; nothing is kept of a point.
template <class T>
class PaperTraining : public TrainableAttention<T> {
 public:
  using Solved = typename TrainableAttention<T>::Solved;
  using ApplyTape = typename TrainableAttention<T>::ApplyTape;
  PaperTraining(const PanelKernels<T>& kernels, const PaperDescription& description,
                std::size_t& offset);
  std::size_t sum_size() const override { return query_sums_.size() + source_sums_.size(); }
  bool counts_points() const override { return kind_ == Coefficients::sum; }
  int kept_rows() const override { return width_; }
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
  /// Queries, or keys and values: what is projected on which basis.
  struct Side {
    TrainableLinear<T> field;
    std::vector<TrainableLinear<T>> basis;  ///< Per head [k,width].
  };
  Tensor moved(const Solved& solved, const SampleSize& size) const;
  void accumulate_side(PanelArena<T>& arena, const Side& side, const BasisSums& layout, const T* x,
                       const PanelMeasure<T>& measure, T* sums) const;
  void backward_side(PanelArena<T>& arena, const Side& side, const BasisSums& layout,
                     const SumGradient<T>& gradient, const Solved* solved, const T* x,
                     const T* x_by_point, const T* share, const T* d_joined, T* dx, T* sums) const;

  BasisSums query_sums_, source_sums_;
  int width_;
  Coefficients kind_;
  Regularisation regularisation_;
  double reference_points_;
  Side query_, source_;
  TrainableLinear<T> out_;
};

}  // namespace funcattn
