#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "core/process_group.h"

// Threads of one process that stand for the ranks of a group.

namespace funcattn::testing {

/// What the ranks share: every exchange is a gathering of texts.
class Meeting {
 public:
  explicit Meeting(int size) : texts_(static_cast<std::size_t>(size)) {}
  int size() const { return static_cast<int>(texts_.size()); }

  std::vector<std::string> gather(int rank, const std::string& mine) {
    std::unique_lock lock(mutex_);
    const std::size_t turn = turn_;
    texts_[static_cast<std::size_t>(rank)] = mine;
    if (++come_ == texts_.size()) {
      told_ = texts_;
      come_ = 0;
      ++turn_;
      all_.notify_all();
      return told_;
    }
    // Nobody overwrites what was told before all have come to the next meeting.
    all_.wait(lock, [&] { return turn_ != turn; });
    return told_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_;
  std::vector<std::string> texts_, told_;
  std::size_t come_ = 0;
  std::size_t turn_ = 0;
};

class ThreadRank : public ProcessGroup {
 public:
  ThreadRank(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return meeting_.size(); }

 protected:
  void sum_all(double* values, std::size_t count) override {
    combine(values, count, [](double a, double b) { return a + b; });
  }
  void sum_all(std::int64_t* values, std::size_t count) override {
    combine(values, count, [](std::int64_t a, std::int64_t b) { return a + b; });
  }
  void maximum_all(double* values, std::size_t count) override {
    combine(values, count, [](double a, double b) { return a < b ? b : a; });
  }
  std::vector<std::string> gather_all(const std::string& mine) override {
    return meeting_.gather(rank_, mine);
  }
  std::vector<std::string> exchange_all(const std::vector<std::string>& to_each) override {
    std::vector<std::string> received(to_each.size());
    for (int to = 0; to < size(); ++to) {
      const auto all = meeting_.gather(rank_, to_each.at(static_cast<std::size_t>(to)));
      if (to == rank_) received = all;
    }
    return received;
  }

 private:
  template <class T, class Combine>
  void combine(T* values, std::size_t count, const Combine& combine) {
    const std::string mine(reinterpret_cast<const char*>(values), count * sizeof(T));
    const std::vector<std::string> all = meeting_.gather(rank_, mine);
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = reinterpret_cast<const T*>(all.front().data())[i];
      for (std::size_t rank = 1; rank < all.size(); ++rank)
        values[i] = combine(values[i], reinterpret_cast<const T*>(all[rank].data())[i]);
    }
  }

  Meeting& meeting_;
  int rank_;
};

/// Calls `work(group)` in as many threads as ranks.
/// @return what each threw, by rank; null where nothing
inline std::vector<std::exception_ptr> on_ranks(int size,
                                                const std::function<void(ProcessGroup&)>& work) {
  Meeting meeting(size);
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      ThreadRank group(meeting, rank);
      try {
        work(group);
      } catch (...) {
        errors[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  return errors;
}

inline std::string message_of(const std::exception_ptr& error) {
  if (!error) return "";
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& thrown) {
    return thrown.what();
  }
}

/// As on_ranks(), and throws the first error.
inline void on_good_ranks(int size, const std::function<void(ProcessGroup&)>& work) {
  for (const std::exception_ptr& error : on_ranks(size, work))
    if (error) std::rethrow_exception(error);
}

}  // namespace funcattn::testing
