#pragma once

// The one place that knows LibTorch versions (1.13 of Debian 12 and 2.x).
#include <torch/torch.h>
#include <torch/version.h>

namespace funcattn {

using Tensor = at::Tensor;

}  // namespace funcattn
