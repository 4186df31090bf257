#include "operators/engine/head_slices.h"

namespace funcattn {

template <class T>
HeadSlices<T>::HeadSlices(const Tensor& weight, const Tensor& bias)
    : map_(weight, Tensor()),
      stride_(static_cast<std::size_t>(round_up_rows(map_.outs()))),
      bias_(stride_ * static_cast<std::size_t>(bias.size(0))) {
  bias_.fill(T(0));
  const Tensor values = bias.detach().to(torch::kFloat64).contiguous();
  const double* from = values.data_ptr<double>();
  for (std::size_t h = 0; h < static_cast<std::size_t>(bias.size(0)); ++h)
    for (std::size_t j = 0; j < static_cast<std::size_t>(functions()); ++j)
      bias_[h * stride_ + j] = static_cast<T>(*from++);
}

template <class T>
TrainableSlices<T>::TrainableSlices(const Tensor& weight, const Tensor& bias, int lanes,
                                    std::size_t& offset)
    : forward_(weight, bias),
      transposed_(weight.detach().t(), Tensor()),
      gradient_(forward_.functions(), forward_.channels(), lanes, offset),
      heads_(static_cast<int>(bias.size(0))),
      lanes_(static_cast<std::size_t>(lanes)),
      bias_gradient_(offset) {
  offset += static_cast<std::size_t>(heads_) *
            static_cast<std::size_t>(round_up_rows(forward_.functions())) * lanes_;
}

template <class T>
void TrainableSlices<T>::backward(const PanelKernels<T>& kernels, int head, const T* e,
                                  const T* inverse_sum, T* d_basis, const T* features, T* by_point,
                                  T* d_features, bool adds, T* sums) const {
  const int functions = forward_.functions();
  const std::ptrdiff_t rows =
      static_cast<std::ptrdiff_t>(head) * forward_.channels() * kernels.points;
  kernels.softmax_backward(e, inverse_sum, functions, d_basis);
  kernels.transpose(features + rows, forward_.channels(), nullptr, by_point);
  gradient_.add(kernels, d_basis, by_point, sums);
  kernels.accumulate_rows(d_basis, functions, nullptr,
                          sums + bias_gradient_ +
                              static_cast<std::size_t>(head) *
                                  static_cast<std::size_t>(round_up_rows(functions)) * lanes_);
  if (adds)
    transposed_.apply_add(kernels, d_basis, d_features + rows);
  else
    transposed_.apply(kernels, d_basis, d_features + rows);
}

template <class T>
Tensor TrainableSlices<T>::bias(const double* sums) const {
  const int functions = forward_.functions();
  Tensor bias = at::empty({heads_, functions}, torch::kFloat64);
  for (int h = 0; h < heads_; ++h)
    for (int j = 0; j < functions; ++j) {
      const double* row =
          sums + bias_gradient_ +
          (static_cast<std::size_t>(h) * static_cast<std::size_t>(round_up_rows(functions)) +
           static_cast<std::size_t>(j)) *
              lanes_;
      double total = 0;
      for (std::size_t lane = 0; lane < lanes_; ++lane) total += row[lane];
      bias.data_ptr<double>()[h * functions + j] = total;
    }
  return bias;
}

template class HeadSlices<float>;
template class HeadSlices<double>;
template class TrainableSlices<float>;
template class TrainableSlices<double>;

}  // namespace funcattn
