// Compiled with the flags of its instruction set (operators/CMakeLists.txt).
#define FUNCATTN_KERNEL_NAMESPACE avx512
#define FUNCATTN_KERNEL_NAME "avx512"
#define FUNCATTN_KERNEL_BYTES 64
#define FUNCATTN_KERNEL_VECTORS 3
#define FUNCATTN_KERNEL_ROWS 8
#define FUNCATTN_IN_REGISTER "v"
#include "operators/engine/panel_kernels_inline.h"

namespace funcattn {

const PanelKernels<float>& panel_kernels_avx512(float) {
  return avx512::table<float>();
}
const PanelKernels<double>& panel_kernels_avx512(double) {
  return avx512::table<double>();
}

}  // namespace funcattn
