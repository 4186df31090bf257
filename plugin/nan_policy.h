#pragma once

#include <string>

namespace funcattn {

/// What to do about points (or cells) whose coordinates or inputs hold NaN or Inf.
enum class NanPolicy {
  error,  ///< Refuse the mesh, with the array, the count and the first index.
  mask,   ///< They take no part and get NaN as prediction; the mesh stays as it is.
  drop,   ///< As mask, and they are taken out of the result, with the cells that use them.
};

const char* to_string(NanPolicy policy);

}  // namespace funcattn
