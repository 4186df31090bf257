// Compiled with the flags of its instruction set (operators/CMakeLists.txt).
#define FUNCATTN_KERNEL_NAMESPACE baseline
#define FUNCATTN_KERNEL_NAME "baseline"
#define FUNCATTN_KERNEL_BYTES 16
#define FUNCATTN_KERNEL_VECTORS 3
#define FUNCATTN_KERNEL_ROWS 4
#define FUNCATTN_IN_REGISTER "x"
#include "operators/engine/panel_kernels_inline.h"

namespace funcattn {

const PanelKernels<float>& panel_kernels_baseline(float) {
  return baseline::table<float>();
}
const PanelKernels<double>& panel_kernels_baseline(double) {
  return baseline::table<double>();
}

}  // namespace funcattn
