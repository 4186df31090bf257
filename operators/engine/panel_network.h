#pragma once

#include <memory>
#include <vector>

#include "operators/engine/network_description.h"
#include "operators/engine/panel_attention.h"

namespace funcattn {

/// Dense layers one after the other, on a panel.
template <class T>
class PanelStack {
 public:
  PanelStack() = default;
  explicit PanelStack(const DenseStack& layers);
  bool empty() const { return layers_.empty(); }
  int ins() const { return layers_.front().linear.ins(); }
  int outs() const { return layers_.back().linear.outs(); }
  /// y = layers(x); y may be x where it has room for both.
  void apply(PanelArena<T>& arena, const T* x, T* y) const;
  /// y += layers(x)
  void apply_add(PanelArena<T>& arena, const T* x, T* y) const;

 private:
  struct Layer {
    PackedLinear<T> linear;
    std::optional<Activation> activation;
    bool normalise;
    bool residual;
  };
  /// The result of the first `count` layers, in the arena, or x where there are none.
  const T* run(PanelArena<T>& arena, std::size_t count, const T* x) const;

  std::vector<Layer> layers_;
};

/// A network with its weights packed: everything that happens to the points of one panel.
template <class T>
class PanelNetwork {
 public:
  PanelNetwork(const PanelKernels<T>& kernels, const NetworkDescription& description);

  const PanelKernels<T>& kernels() const { return kernels_; }
  int width() const { return width_; }      ///< Rows of h.
  int outputs() const { return outputs_; }  ///< Rows of the result.
  std::size_t blocks() const { return blocks_.size(); }
  const PanelAttention<T>& attention(std::size_t block) const { return *blocks_[block].attention; }

  /// h = lifted features. @param features [in][P] @param h [width][P]
  void lift(PanelArena<T>& arena, const T* features, T* h) const;
  /// Adds a panel, as it stands before the block, to the sums of the block's attention.
  void accumulate(PanelArena<T>& arena, std::size_t block, Sides sides, const T* h,
                  const PanelMeasure<T>& measure, T* sums) const;
  /// h = block(h).
  void finish(PanelArena<T>& arena, std::size_t block, const Transported<T>& transported,
              T* h) const;
  /// The result at the points of a panel. @param y [outputs][P]
  void head(PanelArena<T>& arena, const T* h, T* y) const;

 private:
  struct Block {
    BlockShape shape;
    std::unique_ptr<PanelAttention<T>> attention;
    PanelStack<T> mlp;
    AlignedBuffer<T> gain1, shift1, gain2, shift2;
  };

  const PanelKernels<T>& kernels_;
  int width_;
  int outputs_;
  PanelStack<T> lift_;
  std::vector<Block> blocks_;
  PanelStack<T> head_;
};

}  // namespace funcattn
