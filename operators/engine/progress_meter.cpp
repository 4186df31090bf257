#include "operators/engine/progress_meter.h"

#include <algorithm>

namespace funcattn {

namespace {

/// Between two calls: often enough for a smooth bar and a prompt end, so seldom that it costs
/// nothing.
constexpr double least_step = 1.0 / 200;

}  // namespace

void ProgressMeter::advance(double work) {
  if (!callback_) return;
  double done = done_.load(std::memory_order_relaxed);
  while (!done_.compare_exchange_weak(done, done + work, std::memory_order_relaxed)) {
  }
  if (std::this_thread::get_id() != thread_) return;
  const double fraction = expected_ > 0 ? std::min((done + work) / expected_, 1.0) : 0.0;
  if (fraction - reported_ >= least_step) report(fraction);
}

void ProgressMeter::finish() {
  if (callback_) report(1);
}

void ProgressMeter::report(double fraction) {
  reported_ = fraction;
  try {
    report_progress(callback_, fraction);
  } catch (...) {
    stopped_.store(true, std::memory_order_relaxed);
    throw;
  }
}

}  // namespace funcattn
