#pragma once

#include <cstdint>

#include "operators/training/flat_parameters.h"

namespace funcattn {

struct AdamWOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.0;  ///< Decoupled, on parameters of two or more dimensions only.
  bool fused = true;          ///< One pass on the CPU; other devices use tensor operations.
};

/// AdamW (Loshchilov and Hutter 2019, algorithm 2) over flat parameters.
///
/// Not torch::optim::AdamW, for two reasons. It runs a dozen tensor operations, each with its own
/// pass over memory and its own call overhead, where one pass does; for a small network that is a
/// tenth of a training step. And its archive neither names the moments nor restores the options.
class AdamW {
 public:
  /// `parameters` must outlive the optimiser.
  AdamW(const FlatParameters& parameters, AdamWOptions options);

  /// One update with the present gradients times `gradient_scale` (the clipping factor).
  void step(double learning_rate, double gradient_scale = 1.0);

  std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t steps) { steps_ = steps; }
  const Tensor& first_moment() const { return first_moment_; }    ///< [n] like the parameters.
  const Tensor& second_moment() const { return second_moment_; }  ///< [n] like the parameters.

 private:
  const FlatParameters& parameters_;
  AdamWOptions options_;
  std::int64_t steps_ = 0;
  Tensor first_moment_;
  Tensor second_moment_;
};

}  // namespace funcattn
