#pragma once

#include <utility>

#include "operators/engine/attention_panels.h"
#include "operators/engine/basis_sums.h"

namespace funcattn {

/// Two bases: one for the coefficients of the queries and for reconstruction, one for those of keys
/// and values. Also the cross-attention, whose two sides see different points.
template <class T>
class PaperPanels : public PanelAttention<T> {
 public:
  PaperPanels(const PanelKernels<T>& kernels, const PaperDescription& description);
  std::size_t sum_size() const override { return query_sums_.size() + source_sums_.size(); }
  bool counts_points() const override { return kind_ == Coefficients::sum; }
  void accumulate(PanelArena<T>& arena, Sides sides, const T* x, const PanelMeasure<T>& measure,
                  T* sums) const override;
  std::size_t packed_size() const override {
    return query_sums_.packed_size() + source_sums_.packed_size();
  }
  void pack(const double* sums, double* packed) const override {
    query_sums_.pack(sums, packed);
    source_sums_.pack(sums + query_sums_.size(), packed + query_sums_.packed_size());
  }
  void unpack(const double* packed, double* sums) const override {
    query_sums_.unpack(packed, sums);
    source_sums_.unpack(packed + query_sums_.packed_size(), sums + query_sums_.size());
  }
  Transported<T> solve(const double* sums, const SampleSize& source,
                       const SampleSize& query) const override;
  void apply(PanelArena<T>& arena, const Transported<T>& transported, const T* x,
             T* y) const override;

 private:
  BasisSums query_sums_, source_sums_;
  int width_;
  Coefficients kind_;
  Regularisation regularisation_;
  double reference_points_;
  PackedLinear<T> queries_;
  PackedLinear<T> keys_and_values_;  ///< Per head its keys, then its values.
  std::vector<PackedLinear<T>> query_basis_, source_basis_;  ///< One per head.
  PackedLinear<T> out_;
};

/// [H c,...] and [H c,...] to [H 2c,...]: the rows of each head side by side.
Tensor interleave_heads(const Tensor& a, const Tensor& b, int heads);
/// The inverse: the two parts of [H 2c,...].
std::pair<Tensor, Tensor> separate_heads(const Tensor& joined, int heads);

}  // namespace funcattn
