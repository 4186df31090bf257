// Compiled with the flags of its instruction set (operators/CMakeLists.txt).
#define FUNCATTN_KERNEL_NAMESPACE avx2
#define FUNCATTN_KERNEL_NAME "avx2"
#define FUNCATTN_KERNEL_BYTES 32
#define FUNCATTN_KERNEL_VECTORS 3
#define FUNCATTN_KERNEL_ROWS 4
#define FUNCATTN_IN_REGISTER "x"
#include "operators/engine/panel_kernels_inline.h"

namespace funcattn {

const PanelKernels<float>& panel_kernels_avx2(float) {
  return avx2::table<float>();
}
const PanelKernels<double>& panel_kernels_avx2(double) {
  return avx2::table<double>();
}

}  // namespace funcattn
