#pragma once

namespace funcattn {

/// Bounds every kind of thread the library causes (LibTorch's intra-op pool, OpenMP, BLAS) for the
/// lifetime of the object, and restores the host's settings afterwards. `threads` < 1 means the
/// cores that this process may use.
class ThreadScope {
 public:
  explicit ThreadScope(int threads = 0);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;
  int threads() const { return threads_; }

 private:
  int threads_;
  int torch_before_;
  int openmp_before_;
  int blas_before_;
};

}  // namespace funcattn
