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
///
/// Where they share out the domain, all have the same samples, and the losses of the whole ones.
class TrainingGroup {
 public:
  TrainingGroup(ProcessGroup* processes, Parallel parallel)
      : processes_(processes), parallel_(parallel) {}

  bool is_alone() const { return processes_ == nullptr || processes_->size() < 2; }
  bool shares_samples() const { return !is_alone() && parallel_ == Parallel::samples; }
  /// Those that hold pieces of each sample; null where samples are whole.
  ProcessGroup* of_pieces() const { return parallel_ == Parallel::domain ? processes_ : nullptr; }
  /// Whether this process writes the files of the run.
  bool writes() const { return processes_ == nullptr || processes_->is_first(); }
  int size() const { return processes_ == nullptr ? 1 : processes_->size(); }
  /// Of every batch.
  Share share() const { return shares_samples() ? Share{processes_->rank(), size()} : Share{}; }

  /// Over the samples of all processes.
  LossSum total(const LossSum& mine) const;
  std::int64_t total(std::int64_t mine) const {
    return shares_samples() ? total_of_all(processes_, mine) : mine;
  }
  /// Where processes share the samples: as total(), and makes of the gradients [n] of this
  /// process's sum of losses those of the mean loss over the samples of all, added up in float64.
  LossSum total(const LossSum& mine, const Tensor& gradients) const;
  /// Where they share the domain: adds up the gradients [n], in float64.
  void add_up(const Tensor& gradients) const;
  bool any(bool mine) const { return any_of_all(processes_, mine); }
  /// What is said of samples in all processes, in the order of their ranks.
  std::vector<std::string> joined(const std::vector<std::string>& mine) const;

  /// Throws UsageError naming the entries of `run`, an object, that differ between two processes.
  void require_same(const Json& run) const;

 private:
  ProcessGroup* processes_;
  Parallel parallel_;
};

}  // namespace funcattn
