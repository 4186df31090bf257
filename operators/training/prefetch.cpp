#include "operators/training/prefetch.h"

#include <omp.h>

#include <utility>

namespace funcattn {

PrefetchedSource::PrefetchedSource(BatchSource& source)
    : source_(source), thread_([this] { work(); }) {}

PrefetchedSource::~PrefetchedSource() {
  {
    std::unique_lock lock(mutex_);
    wait_until_idle(lock);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
  if (!state_before_) return;
  try {
    source_.restore(*state_before_);
  } catch (const std::exception&) {
    // A source that cannot go back has handed its batch out for nothing.
  }
}

void PrefetchedSource::wait_until_idle(std::unique_lock<std::mutex>& lock) const {
  changed_.wait(lock, [this] { return !wanted_; });
}

void PrefetchedSource::work() {
  // Preparing a batch copies; the threads of the run belong to its arithmetic.
  omp_set_num_threads(1);
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return wanted_ || ends_; });
    if (ends_) return;
    lock.unlock();
    std::optional<Batch> batch;
    std::exception_ptr error;
    std::optional<Json> before;
    try {
      before = source_.state();
      batch = source_.next();
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    ready_ = std::move(batch);
    error_ = error;
    state_before_ = std::move(before);
    wanted_ = false;
    changed_.notify_all();
  }
}

Batch PrefetchedSource::next() {
  std::unique_lock lock(mutex_);
  wait_until_idle(lock);
  const auto prepare = [&] {
    wanted_ = true;
    changed_.notify_all();
  };
  if (!ready_ && !error_) {
    prepare();
    wait_until_idle(lock);
  }
  if (error_) {
    state_before_.reset();
    std::rethrow_exception(std::exchange(error_, nullptr));
  }
  Batch batch = std::move(*ready_);
  ready_.reset();
  state_before_.reset();
  prepare();
  return batch;
}

Json PrefetchedSource::state() const {
  std::unique_lock lock(mutex_);
  wait_until_idle(lock);
  return state_before_ ? *state_before_ : source_.state();
}

void PrefetchedSource::restore(const Json& state) {
  std::unique_lock lock(mutex_);
  wait_until_idle(lock);
  ready_.reset();
  error_ = nullptr;
  state_before_.reset();
  source_.restore(state);
}

}  // namespace funcattn
