#include "operators/threads.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <omp.h>

#include <condition_variable>
#include <mutex>

#include "core/affinity.h"

namespace funcattn {

namespace {

template <typename Function>
Function* blas_function(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

/// LibTorch links "a BLAS". OpenBLAS on threads of its own has a setting; built with OpenMP (mode
/// 2) it follows the calling thread's count, and setting it would free buffers that calls in other
/// threads still use.
bool blas_has_setting() {
  constexpr int uses_openmp = 2;
  const auto mode = blas_function<int()>("openblas_get_parallel");
  return mode && mode() != uses_openmp && blas_function<int()>("openblas_get_num_threads") &&
         blas_function<void(int)>("openblas_set_num_threads");
}

int blas_threads() {
  return blas_function<int()>("openblas_get_num_threads")();
}
void set_blas_threads(int threads) {
  blas_function<void(int)>("openblas_set_num_threads")(threads);
}

/// OpenBLAS built with OpenMP resizes buffers of the whole process whenever the calling thread's
/// count differs from that of the last call; a multiplication that runs meanwhile in another thread
/// can then wait for ever. So scopes of one count share the process, and a scope of another count
/// waits for them to end. BLAS with threads of its own has one count for the process: the first
/// scope in finds the host's value and the last one out puts it back.
class Gate {
 public:
  void enter(int threads) {
    std::unique_lock lock(mutex_);
    // A scope inside another one of the same thread must not wait for it.
    if (depth_++ == 0) {
      free_.wait(lock, [&] { return active_ == 0 || threads_ == threads; });
      threads_ = threads;
      if (active_++ == 0 && blas_has_setting()) blas_before_ = blas_threads();
    }
    if (blas_has_setting()) set_blas_threads(threads);
  }

  void leave() {
    const std::lock_guard lock(mutex_);
    if (--depth_ > 0) return;
    if (--active_ == 0) {
      if (blas_has_setting()) set_blas_threads(blas_before_);
      free_.notify_all();
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable free_;
  int active_ = 0;   ///< Threads that have a scope.
  int threads_ = 0;  ///< Their count.
  int blas_before_ = 0;
  static thread_local int depth_;  ///< Scopes of this thread.
};

thread_local int Gate::depth_ = 0;

Gate& gate() {
  static Gate one;
  return one;
}

}  // namespace

// LibTorch's count is OpenMP's, which belongs to the calling thread; at::set_num_threads would
// change that of threads yet to start as well, and so race with scopes elsewhere. Asking LibTorch
// for its count first makes it initialise this thread, which it does once.
ThreadScope::ThreadScope(int threads)
    : threads_(threads < 1 ? available_cores() : threads), openmp_before_(at::get_num_threads()) {
  gate().enter(threads_);
  omp_set_num_threads(threads_);
}

ThreadScope::~ThreadScope() {
  omp_set_num_threads(openmp_before_);
  gate().leave();
}

}  // namespace funcattn
