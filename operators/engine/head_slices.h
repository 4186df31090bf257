#pragma once

#include "operators/engine/trainable_stack.h"

namespace funcattn {

/// The bases of all heads from their channels: one map to the logits that the heads share, and for
/// each head a bias of its own.
template <class T>
class HeadSlices {
 public:
  HeadSlices() = default;
  /// @param weight [k,c] @param bias [H,k]
  HeadSlices(const Tensor& weight, const Tensor& bias);

  int functions() const { return map_.outs(); }
  int channels() const { return map_.ins(); }

  /// Basis of a head as exponentials() leaves it. @param features [H c][P], those of all heads
  void basis(const PanelKernels<T>& kernels, int head, const T* features, T* e,
             T* inverse_sum) const {
    map_.apply_with_bias(kernels, bias_.data() + static_cast<std::size_t>(head) * stride_,
                         features + static_cast<std::ptrdiff_t>(head) * channels() * kernels.points,
                         e);
    kernels.exponentials(e, functions(), inverse_sum);
  }

 private:
  PackedLinear<T> map_;
  std::size_t stride_ = 0;
  AlignedBuffer<T> bias_;  ///< [H][k rounded up]
};

/// The same with gradients.
template <class T>
class TrainableSlices {
 public:
  TrainableSlices() = default;
  /// @param offset as for LinearGradient
  TrainableSlices(const Tensor& weight, const Tensor& bias, int lanes, std::size_t& offset);

  const HeadSlices<T>& forward() const { return forward_; }

  /// Adds the gradients of a head at a panel.
  /// @param e, inverse_sum the basis as basis() gave it
  /// @param d_basis [k][P] gradient of the basis; becomes that of the logits
  /// @param features [H c][P] from which the basis was made
  /// @param by_point [transpose_rows()][P], scratch
  /// @param d_features [H c][P], whose rows of this head receive the gradient, or are added to
  ///   where `adds`; also the rows beyond, up to eight
  void backward(const PanelKernels<T>& kernels, int head, const T* e, const T* inverse_sum,
                T* d_basis, const T* features, T* by_point, T* d_features, bool adds,
                T* sums) const;
  int transpose_rows() const { return gradient_.transpose_rows(); }

  Tensor weight(const double* sums) const { return gradient_.weight(sums); }  ///< [k,c]
  Tensor bias(const double* sums) const;                                      ///< [H,k]

 private:
  HeadSlices<T> forward_;
  PackedLinear<T> transposed_;
  LinearGradient gradient_;  ///< Its bias is that of all heads together and not used.
  int heads_ = 0;
  std::size_t lanes_ = 0;
  std::size_t bias_gradient_ = 0;  ///< [H][k rounded up][lanes]
};

}  // namespace funcattn
