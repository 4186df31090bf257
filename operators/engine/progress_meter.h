#pragma once

#include <atomic>
#include <thread>

#include "core/progress.h"

namespace funcattn {

/// Work done by several threads, reported by the one that made the meter: host programs want to be
/// called where they called.
class ProgressMeter {
 public:
  /// Refers to `callback`, which may be empty.
  explicit ProgressMeter(const ProgressCallback& callback) : callback_(callback) {}

  /// Adds to the work that there is in all. Before the first advance().
  void expect(double work) { expected_ += work; }

  /// From any thread. In the thread of the meter it may call the callback; throws Cancelled, or
  /// what the callback throws, and then stops the others.
  void advance(double work);

  /// Whether the others need not go on; the thread of the meter throws.
  bool is_stopped() const { return stopped_.load(std::memory_order_relaxed); }

  /// Reports 1.
  void finish();

 private:
  void report(double fraction);

  const ProgressCallback& callback_;
  const std::thread::id thread_ = std::this_thread::get_id();
  double expected_ = 0;
  double reported_ = 0;
  std::atomic<double> done_{0};
  std::atomic<bool> stopped_{false};
};

}  // namespace funcattn
