#pragma once

#include <gtest/gtest.h>

#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "operators/model.h"
#include "operators/threads.h"

namespace funcattn::testing {

/// Random tensors from an own generator, float64 before the cast.
class Draw {
 public:
  explicit Draw(torch::Dtype dtype, std::uint64_t seed = 7)
      : dtype_(dtype), generator_(at::make_generator<at::CPUGeneratorImpl>(seed)) {}
  Tensor normal(at::IntArrayRef shape) {
    return at::empty(shape, torch::kFloat64).normal_(0.0, 1.0, generator_).to(dtype_);
  }
  Tensor uniform(at::IntArrayRef shape, double low, double high) {
    return at::empty(shape, torch::kFloat64).uniform_(low, high, generator_).to(dtype_);
  }

 private:
  torch::Dtype dtype_;
  at::Generator generator_;
};

/// max |a - b| / max |b|; infinite where anything is not finite or shapes differ.
inline double relative_difference(const Tensor& a, const Tensor& b) {
  if (a.sizes() != b.sizes()) return INFINITY;
  const Tensor wide_a = a.detach().to(torch::kFloat64);
  const Tensor wide_b = b.detach().to(torch::kFloat64);
  if (!wide_a.isfinite().all().item<bool>() || !wide_b.isfinite().all().item<bool>()) {
    return INFINITY;
  }
  const double scale = wide_b.abs().max().item<double>();
  const double difference = (wide_a - wide_b).abs().max().item<double>();
  return difference == 0 ? 0 : difference / scale;
}

inline bool all_finite(const Tensor& tensor) {
  return tensor.isfinite().all().item<bool>();
}

/// What the design promises for changes that must not matter.
inline double invariance_tolerance(torch::Dtype dtype) {
  return dtype == torch::kFloat32 ? 1e-5 : 1e-10;
}

/// Compares the gradients of sum(function() * fixed random numbers) in all elements of `variables`
/// (float64, requiring gradients) with central differences.
inline void expect_gradients_match(const std::function<Tensor()>& function,
                                   const std::vector<std::pair<std::string, Tensor>>& variables) {
  const ThreadScope one_thread(1);  // the systems are far too small to share
  const Tensor first = function();
  const Tensor direction = Draw(torch::kFloat64, 99).normal(first.sizes());
  for (const auto& variable : variables) variable.second.mutable_grad() = Tensor();
  (first * direction).sum().backward();
  const torch::NoGradGuard no_grad;
  const auto value = [&] { return (function() * direction).sum().item<double>(); };
  for (const auto& [name, tensor] : variables) {
    ASSERT_TRUE(tensor.grad().defined()) << name << " has no gradient";
    const Tensor flat = tensor.detach().view({-1});
    Tensor numerical = at::empty({flat.size(0)}, flat.options());
    for (std::int64_t i = 0; i < flat.size(0); ++i) {
      const double at_point = flat[i].item<double>();
      const double step = 1e-5 * std::max(1.0, std::abs(at_point));
      flat[i] = at_point + step;
      const double above = value();
      flat[i] = at_point - step;
      const double below = value();
      flat[i] = at_point;
      numerical[i] = (above - below) / (2 * step);
    }
    const Tensor analytic = tensor.grad().reshape({-1});
    const double scale = std::max(1e-3, numerical.abs().max().item<double>());
    EXPECT_LE((analytic - numerical).abs().max().item<double>(), 1e-6 * scale)
        << name << ": analytic " << analytic << " numerical " << numerical;
  }
}

}  // namespace funcattn::testing
