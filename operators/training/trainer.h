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
  double label_smoothing = 0.0;  ///< Of cross_entropy, from 0 up to 1.
  double weight_decay = 0.0;     ///< Decoupled; parameters of two or more dimensions only.
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double clip_norm = 1.0;      ///< 0: no clipping.
  double orthogonality = 0.0;  ///< Weight of the bases' defect in the loss (Objective).
  double average_decay = 0.0;  ///< Of the moving average of the weights (WeightAverage); 0: none.
  std::int64_t validate_every = 0;   ///< Steps; 0: at the end only.
  std::int64_t log_every = 100;      ///< Steps between log lines.
  std::int64_t state_every = 0;      ///< Steps between states; 0: where it validates.
  std::filesystem::path best_path;   ///< Operator with the best validation score.
  std::filesystem::path last_path;   ///< Operator after the last step; empty: not written.
  std::filesystem::path state_path;  ///< Training state for resuming; empty: not written.
  std::filesystem::path log_path;    ///< JSON lines; empty: none.
  bool resume = false;               ///< Continue from state_path.
  /// That train together; null: this one alone. The first one writes the files, and all read the
  /// state that resumes.
  ProcessGroup* processes = nullptr;
  Parallel parallel = Parallel::samples;  ///< What they share out.
  /// Asked after every step; true ends the run there, with last and state files written. May be
  /// empty. Typically reads a flag that a signal handler sets.
  std::function<bool()> should_stop;

  /// Throws UsageError.
  void validate() const;

  /// What decides the course of training: steps, loss, schedule and optimiser. Recorded in the
  /// operator and state files; a resumed run must agree with it.
  Json course() const;
};

/// What a progress display and the log receive.
struct TrainerProgress {
  std::int64_t step = 0;  ///< Steps done.
  std::int64_t steps = 0;
  double loss = 0;           ///< Mean over the samples since the last report.
  double learning_rate = 0;  ///< Of the last step.
  double gradient_norm = 0;  ///< Of the last step, before clipping.
  double seconds = 0;  ///< Since the begin of the run, earlier parts of a resumed one included.
  std::optional<double> validation;  ///< Set on the steps that validate.
  /// Of classes: share of the points that are right, over the same samples as `loss`.
  std::optional<double> accuracy{};
  std::optional<double> validation_accuracy{};  ///< Of classes, where `validation` is set.
};

struct TrainerResult {
  std::int64_t steps = 0;       ///< Steps done.
  std::int64_t resumed_at = 0;  ///< Those of them that a resumed run had done before.
  bool completed = false;       ///< False where should_stop ended the run.
  double final_loss = 0;        ///< Mean over the samples since the last report but one.
  double best_validation = 0;   ///< NaN where nothing was validated.
  std::int64_t best_step = 0;   ///< 0 where nothing was validated.
  double seconds = 0;
  /// Of classes: share of right points, over the same samples as final_loss and best_validation.
  std::optional<double> final_accuracy{}, best_accuracy{};
};

/// Trains the operator's model in place with AdamW; afterwards it has the weights of the last step
/// and its training record is `summary` with what was reached. With an average_decay, what is
/// validated, written as operators and left in `op` are the averaged weights.
///
/// Stops with NumericError at the first non-finite loss or gradient, before the weights are
/// touched, naming the samples of that batch whose loss is not finite; the best and last files of
/// before stay. Resuming continues bit-equal to an uninterrupted run at one thread; a finished run
/// is returned at once. Throws UsageError where a resumed run differs in its options, model,
/// contract or training set, OperatorFileError for a damaged state, FileError where a file cannot
/// be written.
///
/// The best operator is chosen by the validation score (smaller is better; NaN never wins). Without
/// a validation set, best_path receives the last operator.
///
/// Of several processes, which all call it with the same options, each takes its share of every
/// batch (BatchSource::take_share) and holds its own part of `validation`, or, where they share out
/// the domain, its pieces of every sample (PointSamples::shares) of both; the gradients of all are
/// added up in float64. The run is that of one process up to rounding, and its state can be resumed
/// by another number of them. What fails in one fails in all; throws UsageError where they differ
/// in options, model, contract, training set or weights, and for models that do not learn from
/// pieces.
///
/// The random generator, default dtype, grad mode and thread counts of the process are left as
/// found (the caller bounds the threads by a ThreadScope). Parameters are independent tensors
/// without gradients afterwards.
///
/// @param validation samples in physical units, may be empty; score is the mean over samples of
///   the loss, those of all processes together
/// @param summary object recorded in the operator file together with steps, losses, seconds,
///   threads and options
/// @param report called every `log_every` steps, where it validates, and at the end; may be empty
TrainerResult train(Operator& op, BatchSource& batches, const std::vector<Sample>& validation,
                    const TrainerOptions& options, const Json& summary,
                    const std::function<void(const TrainerProgress&)>& report);

}  // namespace funcattn
