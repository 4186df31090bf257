#pragma once

#include <Eigen/Core>
#include <string>

namespace funcattn {

/// What to do about such values of inputs.
inline constexpr const char* non_finite_advice =
    "repair these values, or let the NaN policy mask or drop such entries";

/// What a message about NaN or Inf among values that are needed says.
/// @param what holds them: "a.vtu: point array 'p' holds" @param first index of the first of them
/// @param advice what to do about it
inline std::string describe_non_finite(const std::string& what, Eigen::Index count,
                                       Eigen::Index entries, Eigen::Index first,
                                       const std::string& advice = non_finite_advice) {
  return what + " NaN or Inf at " + std::to_string(count) + " of " + std::to_string(entries) +
         " entries, the first at index " + std::to_string(first) + "; " + advice;
}

}  // namespace funcattn
