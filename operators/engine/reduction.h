#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/process_group.h"

namespace funcattn {

/// Sums over the points of a sample that several processes hold, of which every process knows its
/// own terms.
///
/// In a fixed order the result does not depend on who holds which term: all terms are cut to
/// multiples of 2^-120 of the largest and added as integers, which no order changes. Equal terms on
/// any number of processes then give equal bits.
class Reduction {
 public:
  /// @param processes null: this process holds all
  Reduction(ProcessGroup* processes, bool fixed_order)
      : processes_(processes), fixed_order_(fixed_order) {}

  /// Whether there is more to do than to add up what is here, as it comes.
  bool is_needed() const { return fixed_order_ || (processes_ && processes_->size() > 1); }
  bool fixes_order() const { return fixed_order_; }

  void maximum(std::vector<double>& values) const;

  /// Sum of the terms of all processes. @param terms each of `count` numbers; may be none here
  std::vector<double> total(const std::vector<std::vector<double>>& terms, std::size_t count) const;

 private:
  std::vector<double> exact_total(const std::vector<std::vector<double>>& terms,
                                  std::size_t count) const;

  ProcessGroup* processes_;
  bool fixed_order_;
};

}  // namespace funcattn
