#include "operators/training/schedule.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/text.h"

namespace funcattn {

const char* to_string(ScheduleKind kind) {
  switch (kind) {
    case ScheduleKind::constant:
      return "constant";
    case ScheduleKind::cosine:
      return "cosine";
    case ScheduleKind::one_cycle:
      return "one_cycle";
  }
  return "unknown";
}

ScheduleKind schedule_from_string(const std::string& text) {
  for (const auto kind : {ScheduleKind::constant, ScheduleKind::cosine, ScheduleKind::one_cycle})
    if (text == to_string(kind)) return kind;
  const auto meant = closest_match(text, {"constant", "cosine", "one_cycle"});
  throw UsageError("unknown schedule '" + text + "': expected constant, cosine or one_cycle" +
                   (meant ? "; did you mean " + *meant + "?" : ""));
}

namespace {

/// Half a cosine from `from` at t = 0 to `to` at t = 1.
double half_cosine(double from, double to, double t) {
  constexpr double pi = 3.14159265358979323846;
  return to + (from - to) * 0.5 * (1.0 + std::cos(pi * t));
}

}  // namespace

double Schedule::rate(std::int64_t step) const {
  const std::int64_t last = total_steps - 1;
  step = std::min(step, last);
  if (kind == ScheduleKind::one_cycle) {
    const double top = std::max(0.0, rise_fraction * static_cast<double>(total_steps) - 1.0);
    const double position = static_cast<double>(step);
    if (position < top) return half_cosine(start_fraction * peak, peak, position / top);
    const double fall = static_cast<double>(last) - top;
    return fall > 0 ? half_cosine(peak, final_fraction * peak, (position - top) / fall) : peak;
  }
  if (step < warmup_steps)
    return peak * static_cast<double>(step + 1) / static_cast<double>(warmup_steps + 1);
  if (kind == ScheduleKind::constant || last <= warmup_steps) return peak;
  return half_cosine(
      peak, final_fraction * peak,
      static_cast<double>(step - warmup_steps) / static_cast<double>(last - warmup_steps));
}

void Schedule::validate() const {
  const auto require = [](bool holds, const std::string& what, double found,
                          const std::string& expected) {
    if (!holds)
      throw UsageError("schedule: " + what + " is " + format_number(found) + ", expected " +
                       expected);
  };
  require(std::isfinite(peak) && peak > 0, "the learning rate", peak, "a number > 0");
  require(final_fraction >= 0 && final_fraction <= 1, "final_fraction", final_fraction, "0 to 1");
  require(rise_fraction > 0 && rise_fraction < 1, "rise_fraction", rise_fraction,
          "more than 0 and less than 1");
  require(start_fraction > 0 && start_fraction <= 1, "start_fraction", start_fraction,
          "more than 0 and at most 1");
  require(warmup_steps >= 0, "warmup_steps", static_cast<double>(warmup_steps), "0 or more");
  if (warmup_steps > 0 && kind == ScheduleKind::one_cycle)
    throw UsageError(
        "schedule: one_cycle has its own rise and takes no warm-up; leave it away or choose "
        "another schedule");
  if (warmup_steps > 0 && warmup_steps >= total_steps)
    throw UsageError("schedule: the warm-up takes " + std::to_string(warmup_steps) +
                     " steps, expected fewer than the " + std::to_string(total_steps) +
                     " of the run");
}

}  // namespace funcattn
