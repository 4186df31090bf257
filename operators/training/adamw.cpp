#include "operators/training/adamw.h"

#include <ATen/Parallel.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

namespace funcattn {

namespace {

/// What an update needs besides the arrays.
struct Factors {
  double gradient_scale;
  double beta1;
  double beta2;
  double epsilon;
  double rate;               ///< Learning rate / (1 - beta1^t).
  double second_correction;  ///< 1 / sqrt(1 - beta2^t).
  double decay;              ///< Learning rate * weight decay.
};

/// Elements whose four arrays stay in the first-level cache while three passes run over them.
constexpr std::int64_t tile = 1024;
constexpr std::int64_t tiles_per_thread = 32;

// Decay is subtracted together with the step: 1 - rate * decay is so near 1 that a float32 factor
// would lose most of its digits.
template <typename Scalar>
void update_tile(Scalar* values, Scalar* first, Scalar* second, const Scalar* gradients,
                 std::int64_t size, const Factors& f) {
  using Array = Eigen::Array<Scalar, Eigen::Dynamic, 1>;
  const auto scalar = [](double value) { return static_cast<Scalar>(value); };
  Eigen::Map<Array> p(values, size);
  Eigen::Map<Array> m(first, size);
  Eigen::Map<Array> v(second, size);
  const Eigen::Map<const Array> g(gradients, size);
  m = scalar(f.beta1) * m + scalar((1 - f.beta1) * f.gradient_scale) * g;
  v = scalar(f.beta2) * v + scalar(1 - f.beta2) * (scalar(f.gradient_scale) * g).square();
  p -= scalar(f.decay) * p +
       scalar(f.rate) * m / (v.sqrt() * scalar(f.second_correction) + scalar(f.epsilon));
}

/// Elements [begin, end) in one pass over memory; the result does not depend on the threads.
template <typename Scalar>
void update_range(const Tensor& values, const Tensor& first, const Tensor& second,
                  const Tensor& gradients, std::int64_t begin, std::int64_t end,
                  const Factors& factors) {
  Scalar* const p = values.data_ptr<Scalar>();
  Scalar* const m = first.data_ptr<Scalar>();
  Scalar* const v = second.data_ptr<Scalar>();
  const Scalar* const g = gradients.data_ptr<Scalar>();
  const std::int64_t tiles = (end - begin + tile - 1) / tile;
  at::parallel_for(0, tiles, tiles_per_thread, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t t = from; t < to; ++t) {
      const std::int64_t start = begin + t * tile;
      update_tile(p + start, m + start, v + start, g + start, std::min(tile, end - start), factors);
    }
  });
}

/// The same with tensor operations, which run on every device.
void update_tensors(const Tensor& values, const Tensor& first, const Tensor& second,
                    const Tensor& gradients, const Factors& f) {
  const Tensor g = gradients * f.gradient_scale;
  first.mul_(f.beta1).add_(g, 1 - f.beta1);
  second.mul_(f.beta2).addcmul_(g, g, 1 - f.beta2);
  const Tensor change = first * f.rate / (second.sqrt() * f.second_correction + f.epsilon);
  values.sub_(f.decay > 0 ? change + f.decay * values : change);
}

}  // namespace

AdamW::AdamW(const FlatParameters& parameters, AdamWOptions options)
    : parameters_(parameters),
      options_(options),
      first_moment_(torch::zeros_like(parameters.values())),
      second_moment_(torch::zeros_like(parameters.values())) {}

void AdamW::step(double learning_rate, double gradient_scale) {
  const torch::NoGradGuard no_grad;
  const auto t = static_cast<double>(++steps_);
  Factors factors{gradient_scale,
                  options_.beta1,
                  options_.beta2,
                  options_.epsilon,
                  learning_rate / (1 - std::pow(options_.beta1, t)),
                  1 / std::sqrt(1 - std::pow(options_.beta2, t)),
                  learning_rate * options_.weight_decay};
  const Tensor& values = parameters_.values();
  const auto update = [&](std::int64_t begin, std::int64_t end) {
    if (!values.is_cpu() || !options_.fused) {
      const auto part = [&](const Tensor& flat) { return flat.narrow(0, begin, end - begin); };
      update_tensors(part(values), part(first_moment_), part(second_moment_),
                     part(parameters_.gradients()), factors);
    } else if (values.scalar_type() == torch::kFloat64) {
      update_range<double>(values, first_moment_, second_moment_, parameters_.gradients(), begin,
                           end, factors);
    } else {
      update_range<float>(values, first_moment_, second_moment_, parameters_.gradients(), begin,
                          end, factors);
    }
  };
  update(0, parameters_.decayed());
  factors.decay = 0;
  update(parameters_.decayed(), values.numel());
}

}  // namespace funcattn
