#pragma once

#include <cstdint>
#include <string>

namespace funcattn {

enum class ScheduleKind { constant, cosine, one_cycle };

const char* to_string(ScheduleKind kind);
ScheduleKind schedule_from_string(const std::string& text);

/// Learning rate as a pure function of the step, so that a resumed run continues exactly.
struct Schedule {
  ScheduleKind kind = ScheduleKind::cosine;
  double peak = 1e-3;
  std::int64_t total_steps = 1;
  std::int64_t warmup_steps = 0;  ///< cosine, constant: linear from peak / (warmup + 1).
  double final_fraction = 0.0;    ///< Last rate / peak (cosine, one_cycle).
  double rise_fraction = 0.3;     ///< one_cycle: share of the steps in which the rate rises.
  double start_fraction = 0.04;   ///< one_cycle: first rate / peak.

  /// @param step 0-based
  double rate(std::int64_t step) const;
};

}  // namespace funcattn
