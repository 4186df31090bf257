#include "operators/threads.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <omp.h>

#include "core/affinity.h"

namespace funcattn {

namespace {

// LibTorch links "a BLAS"; where that is OpenBLAS its thread count is its own setting.
using SetThreads = void (*)(int);
using GetThreads = int (*)();

SetThreads blas_set() {
  return reinterpret_cast<SetThreads>(::dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
}
GetThreads blas_get() {
  return reinterpret_cast<GetThreads>(::dlsym(RTLD_DEFAULT, "openblas_get_num_threads"));
}

}  // namespace

ThreadScope::ThreadScope(int threads)
    : threads_(threads < 1 ? available_cores() : threads),
      torch_before_(at::get_num_threads()),
      openmp_before_(omp_get_max_threads()),
      blas_before_(blas_get() ? blas_get()() : 0) {
  omp_set_num_threads(threads_);
  at::set_num_threads(threads_);
  if (blas_set()) blas_set()(threads_);
}

ThreadScope::~ThreadScope() {
  at::set_num_threads(torch_before_);
  omp_set_num_threads(openmp_before_);
  if (blas_set()) blas_set()(blas_before_);
}

}  // namespace funcattn
