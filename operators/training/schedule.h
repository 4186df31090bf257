#pragma once

#include <cstdint>
#include <string>

namespace funcattn {

enum class ScheduleKind { constant, cosine, one_cycle };

const char* to_string(ScheduleKind kind);
/// Throws UsageError with the known names.
ScheduleKind schedule_from_string(const std::string& text);

/// Learning rate as a pure function of the step, so that a resumed run continues exactly.
///
/// constant: `peak` after the warm-up. cosine: half a cosine from `peak` after the warm-up down to
/// `peak * final_fraction` at the last step. one_cycle: half a cosine up from `peak *
/// start_fraction` to `peak` at step `rise_fraction * total_steps - 1`, half a cosine down to `peak
/// * final_fraction` at the last step (Smith and Topin 2017).
struct Schedule {
  ScheduleKind kind = ScheduleKind::cosine;
  double peak = 1e-3;
  std::int64_t total_steps = 1;
  std::int64_t warmup_steps = 0;  ///< cosine, constant: linear from peak / (warmup + 1).
  double final_fraction = 0.0;    ///< Last rate / peak (cosine, one_cycle).
  double rise_fraction = 0.3;     ///< one_cycle: share of the steps in which the rate rises.
  double start_fraction = 0.04;   ///< one_cycle: first rate / peak.

  /// @param step 0-based; later ones than the last have the last one's rate
  double rate(std::int64_t step) const;

  /// Throws UsageError for a number out of range, and for a warm-up that one_cycle does not have
  /// or that does not end within the run.
  void validate() const;
};

}  // namespace funcattn
