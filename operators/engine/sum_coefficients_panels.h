#pragma once

#include "operators/engine/attention_panels.h"
#include "operators/engine/basis_sums.h"

namespace funcattn {

/// Heads of full width, and one softmax over the functions of all heads.
template <class T>
class SumCoefficientsPanels : public PanelAttention<T> {
 public:
  SumCoefficientsPanels(const PanelKernels<T>& kernels,
                        const SumCoefficientsDescription& description);
  std::size_t sum_size() const override { return 2 * sums_.size(); }
  bool counts_points() const override { return true; }
  void accumulate(PanelArena<T>& arena, Sides sides, const T* x, const PanelMeasure<T>& measure,
                  T* sums) const override;
  std::size_t packed_size() const override { return sums_.packed_size() + sums_.packed_size(); }
  void pack(const double* sums, double* packed) const override {
    sums_.pack(sums, packed);
    sums_.pack(sums + sums_.size(), packed + sums_.packed_size());
  }
  void unpack(const double* packed, double* sums) const override {
    sums_.unpack(packed, sums);
    sums_.unpack(packed + sums_.packed_size(), sums + sums_.size());
  }
  Transported<T> solve(const double* sums, const SampleSize& source,
                       const SampleSize& query) const override;
  void apply(PanelArena<T>& arena, const Transported<T>& transported, const T* x,
             T* y) const override;

 private:
  void accumulate_side(PanelArena<T>& arena, const T* x, const PackedLinear<T>& basis_features,
                       const PackedLinear<T>& basis, const PackedLinear<T>& fields,
                       const PanelMeasure<T>& measure, T* sums) const;

  BasisSums sums_;  ///< Of either side.
  int width_;       ///< Of all heads.
  int functions_;   ///< Of all heads.
  Regularisation regularisation_;
  PackedLinear<T> queries_, keys_, values_, query_basis_, value_basis_, out_;
};

}  // namespace funcattn
