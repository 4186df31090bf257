#pragma once

#include <optional>

#include "operators/engine/attention_panels.h"
#include "operators/engine/basis_sums.h"
#include "operators/engine/head_slices.h"

namespace funcattn {

template <class T>
class SharedBasisPanels : public PanelAttention<T> {
 public:
  SharedBasisPanels(const PanelKernels<T>& kernels, const SharedBasisDescription& description);
  std::size_t sum_size() const override { return sums_.size(); }
  void accumulate(PanelArena<T>& arena, Sides sides, const T* x, const PanelMeasure<T>& measure,
                  T* sums) const override;
  std::size_t packed_size() const override { return sums_.packed_size(); }
  void pack(const double* sums, double* packed) const override { sums_.pack(sums, packed); }
  void unpack(const double* packed, double* sums) const override { sums_.unpack(packed, sums); }
  Transported<T> solve(const double* sums, const SampleSize& source,
                       const SampleSize& query) const override;
  void apply(PanelArena<T>& arena, const Transported<T>& transported, const T* x,
             T* y) const override;

 private:
  SharedBasisDescription description_;
  BasisSums sums_;
  int width_;
  PackedLinear<T> features_, field_, out_;
  HeadSlices<T> slices_;
  std::optional<PackedLinear<T>> out_features_;  ///< Of a reconstruction with its own.
  std::optional<HeadSlices<T>> out_slices_;
};

}  // namespace funcattn
