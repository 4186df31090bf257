#include "operators/engine/panel_kernels.h"

#include <cstdlib>
#include <string>

#include "operators/model.h"

namespace funcattn {

// The kernels know these numbers without including LibTorch.
static_assert(static_cast<int>(Activation::relu) == 0 && static_cast<int>(Activation::gelu) == 1 &&
              static_cast<int>(Activation::silu) == 2 && static_cast<int>(Activation::tanh) == 3 &&
              static_cast<int>(Activation::sine) == 4);

const PanelKernels<float>& panel_kernels_baseline(float);
const PanelKernels<double>& panel_kernels_baseline(double);
#ifdef FUNCATTN_X86_KERNELS
const PanelKernels<float>& panel_kernels_avx2(float);
const PanelKernels<double>& panel_kernels_avx2(double);
const PanelKernels<float>& panel_kernels_avx512(float);
const PanelKernels<double>& panel_kernels_avx512(double);
#endif

namespace {

template <class T>
const PanelKernels<T>& choose() {
#ifdef FUNCATTN_X86_KERNELS
  const char* variable = std::getenv("FUNCATTN_KERNELS");
  const std::string limit = variable ? variable : "";
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") &&
                          __builtin_cpu_supports("avx512dq") &&
                          __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  if (limit != "baseline") {
    if (has_avx512 && limit != "avx2") return panel_kernels_avx512(T());
    if (has_avx2) return panel_kernels_avx2(T());
  }
#endif
  return panel_kernels_baseline(T());
}

}  // namespace

template <class T>
const PanelKernels<T>& panel_kernels() {
  static const PanelKernels<T>& chosen = choose<T>();
  return chosen;
}

template const PanelKernels<float>& panel_kernels<float>();
template const PanelKernels<double>& panel_kernels<double>();

}  // namespace funcattn
