#include "examples/train/train_command.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "core/affinity.h"
#include "core/byte_size.h"
#include "core/error.h"
#include "core/memory_error.h"
#include "core/text.h"
#include "examples/pairs.h"
#include "examples/sine/sine_task.h"
#include "examples/train/freed_memory.h"
#include "examples/train/interrupts.h"
#include "examples/train/point_subset.h"
#include "examples/train/train_settings.h"
#include "operators/classes.h"
#include "operators/engine/training_function.h"
#include "operators/threads.h"
#include "operators/training/orthogonality.h"
#include "plugin/prediction.h"

namespace funcattn {

namespace {

constexpr const char* last_extension = ".last.safetensors";
constexpr const char* state_extension = ".state.safetensors";
constexpr const char* log_extension = ".log.jsonl";

/// More of them are seldom meant.
constexpr std::size_t usual_classes = 1000;

/// " (accuracy 0.93)", or nothing.
std::string in_brackets(const std::optional<double>& accuracy) {
  return accuracy ? " (accuracy " + format_significant(*accuracy, 3) + ")" : "";
}

struct TrainingInput {
  Contract contract;
  std::unique_ptr<BatchSource> batches;
  std::vector<Sample> validation;
  Loss loss = Loss::relative_l2;
  /// Of the data, what the operator's record tells beside the options of every run.
  Json record = Json::object();
};

class TrainCommand : public Command {
 public:
  std::string name() const override { return "train"; }
  std::string summary() const override { return "train an operator on VTK files or on a task"; }
  std::vector<std::string> examples() const override {
    return {"funcattn train --task sine --out sine.safetensors",
            "funcattn train --data darcy/train16 --inputs permeability_high --targets pressure "
            "--epochs 5 --out darcy.safetensors"};
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
    TrainingInput input = sine ? sine_input(recipe) : vtk_input(recipe, console);

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
  TrainingInput sine_input(const Recipe& recipe) const {
    SineTraining training =
        make_sine_training(options_.sine, recipe.model.form, recipe.batch, options_.seed);
    return {std::move(training.contract), std::move(training.batches),
            share_of(std::move(training.validation)), recipe.loss, std::move(training.record)};
  }

  /// The processes that hold pieces of each sample; null: samples are whole.
  ProcessGroup* pieces() const {
    if (options_.parallel != Parallel::domain) return nullptr;
    return processes_ ? processes_ : &alone_;
  }

  /// What this process validates on.
  std::vector<Sample> share_of(std::vector<Sample> all) const {
    if (!processes_) return all;
    const auto [first, last] = Share{processes_->rank(), processes_->size()}.of(all.size());
    const auto begin = std::make_move_iterator(all.begin());
    return {begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(last)};
  }
  SampleFiles share_of(SampleFiles all) const {
    if (!processes_) return all;
    const auto [first, last] = Share{processes_->rank(), processes_->size()}.of(all.sources.size());
    return all.part(first, last);
  }

  Json data_record() const {
    Json record = {{"data", options_.data.string()}};
    if (options_.query_data.empty()) return record;
    record["query_data"] = options_.query_data.string();
    if (!options_.query.weights.empty()) record["query_weights"] = options_.query.weights;
    if (options_.query.interpolate_inputs) record["interpolate_inputs"] = true;
    return record;
  }

  /// The training samples and those that are held out.
  std::pair<SampleFiles, SampleFiles> sample_files(Json& record, Console& console) const {
    refuse_to_replace_lists();
    if (!options_.query_data.empty())
      if (const std::string text = differing_times(options_.data, options_.query_data);
          !text.empty())
        console.warn(text);
    SampleFiles files = training_pairs(options_.data, options_.query_data);
    SampleFiles held_out = validation_pairs(options_.data, options_.query_data);
    for (const SampleFiles* samples : {&files, &held_out})
      for (const auto* meshes : {&samples->sources, &samples->queries})
        for (const std::filesystem::path& sample : *meshes) refuse_to_replace(sample);
    if (held_out.sources.empty()) {
      const double fraction = options_.validation_fraction.value_or(0.1);
      record["validation_fraction"] = fraction;
      hold_out(fraction, files, held_out);
    } else if (options_.validation_fraction) {
      console.warn("'" + (options_.data / "valid").string() +
                   "' has the validation samples, so that --validation-fraction has no effect");
    }
    return {std::move(files), std::move(held_out)};
  }

  TrainingInput vtk_input(const Recipe& recipe, Console& console) const {
    ArrayChoice arrays = options_.arrays;
    if (!options_.association.empty())
      arrays.association = options_.association == "cell" ? Association::cell : Association::point;
    CoordinateHandling coordinates;
    read_dataset_description(options_.data, arrays, coordinates);
    tell_of_description(arrays, console);
    const std::shared_ptr<Model> kind = model_of_kind(recipe);
    const bool target_is_seen = options_.query_data.empty() || query_needs_inputs(*kind);
    if (target_is_seen) warn_of_targets_among_inputs(arrays, console);
    const Loss loss = loss_for(recipe, arrays);
    arrays.classes = loss == Loss::cross_entropy;
    arrays.ignored_class = options_.ignored_class;

    Json record = data_record();
    const auto [files, held_out] = sample_files(record, console);
    const std::size_t held_out_count = held_out.sources.size();
    const bool are_pairs = !options_.query_data.empty();
    console.note("reading " + std::to_string(files.sources.size()) + " training and " +
                 std::to_string(held_out_count) + " validation " +
                 (are_pairs ? "pairs of meshes" : "samples"));
    QueryFiles queries{files.queries, kind.get(), options_.query};
    VtkTrainingSet set = load_training_set(files.sources, arrays, coordinates, pieces(),
                                           are_pairs ? &queries : nullptr);
    const auto flag = set.contract.source_flag();
    if (flag && recipe.model.form != Form::few_shot)
      throw UsageError("the array '" + flag->name + "' marks source points, but the form " +
                       to_string(recipe.model.form) +
                       " predicts where its input is; give --form few_shot, or the arrays with "
                       "--inputs and --targets");
    record["samples"] = {{"training", files.sources.size()}, {"validation", held_out_count}};
    TrainingInput input;
    input.loss = loss;
    input.record = std::move(record);
    const SampleFiles validation = pieces() ? held_out : share_of(held_out);
    queries.files = validation.queries;
    input.validation =
        load_samples(validation.sources, set.contract, pieces(), are_pairs ? &queries : nullptr);
    for (const std::string& name : set.integer_fields)
      console.note("the target '" + name +
                   "' holds integers and is learned as a field; --loss cross_entropy learns "
                   "classes");
    if (options_.query.interpolate_inputs && !set.has_interpolated_inputs)
      console.warn(nothing_to_interpolate);
    check_class_counts(set, recipe, console);
    tell_of_classes(set, input.validation, console);
    Augmentations augmentations = augment(set.contract);
    input.contract = std::move(set.contract);
    input.batches = make_dataset_source(std::move(set.samples), recipe.batch, options_.seed,
                                        std::move(augmentations), pieces());
    return input;
  }

  /// What the user says; otherwise classes are learned where dataset.json says that the targets
  /// are.
  Loss loss_for(const Recipe& recipe, const ArrayChoice& arrays) const {
    std::vector<std::string> classes, fields;
    for (const std::string& name : arrays.targets) {
      const bool is_class =
          std::any_of(arrays.described_classes.begin(), arrays.described_classes.end(),
                      [&](const OutputArray& output) { return output.name == name; });
      (is_class ? classes : fields).push_back(name);
    }
    Loss loss = recipe.loss;
    if (!options_.optimisation.loss && !classes.empty()) {
      if (!fields.empty())
        throw UsageError("of the targets dataset.json says that " + join(classes, ", ") +
                         " are classes and " + join(fields, ", ") +
                         " are not; give --targets of one kind, or --loss");
      loss = Loss::cross_entropy;
    }
    if (loss == Loss::cross_entropy) return loss;
    if (options_.ignored_class)
      throw UsageError(std::string("--ignore-class is for classes, but the loss is ") +
                       to_string(loss) + "; give --loss cross_entropy");
    if (recipe.label_smoothing > 0)
      throw UsageError(std::string("--label-smoothing is for classes, but the loss is ") +
                       to_string(loss) + "; give --loss cross_entropy");
    return loss;
  }

  /// Whoever trains on FOLDER/train may not know what FOLDER says of it.
  void tell_of_description(const ArrayChoice& arrays, Console& console) const {
    const std::filesystem::path file = description_above(options_.data);
    if (file.empty()) return;
    const std::string folder = file.parent_path().string();
    if (arrays.targets.empty())
      throw UsageError("no target arrays; name what to predict with --targets, or give --data '" +
                       folder + "', whose dataset.json does");
    console.note("'" + file.string() +
                 "' describes these samples (weights, units, classes) and is used with --data '" +
                 folder + "' only");
  }

  /// Seldom what was meant; few_shot alone sees its target at the flagged points only.
  static void warn_of_targets_among_inputs(const ArrayChoice& arrays, Console& console) {
    if (!arrays.source_flag.empty()) return;
    for (const std::string& name : arrays.targets)
      if (std::find(arrays.inputs.begin(), arrays.inputs.end(), name) != arrays.inputs.end())
        console.warn("'" + name + "' is an input and a target: the operator can learn to copy it");
  }

  /// Numbers of points or parts that were taken for classes would fill the memory first.
  void check_class_counts(const VtkTrainingSet& set, const Recipe& recipe, Console& console) const {
    for (const OutputArray& output : set.contract.outputs) {
      if (output.classes.size() <= usual_classes) continue;
      const std::int64_t points =
          options_.points > 0 ? std::min(options_.points, set.most_results) : set.most_results;
      const double bytes = static_cast<double>(recipe.batch) * static_cast<double>(points) *
                           static_cast<double>(output.classes.size()) *
                           (options_.dtype == "float64" ? 8 : 4);
      const std::string need =
          "'" + output.name + "' has " + std::to_string(output.classes.size()) +
          " different labels, each a class of its own: the logits of a step (" +
          std::to_string(recipe.batch) + " x " + std::to_string(points) + " points) take " +
          format_bytes(bytes) + ", and their gradient as much";
      const char* const advice =
          "; labels that number points or parts are no classes, give other --targets or --loss mse";
      if (2 * bytes > memory_of_machine())
        throw MemoryError(need + ", of " + format_bytes(memory_of_machine()) +
                          " that this machine has" + advice);
      console.warn(need + advice);
    }
  }

  static void tell_of_classes(const VtkTrainingSet& set, const std::vector<Sample>& validation,
                              Console& console) {
    for (const std::string& name : set.without_ignored_class)
      console.warn("no point of the training samples has the label that --ignore-class names in '" +
                   name + "'");
    for (const OutputArray& output : set.contract.outputs)
      if (output.is_class())
        console.note("'" + output.name + "' is one of " + describe_classes(output));
    const std::vector<std::string> unknown = unknown_classes(validation, set.contract);
    if (!unknown.empty())
      console.note("no training sample has " + join(unknown, ", ") +
                   ", which validation samples have: no part of the loss there, and always wrong");
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

  /// One that is like the operator's but for what the data decide. Throws UsageError.
  static std::shared_ptr<Model> model_of_kind(const Recipe& recipe) {
    ModelConfig config = recipe.model;
    config.coordinate_dimension = config.value_features = config.out_features = 1;
    config.validate();
    return make_model(config);
  }

  /// What the options say of the samples of a step; the contract tells what training then sees.
  Augmentations augment(Contract& contract) const {
    Augmentations all;
    if (options_.points > 0) {
      all.push_back(
          make_point_subset(options_.points, options_.point_choice.value_or(SamplingMethod::even)));
      contract.min_points = std::min(contract.min_points, options_.points);
      contract.max_points = std::min(contract.max_points, options_.points);
    }
    if (options_.symmetries != Symmetries::none) {
      std::optional<std::array<double, 2>> center;
      if (!options_.symmetry_center.empty())
        center = {options_.symmetry_center[0], options_.symmetry_center[1]};
      const SymmetryGroup group = symmetries_of(options_.symmetries, contract, center);
      all.push_back(make_symmetries(group));
      if (options_.averages_symmetries) contract.symmetries = group;
    }
    if (options_.rotations) all.push_back(make_rotations(contract));
    return all;
  }

  void refuse_to_replace(const std::filesystem::path& sample) const {
    std::error_code ignored;
    if (std::filesystem::equivalent(sample, options_.out, ignored))
      throw UsageError("the operator '" + options_.out.string() +
                       "' would replace a sample of the training data; give another --out");
  }

  /// Nor what names the samples.
  void refuse_to_replace_lists() const {
    std::error_code ignored;
    for (const std::filesystem::path& location : {options_.data, options_.query_data})
      for (const std::filesystem::path& file : {location, dataset_description(location)})
        if (std::filesystem::equivalent(file, options_.out, ignored))
          throw UsageError("the operator '" + options_.out.string() + "' would replace '" +
                           file.string() +
                           "', which describes the training data; give another "
                           "--out");
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
    if (result.final_accuracy) report["final_accuracy"] = *result.final_accuracy;
    if (result.best_accuracy) report["best_accuracy"] = *result.best_accuracy;
    if (options_.json) {
      console.print_json(report);
    } else {
      console.results() << "wrote " << options_.out.string() << ": loss "
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
