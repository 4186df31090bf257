#pragma once

#include <vector>

#include "operators/engine/network_description.h"
#include "operators/engine/packed_linear.h"

// Dense layers on panels with their gradients, which add up in one block of numbers per worker.

namespace funcattn {

/// Where the gradient of a linear map stands in a block of numbers: of the weight
/// [outs rounded up][ins rounded up to lanes], and of the bias [outs rounded up][lanes].
class LinearGradient {
 public:
  LinearGradient() = default;
  /// @param offset of its first number; moved behind its last
  LinearGradient(int outs, int ins, int lanes, std::size_t& offset);

  /// Adds a panel.
  /// @param dy [outs rounded up][P]
  /// @param x_by_point as PanelKernels::transpose gives the input
  template <class T>
  void add(const PanelKernels<T>& kernels, const T* dy, const T* x_by_point, T* sums) const {
    kernels.accumulate(dy, outs_, x_by_point, ins_, sums + weight_);
    kernels.accumulate_rows(dy, outs_, nullptr, sums + bias_);
  }
  Tensor weight(const double* sums) const;  ///< [outs,ins] float64
  Tensor bias(const double* sums) const;    ///< [outs] float64
  int transpose_rows() const { return columns_; }

 private:
  int outs_ = 0;
  int ins_ = 0;
  int lanes_ = 0;
  int columns_ = 0;
  std::size_t weight_ = 0;
  std::size_t bias_ = 0;
};

/// A linear map forwards and backwards.
template <class T>
struct TrainableLinear {
  TrainableLinear() = default;
  TrainableLinear(const Tensor& weight, const Tensor& bias, int lanes, std::size_t& offset);
  PackedLinear<T> forward;
  PackedLinear<T> transposed;  ///< dx = W^T dy
  LinearGradient gradient;
};

/// Forward and backward of dense layers, the backward from what the forward left in the arena.
template <class T>
class TrainableStack {
 public:
  TrainableStack() = default;
  TrainableStack(const DenseStack& layers, int lanes, std::size_t& offset);

  bool empty() const { return layers_.empty(); }
  int outs() const { return layers_.back().linear.forward.outs(); }

  /// What one panel's forward leaves for its backward, in the arena.
  struct LayerTape {
    const T* input = nullptr;
    T* deviation = nullptr;
    const T* before_activation = nullptr;
  };
  using Tape = std::vector<LayerTape>;

  /// The result, in the arena. @param x must last as long as the tape
  const T* forward(PanelArena<T>& arena, const T* x, Tape& tape) const;

  /// Adds the gradients of the parameters to `sums`, and that of x to `dx` where it is not null.
  void backward(PanelArena<T>& arena, const Tape& tape, const T* dy, T* dx, T* sums) const;

  /// Gradients of weight and bias of each layer, in the order of the layers.
  void gradients(const double* sums, std::vector<Tensor>& result) const;

 private:
  struct Layer {
    TrainableLinear<T> linear;
    std::optional<Activation> activation;
    bool normalise;
    bool residual;
  };
  std::vector<Layer> layers_;
};

}  // namespace funcattn
