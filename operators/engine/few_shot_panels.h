#pragma once

#include "operators/engine/attention_panels.h"
#include "operators/engine/basis_sums.h"

namespace funcattn {

/// Groups are a softmax over the source points, whose largest logit is known only at the end: sums
/// carry the largest one so far and are rescaled when it grows. Queries act directly.
template <class T>
class FewShotPanels : public PanelAttention<T> {
 public:
  FewShotPanels(const PanelKernels<T>& kernels, const FewShotDescription& description);
  std::size_t sum_size() const override { return sums_.size() + groups_; }
  bool needs_query_sums() const override { return false; }
  int source_values() const override { return values_; }
  void clear_tile(T* sums) const override;
  void clear_total(double* sums) const override;
  void accumulate(PanelArena<T>& arena, Sides sides, const T* x, const PanelMeasure<T>& measure,
                  T* sums) const override;
  void merge_tile(const T* tile, double* sums) const override;
  void merge_total(const double* part, double* sums) const override;
  std::size_t maxima() const override { return groups_; }
  std::size_t packed_size() const override { return groups_ + sums_.packed_size(); }
  void pack(const double* sums, double* packed) const override;
  void unpack(const double* packed, double* sums) const override;
  void rescale(const double* maxima, double* packed) const override;
  Transported<T> solve(const double* sums, const SampleSize& source,
                       const SampleSize& query) const override;
  void apply(PanelArena<T>& arena, const Transported<T>& transported, const T* x,
             T* y) const override;

 private:
  template <class Number>
  void scale_group(int group, Number factor, Number* sums) const;
  template <class Number>
  void merge_scaled(const Number* part, double* sums) const;

  BasisSums sums_;  ///< One head: latent features, then values. After them the largest logits.
  std::size_t groups_;
  int latent_;
  int values_;
  PackedLinear<T> slice_;
  Regularisation regularisation_;
};

}  // namespace funcattn
