#pragma once

#include <functional>

namespace funcattn {

/// Told how far a run is: a fraction in [0, 1], never less than the one before. Returns whether the
/// run shall go on; after false it ends soon, with Cancelled.
using ProgressCallback = std::function<bool(double fraction)>;

/// Calls `callback`, if there is one. Throws Cancelled where it returns false.
void report_progress(const ProgressCallback& callback, double fraction);

/// For a part of a run that takes it from `from` to `to`; empty where `callback` is. Refers to
/// `callback`, which must outlive it.
ProgressCallback part_of(const ProgressCallback& callback, double from, double to);

}  // namespace funcattn
