#include "plugin/cli/version_report.h"

#include <dlfcn.h>
#include <torch/version.h>
#include <vtkVersion.h>

#include "core/affinity.h"
#include "operators/engine/inference_engine.h"

namespace funcattn {

namespace {

std::string blas() {
  // Found at run time, because LibTorch chooses the library.
  using Config = char* (*)();
  const auto config = reinterpret_cast<Config>(::dlsym(RTLD_DEFAULT, "openblas_get_config"));
  if (!config) return "not OpenBLAS (as linked by LibTorch)";
  std::string text = config();
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string cpu() {
#if defined(__x86_64__)
  std::string features;
  const auto add = [&features](bool present, const char* name) {
    if (present) features += (features.empty() ? "" : " ") + std::string(name);
  };
  add(__builtin_cpu_supports("sse4.2"), "SSE4.2");
  add(__builtin_cpu_supports("avx"), "AVX");
  add(__builtin_cpu_supports("avx2"), "AVX2");
  add(__builtin_cpu_supports("fma"), "FMA");
  add(__builtin_cpu_supports("avx512f"), "AVX512F");
  return features.empty() ? "baseline x86-64" : features;
#else
  return "baseline";
#endif
}

}  // namespace

std::string version_report() {
  std::string report = "funcattn " FUNCATTN_VERSION "\n";
  const auto line = [&report](const std::string& what, const std::string& value) {
    report += "  " + what + std::string(14 - what.size(), ' ') + value + "\n";
  };
  line("LibTorch", TORCH_VERSION);
  line("VTK", vtkVersion::GetVTKVersion());
  line("BLAS", blas());
  line("CPU features", cpu());
  line("kernels", InferenceEngine::kernels());
  line("threads", std::to_string(available_cores()) + " (default of --threads)");
  line("device", "cpu");
  return report;
}

}  // namespace funcattn
