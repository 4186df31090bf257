#pragma once

#include "core/error.h"

namespace funcattn {

/// A sample needs more memory than the machine, or the device, gives. Nothing is wrong with it.
class MemoryError : public DataError {
 public:
  using DataError::DataError;
};

}  // namespace funcattn
