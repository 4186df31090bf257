#include "operators/engine/trainable_stack.h"

#include <algorithm>

namespace funcattn {

LinearGradient::LinearGradient(int outs, int ins, int lanes, std::size_t& offset)
    : outs_(outs), ins_(ins), lanes_(lanes), columns_((ins + lanes - 1) / lanes * lanes) {
  const auto rows = static_cast<std::size_t>(round_up_rows(outs));
  // Every matrix starts at a register's border.
  const auto aligned = [&](std::size_t count) {
    const std::size_t begin = offset;
    offset += (count + 15) / 16 * 16;
    return begin;
  };
  weight_ = aligned(rows * static_cast<std::size_t>(columns_));
  bias_ = aligned(rows * static_cast<std::size_t>(lanes));
}

Tensor LinearGradient::weight(const double* sums) const {
  Tensor result = at::empty({outs_, ins_}, torch::kFloat64);
  double* out = result.data_ptr<double>();
  for (int o = 0; o < outs_; ++o) {
    const double* row = sums + weight_ + static_cast<std::ptrdiff_t>(o) * columns_;
    out = std::copy(row, row + ins_, out);
  }
  return result;
}

Tensor LinearGradient::bias(const double* sums) const {
  Tensor result = at::empty({outs_}, torch::kFloat64);
  for (int o = 0; o < outs_; ++o) {
    double total = 0;
    for (int lane = 0; lane < lanes_; ++lane)
      total += sums[bias_ + static_cast<std::size_t>(o * lanes_ + lane)];
    result.data_ptr<double>()[o] = total;
  }
  return result;
}

template <class T>
TrainableLinear<T>::TrainableLinear(const Tensor& weight, const Tensor& bias, int lanes,
                                    std::size_t& offset)
    : forward(weight, bias),
      transposed(weight.detach().t(), Tensor()),
      gradient(static_cast<int>(weight.size(0)), static_cast<int>(weight.size(1)), lanes, offset) {}

template <class T>
TrainableStack<T>::TrainableStack(const DenseStack& layers, int lanes, std::size_t& offset) {
  for (const DenseDescription& layer : layers)
    layers_.push_back({TrainableLinear<T>(layer.weight, layer.bias, lanes, offset),
                       layer.activation, layer.normalise, layer.residual});
}

template <class T>
const T* TrainableStack<T>::forward(PanelArena<T>& arena, const T* x, Tape& tape) const {
  const PanelKernels<T>& kernels = arena.kernels();
  tape.assign(layers_.size(), LayerTape());
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    const int ins = layer.linear.forward.ins();
    const int outs = layer.linear.forward.outs();
    LayerTape& record = tape[i];
    record.input = x;
    if (layer.normalise) {
      T* normalised = arena.rows(ins);
      record.deviation = arena.rows(1);
      kernels.normalise(x, ins, normalised, record.deviation);
      record.input = normalised;
    }
    T* y = arena.rows(outs);
    layer.linear.forward.apply(kernels, record.input, y);
    if (layer.activation) {
      record.before_activation = y;
      T* activated = arena.rows(outs);
      std::copy(y, y + static_cast<std::ptrdiff_t>(outs) * kernels.points, activated);
      kernels.activate(*layer.activation, activated, outs);
      y = activated;
    }
    if (layer.residual) kernels.add(x, outs, y);
    x = y;
  }
  return x;
}

template <class T>
void TrainableStack<T>::backward(PanelArena<T>& arena, const Tape& tape, const T* dy, T* dx,
                                 T* sums) const {
  const PanelKernels<T>& kernels = arena.kernels();
  const typename PanelArena<T>::Frame frame(arena);
  for (std::size_t i = layers_.size(); i-- > 0;) {
    const Layer& layer = layers_[i];
    const LayerTape& record = tape[i];
    const int ins = layer.linear.forward.ins();
    const int outs = layer.linear.forward.outs();
    const T* gradient = dy;
    if (layer.activation) {
      T* before = arena.rows(outs);
      kernels.activate_backward(*layer.activation, record.before_activation, dy, outs, before);
      gradient = before;
    }
    T* by_point = arena.rows(layer.linear.gradient.transpose_rows());
    kernels.transpose(record.input, ins, nullptr, by_point);
    layer.linear.gradient.add(kernels, gradient, by_point, sums);
    if (i == 0 && !dx) return;

    T* input = i == 0 ? dx : arena.rows(ins);
    const std::ptrdiff_t numbers = static_cast<std::ptrdiff_t>(round_up_rows(ins)) * kernels.points;
    if (i > 0) std::fill(input, input + numbers, T(0));
    if (layer.normalise) {
      T* of_normalised = arena.rows(ins);
      layer.linear.transposed.apply(kernels, gradient, of_normalised);
      kernels.normalise_backward(record.input, record.deviation, of_normalised, ins, input);
    } else {
      layer.linear.transposed.apply_add(kernels, gradient, input);
    }
    if (layer.residual) kernels.add(dy, ins, input);
    dy = input;
  }
}

template <class T>
void TrainableStack<T>::gradients(const double* sums, std::vector<Tensor>& result) const {
  for (const Layer& layer : layers_) {
    result.push_back(layer.linear.gradient.weight(sums));
    result.push_back(layer.linear.gradient.bias(sums));
  }
}

template struct TrainableLinear<float>;
template struct TrainableLinear<double>;
template class TrainableStack<float>;
template class TrainableStack<double>;

}  // namespace funcattn
