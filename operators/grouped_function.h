#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "operators/torch_compat.h"

namespace funcattn {

/// A function of tensors that is computed for some rows at a time, so that what lies between
/// argument and result needs memory for as many only.
struct GroupedFunction {
  /// The result for rows from `first` on; of tensors that are split it is given those alone.
  std::function<Tensor(const std::vector<Tensor>& tensors, std::int64_t first)> group;
  std::vector<int> axes;  ///< Of the rows in each tensor; whole_tensor: it is not split.
  int result_axis = 0;
  std::int64_t rows = 0;
  std::int64_t at_a_time = 1;

  static constexpr int whole_tensor = -1;
};

/// The results of all groups, one behind the other.
/// @param tensors among which is every parameter that the function holds; gradients reach them
/// @param keeps whether what lies between is kept for the gradients. Otherwise the backward
/// computes each group anew, which costs its time once more; there, gradients can be taken once
/// (UsageError where second derivatives are asked for).
Tensor evaluate(const GroupedFunction& function, const std::vector<Tensor>& tensors, bool keeps);

}  // namespace funcattn
