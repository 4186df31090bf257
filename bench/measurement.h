#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/json.h"
#include "plugin/cli/option_table.h"

namespace funcattn {

/// Resident memory of this process above what it was when the object was made, at its highest.
///
/// Linux keeps the high-water mark (VmHWM) and lets a process put it back to what is resident at
/// present. Where that is not allowed (some containers), the mark of the process's whole life
/// stands, and the result is an upper bound.
class PeakMemory {
 public:
  PeakMemory();
  std::int64_t bytes() const;
  std::int64_t start_bytes() const { return start_; }  ///< Resident at the start.

 private:
  std::int64_t start_;
};

/// How often to measure: at most `repeats` times, and no repeat begins after `seconds`.
struct RepeatOptions {
  int repeats = 5;
  double seconds = 20;
};

void declare_repeats(OptionTable& table, RepeatOptions& options);

/// Times of the repeats of one measurement, in seconds.
struct Timings {
  double first = 0;             ///< Warm-up: allocations, page faults, caches of libraries.
  std::vector<double> repeats;  ///< Not empty. The warm-up itself where it outlasted the limit.

  double best() const;
  double median() const;
  Json to_json() const;
};

/// Runs `work` once to warm up and then as often as the options say.
Timings measure(const RepeatOptions& options, const std::function<void()>& work);

/// Seconds that `work` takes.
double seconds_of(const std::function<void()>& work);

}  // namespace funcattn
