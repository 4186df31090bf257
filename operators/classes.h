#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "operators/contract.h"
#include "operators/torch_compat.h"

namespace funcattn {

inline constexpr std::int64_t class_ignored = -1;  ///< The true class is not known.
inline constexpr std::int64_t class_unknown = -2;  ///< The output has no such class.

/// Where the classes of an output stand in its list: 0 to C-1, class_ignored or class_unknown.
/// @param values whole numbers, of any shape, any dtype and device
/// @return int64 on that device
Tensor class_indices(const OutputArray& output, const Tensor& values);

/// The class of the largest logit, the first of several that are equal.
/// @param logits [...,C]
/// @return [...], int64
Tensor largest_class(const OutputArray& output, const Tensor& logits);

/// What an operator gives as the arrays of its outputs hold it: fields as they are, of classes that
/// of the largest logit.
/// @param result [M,output_components]
/// @return [M,target_components] in the dtype of `result`
Tensor predicted_arrays(const Contract& contract, const Tensor& result);

/// Throws DataError if a true value is no whole number of 32 bits.
/// @param what the array, for the message: "mesh.vtp: point array 'label'"
void require_class(double value, const std::string& what, std::int64_t row);

/// The different values, ascending. Throws as require_class().
/// @param values [M], float64, on the CPU
/// @param weights [M], float64; values of weight 0 may be anything
std::vector<int> distinct_classes(const Tensor& values, const Tensor& weights,
                                  const std::string& what);

/// "260 classes (0 to 259)", "3 classes (1, 4, 9)".
std::string describe_classes(const OutputArray& output);

}  // namespace funcattn
