#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "operators/training/batch_source.h"

namespace funcattn {

/// Prepares the next batch of another source on a thread of its own while the present one is used.
/// Batches, states and errors are those of that source, in its order: what a run computes does not
/// depend on it. While this object lives nothing else may use the other source; afterwards that
/// continues with the first batch that was not handed out.
class PrefetchedSource : public BatchSource {
 public:
  /// @param source must outlive this object
  explicit PrefetchedSource(BatchSource& source);
  ~PrefetchedSource() override;
  PrefetchedSource(const PrefetchedSource&) = delete;
  PrefetchedSource& operator=(const PrefetchedSource&) = delete;

  /// Throws what the other source throws, when its turn comes.
  Batch next() override;
  std::int64_t batches_per_epoch() const override { return source_.batches_per_epoch(); }
  Json state() const override;
  void restore(const Json& state) override;

 private:
  void work();
  void wait_until_idle(std::unique_lock<std::mutex>& lock) const;

  BatchSource& source_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool wanted_ = false;  ///< The thread is to prepare a batch, or does.
  bool ends_ = false;
  std::optional<Batch> ready_;
  std::exception_ptr error_;
  std::optional<Json> state_before_;  ///< Of the source, before the batch that was prepared.
  std::thread thread_;
};

}  // namespace funcattn
