#include "core/progress.h"

#include <algorithm>

#include "core/error.h"

namespace funcattn {

void report_progress(const ProgressCallback& callback, double fraction) {
  if (callback && !callback(fraction))
    throw Cancelled("the run was cancelled by the program that asked for it; nothing was changed");
}

ProgressCallback part_of(const ProgressCallback& callback, double from, double to) {
  if (!callback) return {};
  return [&callback, from, to](double fraction) {
    // Rounding must not take a part into the next one.
    return callback(fraction < 1 ? std::min(from + fraction * (to - from), to) : to);
  };
}

}  // namespace funcattn
