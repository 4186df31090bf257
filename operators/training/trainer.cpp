#include "operators/training/trainer.h"
#include "operators/training/prefetch.h"

#include <ATen/Parallel.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "operators/engine/training_function.h"
#include "operators/operator_file.h"
#include "operators/training/adamw.h"
#include "operators/training/flat_parameters.h"
#include "operators/training/log.h"
#include "operators/training/objective.h"
#include "operators/training/training_group.h"
#include "operators/training/training_state.h"
#include "operators/training/weight_average.h"

namespace funcattn {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Puts a module into training or evaluation mode and restores what was found.
class ModeScope {
 public:
  ModeScope(torch::nn::Module& module, bool training)
      : module_(module), before_(module.is_training()) {
    module_.train(training);
  }
  ~ModeScope() { module_.train(before_); }
  ModeScope(const ModeScope&) = delete;
  ModeScope& operator=(const ModeScope&) = delete;

 private:
  torch::nn::Module& module_;
  bool before_;
};

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

class TrainingRun {
 public:
  TrainingRun(Operator& op, BatchSource& batches, const std::vector<Sample>& validation,
              const TrainerOptions& options, const Json& summary,
              const std::function<void(const TrainerProgress&)>& report)
      : op_(op),
        batches_(batches),
        validation_(validation),
        options_(options),
        schedule_(options.schedule),
        summary_(summary),
        report_(report),
        group_(options.processes, options.parallel),
        objective_(op, options.loss,
                   {options.label_smoothing, options.orthogonality, group_.of_pieces()}),
        parameters_(op.model()),
        optimiser_(parameters_,
                   {options.beta1, options.beta2, options.epsilon, options.weight_decay}),
        average_(parameters_, options.average_decay) {
    schedule_.total_steps = options.steps;
    state_.final_loss = nan;
    state_.course = course();
  }

  TrainerResult run() {
    if (group_.of_pieces()) require_learning_from_pieces(op_.model());
    const torch::AutoGradMode records_gradients(true);
    const ModeScope training(op_.model(), true);
    if (options_.resume) restore();
    require_same_run();
    if (state_.step == options_.steps) return conclude();
    validation_count_ = group_.total(static_cast<std::int64_t>(validation_.size()));
    if (!options_.log_path.empty() && group_.writes()) log_.emplace(options_.log_path, state_.step);
    bool stopped = false;
    while (state_.step < options_.steps && !stopped) {
      take_step();
      const bool last = state_.step == options_.steps;
      std::optional<double> score;
      if (validation_count_ > 0 && (last || due(options_.validate_every))) score = validate();
      if (last || score || due(options_.log_every)) report_progress(score);
      if (last) break;
      stopped = group_.any(options_.should_stop && options_.should_stop());
      const std::int64_t every =
          options_.state_every > 0 ? options_.state_every : options_.validate_every;
      if (!stopped && due(every)) write_state();
    }
    write_operators();
    // The state comes last: where it stands, everything that it speaks of stands too.
    write_state();
    return conclude();
  }

 private:
  bool due(std::int64_t every) const { return every > 0 && state_.step % every == 0; }

  double seconds() const { return seconds_before_ + stopwatch_.seconds(); }

  Json course() const {
    Json all = options_.course();
    all["dtype"] = op_.dtype() == torch::kFloat64 ? "float64" : "float32";
    all["model"] = op_.model().config().to_json();
    all["contract"] = op_.contract().to_json();
    return all;
  }

  /// Processes that train otherwise than the others, or from other weights, would spoil the run of
  /// all, or wait for ever.
  void require_same_run() const {
    if (group_.is_alone()) return;
    Json run = state_.course;
    run["step"] = state_.step;
    run["batches"] = batches_.state();
    run["validate_every"] = options_.validate_every;
    run["log_every"] = options_.log_every;
    run["state_every"] = options_.state_every;
    const auto fingerprint = [](const Tensor& tensor) {
      const Tensor bytes = tensor.detach().to(torch::kCPU).contiguous();
      return std::hash<std::string_view>()(
          {static_cast<const char*>(bytes.data_ptr()), bytes.nbytes()});
    };
    for (const auto& [name, tensor] : live_tensors()) run[name] = fingerprint(tensor);
    group_.require_same(run);
  }

  void restore() {
    TrainingState stored = read_training_state(options_.state_path);
    // As the file would hold it: a number written and read back keeps its value, not its type.
    require_same_course(stored.course, Json::parse(state_.course.dump()), options_.state_path);
    const std::string where = "training state '" + options_.state_path.string() + "'";
    try {
      const Json kind = batches_.state().at("kind");
      if (stored.batches.at("kind") != kind)
        throw UsageError("cannot resume from '" + options_.state_path.string() +
                         "': the batch source was " + stored.batches.at("kind").dump() + ", now " +
                         kind.dump() + "; give that of the run, or start a new run");
      batches_.restore(stored.batches);
    } catch (const Json::exception& error) {
      throw OperatorFileError(where + " is damaged in its batch source: " + error.what());
    }
    if (stored.step < 1 || stored.step > options_.steps)
      throw OperatorFileError(where + " is at step " + std::to_string(stored.step) +
                              ", expected 1 to " + std::to_string(options_.steps));
    std::error_code ignored;
    if (stored.best_validation && !options_.best_path.empty() && group_.writes() &&
        !std::filesystem::exists(options_.best_path, ignored))
      throw FileError("cannot resume: the best operator of the run so far, '" +
                      options_.best_path.string() +
                      "', does not exist; put it back, or start a new run");
    restore_tensors(stored.tensors, live_tensors(), options_.state_path);
    stored.tensors = {};
    state_ = std::move(stored);
    optimiser_.set_steps(state_.step);
    resumed_at_ = state_.step;
    seconds_before_ = state_.seconds;
  }

  void take_step() {
    const Batch batch = batches_.next();
    const LossSum losses = differentiate(batch);
    gradient_norm_ = parameters_.gradient_norm();
    if (!std::isfinite(gradient_norm_)) refuse_gradient(batch);

    const bool clips = options_.clip_norm > 0 && gradient_norm_ > options_.clip_norm;
    rate_ = schedule_.rate(state_.step);
    optimiser_.step(rate_, clips ? options_.clip_norm / gradient_norm_ : 1.0);
    ++state_.step;
    average_.update(state_.step);
    state_.loss_sum += losses.sum;
    state_.loss_count += losses.samples;
    state_.accuracy_sum += losses.right;
    state_.accuracy_count += losses.judged;
  }

  /// Leaves the gradients of the mean loss of a batch, of which this process has its share.
  /// @return over the whole batch
  LossSum differentiate(const Batch& batch) {
    const bool has_samples = !batch.names.empty();
    Tensor accuracy;
    const Tensor losses = has_samples ? objective_.training_losses(batch, &accuracy)
                                      : torch::zeros({0}, torch::kFloat64);
    LossSum sum{losses.sum().item<double>(), losses.size(0)};
    if (accuracy.defined()) sum.judge(accuracy);
    parameters_.gradients().zero_();
    if (!group_.shares_samples()) {
      if (!std::isfinite(sum.sum)) refuse_losses(losses, batch);
      losses.mean().backward();
      if (group_.of_pieces()) group_.add_up(parameters_.gradients());
      return sum;
    }
    if (has_samples) losses.sum().backward();
    sum = group_.total(sum, parameters_.gradients());
    if (!std::isfinite(sum.sum)) refuse_losses(losses, batch);
    return sum;
  }

  [[noreturn]] void refuse_losses(const Tensor& losses, const Batch& batch) const {
    std::vector<std::string> names;
    const Tensor finite = losses.detach().isfinite().to(torch::kCPU);
    for (std::int64_t b = 0; b < finite.size(0); ++b)
      if (!finite[b].item<bool>())
        names.push_back("'" + batch.names[static_cast<std::size_t>(b)] + "'");
    names = group_.joined(names);
    if (names.empty()) names = {"the batch as a whole (its sum overflows)"};
    throw NumericError("training stopped at step " + std::to_string(state_.step + 1) +
                       ": the loss is not finite for " + join(names, ", ") +
                       "; look for non-finite or huge values there, or lower the learning rate");
  }

  [[noreturn]] void refuse_gradient(const Batch& batch) const {
    const std::string name = parameters_.non_finite_gradient();
    throw NumericError("training stopped at step " + std::to_string(state_.step + 1) + ": the " +
                       (name.empty() ? "norm of the gradient overflows"
                                     : "gradient of '" + name + "' is not finite") +
                       " for the batch of '" + join(group_.joined(batch.names), "', '") +
                       "'; lower the learning rate");
  }

  /// Files never receive weights that are not numbers; those of before stay.
  void require_finite_weights() const {
    for (const auto& slot : parameters_.slots())
      if (!slot.parameter.detach().isfinite().all().item<bool>())
        throw NumericError("training stopped after step " + std::to_string(state_.step) +
                           ": the weights of '" + slot.name +
                           "' are not finite; lower the learning rate");
  }

  double validate() {
    const ModeScope evaluation(op_.model(), false);
    const AveragedWeights averaged(average_);
    const LossSum losses = group_.total(objective_.total_loss(validation_));
    validation_accuracy_ = losses.accuracy();
    const double score = losses.mean();
    const bool better =
        std::isfinite(score) && (!state_.best_validation || score < *state_.best_validation);
    if (better) {
      state_.best_validation = score;
      state_.best_step = state_.step;
      state_.best_accuracy = validation_accuracy_;
      // The run goes on, so nothing is said of its end.
      Json record = training_record();
      record.erase("completed");
      write_operator(options_.best_path, std::move(record));
    }
    return score;
  }

  void report_progress(const std::optional<double>& score) {
    state_.final_loss = mean_loss();
    state_.final_accuracy = mean_accuracy();
    state_.loss_sum = state_.accuracy_sum = 0;
    state_.loss_count = state_.accuracy_count = 0;
    TrainerProgress progress{state_.step, options_.steps, state_.final_loss, rate_, gradient_norm_,
                             seconds(),   score};
    progress.accuracy = state_.final_accuracy;
    if (score) progress.validation_accuracy = validation_accuracy_;
    if (log_) {
      Json record{{"step", progress.step},
                  {"loss", progress.loss},
                  {"lr", progress.learning_rate},
                  {"grad_norm", progress.gradient_norm}};
      if (progress.accuracy) record["accuracy"] = *progress.accuracy;
      if (score) record["validation"] = *score;
      if (progress.validation_accuracy)
        record["validation_accuracy"] = *progress.validation_accuracy;
      record["seconds"] = progress.seconds;
      log_->write(record);
    }
    if (report_) report_(progress);
  }

  /// Over the samples since the last report; that report's where there were none.
  double mean_loss() const {
    return state_.loss_count > 0 ? state_.loss_sum / static_cast<double>(state_.loss_count)
                                 : state_.final_loss;
  }

  std::optional<double> mean_accuracy() const {
    return state_.accuracy_count > 0
               ? std::optional(state_.accuracy_sum / static_cast<double>(state_.accuracy_count))
               : state_.final_accuracy;
  }

  TrainerResult result() const {
    TrainerResult result;
    result.steps = state_.step;
    result.resumed_at = resumed_at_;
    result.completed = state_.step == options_.steps;
    result.final_loss = mean_loss();
    result.final_accuracy = mean_accuracy();
    result.best_accuracy = state_.best_accuracy;
    result.best_validation = state_.best_validation.value_or(nan);
    result.best_step = state_.best_step;
    result.seconds = seconds();
    return result;
  }

  Json training_record() const {
    const TrainerResult reached = result();
    Json record = summary_.is_null() ? Json::object() : summary_;
    record["steps"] = reached.steps;
    record["completed"] = reached.completed;
    record["final_loss"] = reached.final_loss;
    if (state_.best_validation) {
      record["best_validation"] = reached.best_validation;
      record["best_step"] = reached.best_step;
    }
    if (reached.final_accuracy) record["final_accuracy"] = *reached.final_accuracy;
    if (reached.best_accuracy) record["best_accuracy"] = *reached.best_accuracy;
    record["seconds"] = reached.seconds;
    record["threads"] = at::get_num_threads();
    if (!group_.is_alone()) record["processes"] = group_.size();
    record["options"] = options_.course();
    return record;
  }

  void write_operator(const std::filesystem::path& path, Json record) const {
    if (path.empty() || !group_.writes()) return;
    require_finite_weights();
    Operator snapshot = op_;
    snapshot.set_training(std::move(record));
    save_operator(path, snapshot);
  }

  void write_operators() {
    const AveragedWeights averaged(average_);
    if (validation_count_ == 0) write_operator(options_.best_path, training_record());
    write_operator(options_.last_path, training_record());
  }

  void write_state() {
    if (options_.state_path.empty() || !group_.writes()) return;
    require_finite_weights();
    state_.seconds = seconds();
    state_.batches = batches_.state();
    state_.tensors.tensors = live_tensors();
    write_training_state(options_.state_path, state_);
    state_.tensors = {};
  }

  NamedTensors live_tensors() const {
    return state_tensors(op_.model(), parameters_, optimiser_, average_);
  }

  TrainerResult conclude() {
    average_.hand_over();
    require_finite_weights();
    op_.set_training(training_record());
    return result();
  }

  Operator& op_;
  BatchSource& batches_;
  const std::vector<Sample>& validation_;
  const TrainerOptions& options_;
  Schedule schedule_;
  const Json& summary_;
  const std::function<void(const TrainerProgress&)>& report_;
  TrainingGroup group_;
  Objective objective_;
  FlatParameters parameters_;
  AdamW optimiser_;
  WeightAverage average_;
  std::optional<TrainingLog> log_;
  TrainingState state_;  ///< Its tensors are filled only while they are written.
  Stopwatch stopwatch_;
  std::int64_t resumed_at_ = 0;
  double seconds_before_ = 0;
  double rate_ = 0;
  double gradient_norm_ = 0;
  std::int64_t validation_count_ = 0;          ///< Samples of all processes.
  std::optional<double> validation_accuracy_;  ///< Of the last validation.
};

/// For its lifetime, the batches are those of a process's share.
class ShareScope {
 public:
  ShareScope(BatchSource& batches, const Share& share) : batches_(batches) {
    batches_.take_share(share);
  }
  ~ShareScope() { batches_.take_share(Share()); }
  ShareScope(const ShareScope&) = delete;
  ShareScope& operator=(const ShareScope&) = delete;

 private:
  BatchSource& batches_;
};

}  // namespace

TrainerResult train(Operator& op, BatchSource& batches, const std::vector<Sample>& validation,
                    const TrainerOptions& options, const Json& summary,
                    const std::function<void(const TrainerProgress&)>& report) {
  return run_together(options.processes, [&] {
    options.validate();
    if (!summary.is_null() && !summary.is_object())
      throw UsageError("training: the summary is JSON of type " + std::string(summary.type_name()) +
                       ", expected an object");
    const ShareScope share(batches, TrainingGroup(options.processes, options.parallel).share());
    PrefetchedSource prefetched(batches);
    return TrainingRun(op, prefetched, validation, options, summary, report).run();
  });
}

}  // namespace funcattn
