#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "operators/operator.h"
#include "operators/training/batch_source.h"
#include "operators/training/loss.h"
#include "operators/training/schedule.h"

namespace funcattn {

struct TrainerOptions {
  std::int64_t steps = 1000;
  Schedule schedule;  ///< total_steps is set to `steps`.
  Loss loss = Loss::mse;
  double weight_decay = 0.0;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double clip_norm = 1.0;            ///< 0: no clipping.
  std::int64_t validate_every = 0;   ///< Steps; 0: at the end only.
  std::int64_t log_every = 100;      ///< Steps between log lines.
  std::filesystem::path best_path;   ///< Operator with the best validation score.
  std::filesystem::path last_path;   ///< Operator after the last step; empty: not written.
  std::filesystem::path state_path;  ///< Training state for resuming; empty: not written.
  std::filesystem::path log_path;    ///< JSON lines; empty: none.
  bool resume = false;               ///< Continue from state_path.

  /// Throws UsageError.
  void validate() const;
};

/// What a progress display and the log receive.
struct TrainerProgress {
  std::int64_t step = 0;  ///< Steps done.
  std::int64_t steps = 0;
  double loss = 0;  ///< Mean over the steps since the last report.
  double learning_rate = 0;
  double gradient_norm = 0;
  std::optional<double> validation;  ///< Set on the steps that validate.
};

struct TrainerResult {
  std::int64_t steps = 0;
  double final_loss = 0;
  double best_validation = 0;  ///< NaN where nothing was validated.
  std::int64_t best_step = 0;
  double seconds = 0;
};

/// Trains the operator's model in place with AdamW.
///
/// Stops with NumericError at the first non-finite loss or gradient, naming the samples of that
/// batch whose loss is not finite; the best and last files of before stay. Resuming continues
/// bit-equal to an uninterrupted run at one thread. The best operator is chosen by the validation
/// score (smaller is better; NaN never wins); without a validation set, by nothing: best_path then
/// receives the last operator.
///
/// @param validation samples in physical units, may be empty; score is the mean over samples of
///   the loss
/// @param summary recorded in the operator file together with steps, loss, seconds
/// @param report called every `log_every` steps and at the end; may be empty
TrainerResult train(Operator& op, BatchSource& batches, const std::vector<Sample>& validation,
                    const TrainerOptions& options, const Json& summary,
                    const std::function<void(const TrainerProgress&)>& report);

}  // namespace funcattn
