#pragma once

#include "operators/engine/panel_memory.h"
#include "operators/torch_compat.h"

namespace funcattn {

/// A linear map y = W x + b in the order in which PanelKernels::linear reads it.
template <class T>
class PackedLinear {
 public:
  PackedLinear() = default;
  /// @param weight [outs,ins], any dtype
  /// @param bias [outs], or undefined
  PackedLinear(const Tensor& weight, const Tensor& bias);

  int outs() const { return outs_; }
  int ins() const { return ins_; }
  const T* bias() const { return has_bias_ ? bias_.data() : nullptr; }

  /// y = W x + b; y has room for the rows rounded up. @param scale [P] or null
  void apply(const PanelKernels<T>& kernels, const T* x, T* y, const T* scale = nullptr) const {
    kernels.linear(weights_.data(), bias(), outs_, ins_, x, scale, false, y);
  }
  /// y += scale (W x + b), also in the rows beyond. @param scale [P] or null
  void apply_add(const PanelKernels<T>& kernels, const T* x, T* y, const T* scale = nullptr) const {
    kernels.linear(weights_.data(), bias(), outs_, ins_, x, scale, true, y);
  }
  /// The weights with another bias, [outs rounded up].
  void apply_with_bias(const PanelKernels<T>& kernels, const T* bias, const T* x, T* y) const {
    kernels.linear(weights_.data(), bias, outs_, ins_, x, nullptr, false, y);
  }

 private:
  int outs_ = 0;
  int ins_ = 0;
  bool has_bias_ = false;
  AlignedBuffer<T> weights_;
  AlignedBuffer<T> bias_;
};

}  // namespace funcattn
