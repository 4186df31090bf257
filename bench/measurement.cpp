#include "bench/measurement.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>
#include <string>

#include "core/error.h"

namespace funcattn {

namespace {

/// A field of /proc/self/status, which counts in KiB.
std::int64_t status_bytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string name; status >> name;) {
    std::int64_t kibibytes = 0;
    if (name == field + ":" && status >> kibibytes) return kibibytes * 1024;
    status.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  throw FileError("/proc/self/status has no field " + field +
                  "; memory can be measured on Linux only");
}

void reset_peak() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

}  // namespace

PeakMemory::PeakMemory() {
  reset_peak();
  start_ = status_bytes("VmRSS");
}

std::int64_t PeakMemory::bytes() const {
  return status_bytes("VmHWM") - start_;
}

void declare_repeats(OptionTable& table, RepeatOptions& options) {
  table.group("Repeats");
  table.value("repeats", options.repeats, "most repeats after the warm-up").at_least(1);
  table.value("seconds", options.seconds, "no repeat begins after this time").above(0).unit("s");
}

double Timings::best() const {
  return *std::min_element(repeats.begin(), repeats.end());
}

double Timings::median() const {
  std::vector<double> sorted = repeats;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : 0.5 * (sorted[middle - 1] + sorted[middle]);
}

Json Timings::to_json() const {
  return {{"best", best()}, {"median", median()}, {"first", first}, {"repeats", repeats}};
}

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

Timings measure(const RepeatOptions& options, const std::function<void()>& work) {
  Timings timings;
  timings.first = seconds_of(work);
  double spent = timings.first;
  for (int i = 0; i < options.repeats && spent < options.seconds; ++i) {
    timings.repeats.push_back(seconds_of(work));
    spent += timings.repeats.back();
  }
  if (timings.repeats.empty()) timings.repeats.push_back(timings.first);
  return timings;
}

}  // namespace funcattn
