#include "examples/train/train_command.h"

#include <algorithm>
#include <cmath>

#include "core/affinity.h"
#include "core/error.h"
#include "core/text.h"
#include "examples/sine/sine_task.h"
#include "examples/train/freed_memory.h"
#include "examples/train/interrupts.h"
#include "examples/train/training_input.h"
#include "operators/engine/training_function.h"
#include "operators/threads.h"
#include "operators/training/orthogonality.h"

namespace funcattn {

namespace {

constexpr const char* last_extension = ".last.safetensors";
constexpr const char* state_extension = ".state.safetensors";
constexpr const char* log_extension = ".log.jsonl";

/// " (accuracy 0.93)", or nothing.
std::string in_brackets(const std::optional<double>& accuracy) {
  return accuracy ? " (accuracy " + format_significant(*accuracy, 3) + ")" : "";
}

class TrainCommand : public Command {
 public:
  std::string name() const override { return "train"; }
  std::string summary() const override { return "train an operator on VTK files or on a task"; }
  std::vector<std::string> examples() const override {
    return {"funcattn train --task sine --out sine.safetensors",
            "funcattn train --data darcy/train16 --inputs permeability_high --targets pressure "
            "--epochs 5 --out darcy.safetensors",
            "funcattn train --data parts_data --loss cross_entropy --out parts.safetensors",
            "funcattn train --data sources --query-data queries --inputs permeability "
            "--targets pressure --out pairs.safetensors"};
  }

  void use_processes(ProcessGroup& processes) override { processes_ = &processes; }

  void describe(OptionTable& table) override { options_.describe(table); }
  void validate() const override { options_.validate(); }

  int run(Console& console) override {
    // Here and not at the first save: by then the log stands there and steps are lost.
    if (std::filesystem::is_directory(options_.out) || !options_.out.has_filename())
      throw FileError("cannot write '" + options_.out.string() +
                      "': it is a folder; give a file name");
    // The first process alone writes; the others could find what it has written already.
    if (!options_.resume && !options_.overwrite && (!processes_ || processes_->is_first()))
      refuse_to_replace_a_run();
    keep_freed_memory();
    const ThreadScope threads(processes_ && options_.threads < 1 ? available_cores(*processes_)
                                                                 : options_.threads);
    const bool sine = options_.task == "sine";
    Recipe recipe = (sine ? sine_recipe(options_.sine, options_.model.form.value_or("few_shot"))
                          : general_recipe())
                        .with(options_.model, options_.optimisation);
    check_before_reading(recipe);
    const TrainingReader reader(options_, processes_, pieces());
    TrainingInput input = sine ? reader.task(recipe) : reader.files(recipe, console);

    recipe.loss = input.loss;
    ModelConfig config = recipe.model;
    config.coordinate_dimension = input.contract.coordinates.dimension();
    config.value_features = input.contract.value_components();
    config.out_features = input.contract.output_components();
    config.validate();
    if (const auto idle = options_.model.without_effect(config); !idle.empty())
      console.warn("a network of the form " + std::string(to_string(config.form)) +
                   (config.attention == Attention::functional
                        ? ""
                        : std::string(" with attention ") + to_string(config.attention)) +
                   " does not have what " + join(idle, ", ") +
                   (idle.size() == 1 ? " sets" : " set"));
    const torch::Dtype dtype = options_.dtype == "float64" ? torch::kFloat64 : torch::kFloat32;
    Operator op(make_model(config, dtype, options_.seed), input.contract);

    const TrainerOptions trainer = trainer_options(recipe, input.batches->batches_per_epoch());
    console.note("training " + std::to_string(op.model().parameter_count()) +
                 " parameters of form " + to_string(config.form) + " for " +
                 std::to_string(trainer.steps) + (trainer.steps == 1 ? " step on " : " steps on ") +
                 (processes_ ? std::to_string(processes_->size()) + " processes of " : "") +
                 std::to_string(threads.threads()) +
                 (threads.threads() == 1 ? " thread" : " threads"));
    // The optimiser's own settings are told by the trainer.
    input.record["batch"] = recipe.batch;
    if (recipe.steps == 0) input.record["epochs"] = recipe.epochs;
    input.record["validate_every"] = trainer.validate_every;
    return run_training(op, input, trainer, console);
  }

 private:
  /// The processes that hold pieces of each sample; null: samples are whole.
  ProcessGroup* pieces() const {
    if (options_.parallel != Parallel::domain) return nullptr;
    return processes_ ? processes_ : &alone_;
  }

  /// What training cost hours is not replaced by a slip of the name.
  void refuse_to_replace_a_run() const {
    for (const std::filesystem::path& path :
         {options_.out, sibling(last_extension), sibling(state_extension), sibling(log_extension)})
      // A run that fails before its first step leaves an empty log.
      if (std::filesystem::exists(path) && !std::filesystem::is_empty(path))
        throw FileError("'" + path.string() +
                        "' exists; give another --out, --resume to continue the run that wrote "
                        "it, or --overwrite to replace it");
  }

  /// What the data cannot change is said before they are read: that can take minutes.
  void check_before_reading(const Recipe& recipe) const {
    const std::shared_ptr<Model> model = model_of_kind(recipe);
    check_orthogonality(recipe.orthogonality, model->config());
    Recipe known = recipe;
    if (!options_.optimisation.loss) known.label_smoothing = 0;  // The data may say the loss.
    if (known.steps > 0) trainer_options(known, 0).validate();
    if (pieces()) require_learning_from_pieces(*model);
  }

  /// Only the extension of operator files gives way: lr_0.1 and lr_0.3 are different runs.
  std::filesystem::path sibling(const std::string& extension) const {
    std::filesystem::path path = options_.out;
    if (path.extension() == ".safetensors") path.replace_extension();
    return path += extension;
  }

  TrainerOptions trainer_options(const Recipe& recipe, std::int64_t batches_per_epoch) const {
    TrainerOptions trainer;
    trainer.steps = recipe.steps;
    if (recipe.steps == 0) {
      if (batches_per_epoch == 0) throw UsageError("this task has no epochs; give --steps");
      trainer.steps = recipe.epochs * batches_per_epoch;
    }
    trainer.schedule = recipe.schedule;
    trainer.schedule.total_steps = trainer.steps;
    if (!options_.optimisation.warmup)
      trainer.schedule.warmup_steps = std::min(trainer.schedule.warmup_steps, trainer.steps / 10);
    trainer.loss = recipe.loss;
    trainer.label_smoothing = recipe.label_smoothing;
    trainer.beta2 = recipe.beta2;
    trainer.clip_norm = recipe.clip;
    trainer.weight_decay = recipe.weight_decay;
    trainer.average_decay = recipe.average;
    trainer.orthogonality = recipe.orthogonality;
    trainer.validate_every = options_.validate_every > 0
                                 ? options_.validate_every
                                 : std::max<std::int64_t>(1, trainer.steps / 20);
    trainer.log_every = options_.log_every;
    trainer.best_path = options_.out;
    trainer.last_path = sibling(last_extension);
    trainer.state_path = sibling(state_extension);
    trainer.log_path = sibling(log_extension);
    trainer.resume = options_.resume;
    trainer.processes = pieces() ? pieces() : processes_;
    trainer.parallel = options_.parallel;
    trainer.should_stop = was_interrupted;
    return trainer;
  }

  int run_training(Operator& op, TrainingInput& input, const TrainerOptions& trainer,
                   Console& console) const {
    Json summary = {{"task", options_.task.empty() ? "vtk" : options_.task},
                    {"seed", options_.seed}};
    summary.update(input.record);
    const Json augmentations = input.batches->state().value("augmentations", Json::array());
    if (!augmentations.empty()) summary["augmentations"] = augmentations;

    const InterruptScope scope;
    TrainerResult result;
    {
      ProgressBar bar = console.progress("training", trainer.steps, "steps");
      std::string validation;
      result = train(op, *input.batches, input.validation, trainer, summary,
                     [&](const TrainerProgress& progress) {
                       if (progress.validation)
                         validation = ", validation " +
                                      format_significant(*progress.validation, 3) +
                                      in_brackets(progress.validation_accuracy);
                       bar.update(progress.step, "loss " + format_significant(progress.loss, 3) +
                                                     in_brackets(progress.accuracy) + validation);
                     });
    }
    if (!result.completed) {
      console.note("stopped after step " + std::to_string(result.steps) +
                   "; the same command with --resume continues");
      return 1;
    }
    Json report = {
        {"operator", options_.out.string()},
        {"parameters", op.model().parameter_count()},
        {"steps", result.steps},
        {"final_loss", result.final_loss},
        {"best_validation",
         std::isfinite(result.best_validation) ? Json(result.best_validation) : Json(nullptr)},
        {"best_step", result.best_step},
        {"seconds", result.seconds},
        {"ms_per_step", 1e3 * result.seconds / static_cast<double>(result.steps)}};
    if (result.resumed_at > 0) report["resumed_at"] = result.resumed_at;
    if (result.final_accuracy) report["final_accuracy"] = *result.final_accuracy;
    if (result.best_accuracy) report["best_accuracy"] = *result.best_accuracy;
    if (options_.json) {
      console.print_json(report);
    } else {
      // A run that was finished is returned as it is.
      const bool is_old = result.resumed_at == result.steps;
      console.results() << (is_old ? "" : "wrote ") << options_.out.string()
                        << (is_old ? " was finished before, nothing is written" : "") << ": loss "
                        << format_significant(result.final_loss, 4)
                        << in_brackets(result.final_accuracy);
      if (std::isfinite(result.best_validation))
        console.results() << ", best validation " << format_significant(result.best_validation, 4)
                          << in_brackets(result.best_accuracy) << " at step " << result.best_step;
      console.results() << ", " << format_duration(result.seconds) << "\n";
    }
    return 0;
  }

  TrainSettings options_;
  ProcessGroup* processes_ = nullptr;
  mutable SingleProcess alone_;
};

}  // namespace

std::unique_ptr<Command> make_train_command() {
  return std::make_unique<TrainCommand>();
}

}  // namespace funcattn
