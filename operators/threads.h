#pragma once

namespace funcattn {

/// Bounds every kind of thread the library causes (LibTorch's intra-op pool, OpenMP, BLAS) for the
/// lifetime of the object, and restores the host's settings afterwards. `threads` < 1 means the
/// cores that this process may use.
///
/// Scopes may exist in several threads. Those with equal counts run together; one with another
/// count waits in its constructor until they have ended (operators/threads.cpp says why). Scopes of
/// one thread may be nested.
class ThreadScope {
 public:
  explicit ThreadScope(int threads = 0);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;
  int threads() const { return threads_; }

 private:
  int threads_;
  int openmp_before_;
};

}  // namespace funcattn
