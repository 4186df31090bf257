#include "operators/engine/panel_network.h"

#include <algorithm>

#include "operators/engine/attention_panels.h"

namespace funcattn {

namespace {

template <class T>
AlignedBuffer<T> copy_row(const Tensor& tensor) {
  if (!tensor.defined()) return {};
  const Tensor wide = tensor.detach().to(torch::kFloat64).contiguous();
  AlignedBuffer<T> row(static_cast<std::size_t>(wide.numel()));
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = static_cast<T>(wide.data_ptr<double>()[i]);
  return row;
}

template <class T>
void copy_rows(const PanelKernels<T>& kernels, const T* from, int rows, T* to) {
  std::copy(from, from + static_cast<std::ptrdiff_t>(rows) * kernels.points, to);
}

}  // namespace

template <class T>
PanelStack<T>::PanelStack(const DenseStack& layers) {
  for (const DenseDescription& layer : layers)
    layers_.push_back({PackedLinear<T>(layer.weight, layer.bias), layer.activation, layer.normalise,
                       layer.residual});
}

template <class T>
const T* PanelStack<T>::run(PanelArena<T>& arena, std::size_t count, const T* x) const {
  const PanelKernels<T>& kernels = arena.kernels();
  for (std::size_t i = 0; i < count; ++i) {
    const Layer& layer = layers_[i];
    const T* input = x;
    if (layer.normalise) {
      T* normalised = arena.rows(layer.linear.ins());
      kernels.normalise(x, layer.linear.ins(), normalised, nullptr);
      input = normalised;
    }
    T* y = arena.rows(layer.linear.outs());
    layer.linear.apply(kernels, input, y);
    if (layer.activation) kernels.activate(*layer.activation, y, layer.linear.outs());
    if (layer.residual) kernels.add(x, layer.linear.outs(), y);
    x = y;
  }
  return x;
}

template <class T>
void PanelStack<T>::apply(PanelArena<T>& arena, const T* x, T* y) const {
  const typename PanelArena<T>::Frame frame(arena);
  const T* result = run(arena, layers_.size(), x);
  copy_rows(arena.kernels(), result, outs(), y);
}

template <class T>
void PanelStack<T>::apply_add(PanelArena<T>& arena, const T* x, T* y) const {
  const typename PanelArena<T>::Frame frame(arena);
  const Layer& last = layers_.back();
  if (last.activation || last.normalise || last.residual) {
    arena.kernels().add(run(arena, layers_.size(), x), outs(), y);
  } else {
    last.linear.apply_add(arena.kernels(), run(arena, layers_.size() - 1, x), y);
  }
}

template <class T>
PanelNetwork<T>::PanelNetwork(const PanelKernels<T>& kernels, const NetworkDescription& description)
    : kernels_(kernels),
      width_(description.width),
      outputs_(description.outputs),
      lift_(description.lift),
      head_(description.head) {
  for (const BlockDescription& block : description.blocks)
    blocks_.push_back({block.shape, make_panel_attention(kernels, block.attention),
                       PanelStack<T>(block.mlp), copy_row<T>(block.norm1_gain),
                       copy_row<T>(block.norm1_shift), copy_row<T>(block.norm2_gain),
                       copy_row<T>(block.norm2_shift)});
}

template <class T>
void PanelNetwork<T>::lift(PanelArena<T>& arena, const T* features, T* h) const {
  if (lift_.empty())
    copy_rows(kernels_, features, width_, h);
  else
    lift_.apply(arena, features, h);
}

template <class T>
void PanelNetwork<T>::accumulate(PanelArena<T>& arena, std::size_t block, Sides sides, const T* h,
                                 const PanelMeasure<T>& measure, T* sums) const {
  const Block& parts = blocks_[block];
  if (parts.shape != BlockShape::pre_norm) {
    parts.attention->accumulate(arena, sides, h, measure, sums);
    return;
  }
  const typename PanelArena<T>::Frame frame(arena);
  T* x = arena.rows(width_);
  kernels_.normalise(h, width_, x, nullptr);
  parts.attention->accumulate(arena, sides, x, measure, sums);
}

template <class T>
void PanelNetwork<T>::finish(PanelArena<T>& arena, std::size_t block,
                             const Transported<T>& transported, T* h) const {
  const Block& parts = blocks_[block];
  const typename PanelArena<T>::Frame frame(arena);
  switch (parts.shape) {
    case BlockShape::pre_norm: {
      T* x = arena.rows(width_);
      kernels_.normalise(h, width_, x, nullptr);
      parts.attention->apply(arena, transported, x, h);
      parts.mlp.apply_add(arena, h, h);
      break;
    }
    case BlockShape::post_norm: {
      T* a = arena.rows(width_);
      kernels_.normalise(h, width_, a, nullptr);
      kernels_.affine(a, width_, parts.gain1.data(), parts.shift1.data());
      parts.attention->apply(arena, transported, h, a);
      kernels_.normalise(a, width_, h, nullptr);
      kernels_.affine(h, width_, parts.gain2.data(), parts.shift2.data());
      copy_rows(kernels_, h, width_, a);
      parts.mlp.apply_add(arena, a, h);
      break;
    }
    case BlockShape::bare: {
      T* y = arena.rows(outputs_);
      std::fill_n(y, static_cast<std::ptrdiff_t>(round_up_rows(outputs_)) * kernels_.points, T(0));
      parts.attention->apply(arena, transported, h, y);
      copy_rows(kernels_, y, outputs_, h);
      break;
    }
  }
}

template <class T>
void PanelNetwork<T>::head(PanelArena<T>& arena, const T* h, T* y) const {
  if (head_.empty())
    copy_rows(kernels_, h, outputs_, y);
  else
    head_.apply(arena, h, y);
}

template class PanelStack<float>;
template class PanelStack<double>;
template class PanelNetwork<float>;
template class PanelNetwork<double>;

}  // namespace funcattn
