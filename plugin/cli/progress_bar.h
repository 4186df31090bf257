#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>

namespace funcattn {

/// Progress of a long run: a redrawn line with rate and remaining time on a terminal, a plain line
/// every ten seconds elsewhere.
class ProgressBar {
 public:
  enum class Style { silent, lines, redrawn };
  /// Seconds since any fixed moment.
  using Clock = std::function<double()>;

  ProgressBar(std::ostream& log, Style style, std::string label, std::int64_t total,
              std::string unit, Clock clock = steady_seconds);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// @param done steps done so far
  /// @param note shown behind the numbers: "loss 0.012"
  void update(std::int64_t done, const std::string& note = {});

  /// Prints the last state and ends the line; called by the destructor as well.
  void finish();

  static double steady_seconds();

 private:
  std::string line(double now) const;
  void print(double now);

  std::ostream& log_;
  Style style_;
  std::string label_;
  std::int64_t total_;
  std::string unit_;
  Clock clock_;
  double start_;
  double last_print_;
  std::int64_t done_ = 0;
  std::string note_;
  bool changed_ = false;
  bool finished_ = false;
  std::size_t drawn_ = 0;  ///< Characters of the line on the terminal, to be wiped.
};

/// "42 s", "3 min 05 s" or "2 h 10 min".
std::string format_duration(double seconds);

}  // namespace funcattn
