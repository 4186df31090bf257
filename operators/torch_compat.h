#pragma once

// The one place that knows LibTorch versions (1.13 of Debian 12 and 2.x), and what of LibTorch the
// project uses: a third of <torch/torch.h>, which is slow to compile.
#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/nn/module.h>
#include <torch/types.h>
#include <torch/utils.h>
#include <torch/version.h>

namespace funcattn {

using Tensor = at::Tensor;

}  // namespace funcattn
