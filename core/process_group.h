#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <type_traits>
#include <vector>

namespace funcattn {

/// What was exchanged since the group was made, by this process.
struct Traffic {
  std::int64_t exchanges = 0;
  std::int64_t bytes = 0;  ///< That this process handed over.
  double waiting = 0;      ///< Seconds until all had come.
  double moving = 0;       ///< Seconds of the exchanges themselves.
};

/// Processes that hold the pieces of one sample together.
///
/// All of them call the exchanges below, in the same order, and wait for each other. Where one
/// fails in between, the others throw its error, with its kind and message, from their next
/// exchange, so that nobody waits for ever: run_together() sees to that. An object belongs to one
/// thread.
class ProcessGroup {
 public:
  virtual ~ProcessGroup() = default;

  virtual int rank() const = 0;  ///< Of this process, from 0.
  virtual int size() const = 0;
  bool is_first() const { return rank() == 0; }

  /// values = their sums over all processes. @param count the same everywhere
  void sum(double* values, std::size_t count);
  void sum(std::int64_t* values, std::size_t count);
  void maximum(double* values, std::size_t count);
  /// What every process gave, in the order of their ranks.
  std::vector<std::string> gather(const std::string& mine);
  /// Sends a text to each process. @return what they sent to this one, in the order of their ranks
  std::vector<std::string> exchange(const std::vector<std::string>& to_each);
  /// Until all have come here.
  void wait();

  const Traffic& traffic() const { return traffic_; }

 protected:
  // What a kind of group must be able to do. Called by all processes in the same order.
  virtual void sum_all(double* values, std::size_t count) = 0;
  virtual void sum_all(std::int64_t* values, std::size_t count) = 0;
  virtual void maximum_all(double* values, std::size_t count) = 0;
  virtual std::vector<std::string> gather_all(const std::string& mine) = 0;
  virtual std::vector<std::string> exchange_all(const std::vector<std::string>& to_each) = 0;

 private:
  template <class Work>
  friend auto run_together(ProcessGroup* group, const Work& work) -> decltype(work());

  /// Whether all go on; throws the error of the first that does not.
  void agree();
  /// Tells the others, unless they know, that this process does not go on. Throws the error of the
  /// first process that fails at once with this one.
  [[noreturn]] void fail(const std::exception_ptr& error);
  [[noreturn]] void throw_failure_of(int failed);
  template <class Move>
  auto timed(std::size_t bytes, const Move& move);

  Traffic traffic_;
  bool has_failed_ = false;
};

// A single number over all processes of a group, or of this process alone where it is null.
double largest_of_all(ProcessGroup* processes, double value);
double total_of_all(ProcessGroup* processes, double value);
std::int64_t total_of_all(ProcessGroup* processes, std::int64_t value);
bool any_of_all(ProcessGroup* processes, bool value);

/// Several texts in one, of any bytes, for an exchange.
std::string packed_texts(const std::vector<std::string>& texts);
std::vector<std::string> unpacked_texts(const std::string& packed);

/// A group of this process alone.
class SingleProcess : public ProcessGroup {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }

 protected:
  void sum_all(double*, std::size_t) override {}
  void sum_all(std::int64_t*, std::size_t) override {}
  void maximum_all(double*, std::size_t) override {}
  std::vector<std::string> gather_all(const std::string& mine) override { return {mine}; }
  std::vector<std::string> exchange_all(const std::vector<std::string>& to_each) override {
    return to_each;
  }
};

/// Calls `work()` in all processes of the group (or in this one, where it is null) and returns when
/// all have done it. Where one throws, all throw: that one its own error, the others the same kind
/// of error with its message. Of several that throw at once the first one's error counts.
template <class Work>
auto run_together(ProcessGroup* group, const Work& work) -> decltype(work()) {
  if (!group) return work();
  // Whoever begins something has got over an earlier failure: it will be told of a new one.
  group->has_failed_ = false;
  try {
    if constexpr (std::is_void_v<decltype(work())>) {
      work();
      group->wait();
    } else {
      auto result = work();
      group->wait();
      return result;
    }
  } catch (...) {
    group->fail(std::current_exception());
  }
}

}  // namespace funcattn
