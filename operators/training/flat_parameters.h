#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "operators/torch_compat.h"

namespace funcattn {

/// For its lifetime, makes the trainable parameters of a module views of one flat tensor and their
/// gradients views of another, so that clearing, measuring and updating cost the same few calls
/// whatever the number of layers. Afterwards parameters are independent tensors again, with the
/// values of the flat one, and have no gradients.
///
/// Tensors of two or more dimensions come first, as weight decay applies to them alone (not to
/// biases, norms, temperatures). Each tensor starts at a multiple of 64 bytes; the gaps hold zeros.
class FlatParameters {
 public:
  struct Slot {
    std::string name;
    Tensor parameter;
    std::int64_t offset;  ///< Elements from the begin of the flat tensors.
  };

  /// Throws UsageError where there is no parameter to train, or they differ in dtype or device.
  explicit FlatParameters(torch::nn::Module& module);
  ~FlatParameters();
  FlatParameters(const FlatParameters&) = delete;
  FlatParameters& operator=(const FlatParameters&) = delete;

  const std::vector<Slot>& slots() const { return slots_; }
  const Tensor& values() const { return values_; }        ///< [n]
  const Tensor& gradients() const { return gradients_; }  ///< [n], accumulated into by backward.
  std::int64_t decayed() const { return decayed_; }       ///< Leading elements under weight decay.

  /// The part of a flat tensor [n] that belongs to a slot, in the shape of its parameter.
  static Tensor view(const Tensor& flat, const Slot& slot);

  /// Euclidean norm of all gradients, summed in float64; not finite if one of them is not.
  double gradient_norm() const;
  /// Name of the first parameter whose gradient holds a non-finite number; empty if none does.
  std::string non_finite_gradient() const;

 private:
  std::vector<Slot> slots_;
  Tensor values_;
  Tensor gradients_;
  std::int64_t decayed_ = 0;
};

}  // namespace funcattn
