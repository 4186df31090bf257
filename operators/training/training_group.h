#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/process_group.h"
#include "operators/torch_compat.h"
#include "operators/training/batch_source.h"
#include "operators/training/objective.h"

namespace funcattn {

/// What the processes of a training run tell each other; of one process alone, which says nothing,
/// where the group is null. All processes call these functions in the same order.
class TrainingGroup {
 public:
  explicit TrainingGroup(ProcessGroup* processes) : processes_(processes) {}

  bool is_alone() const { return processes_ == nullptr || processes_->size() < 2; }
  /// Whether this process writes the files of the run.
  bool writes() const { return processes_ == nullptr || processes_->is_first(); }
  int size() const { return processes_ == nullptr ? 1 : processes_->size(); }
  Share share() const { return {processes_ == nullptr ? 0 : processes_->rank(), size()}; }

  /// Over the samples of all processes.
  LossSum total(const LossSum& mine) const;
  std::int64_t total(std::int64_t mine) const { return total_of_all(processes_, mine); }
  /// As total(), and makes of the gradients [n] of this process's sum of losses those of the mean
  /// loss over the samples of all, added up in float64.
  LossSum total(const LossSum& mine, const Tensor& gradients) const;
  bool any(bool mine) const { return any_of_all(processes_, mine); }
  /// Those of all processes, in the order of their ranks.
  std::vector<std::string> joined(const std::vector<std::string>& mine) const;

  /// Throws UsageError naming the entries of `run`, an object, that differ between two processes.
  void require_same(const Json& run) const;

 private:
  ProcessGroup* processes_;
};

}  // namespace funcattn
