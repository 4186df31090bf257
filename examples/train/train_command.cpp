#include "examples/train/train_command.h"

#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <iterator>

#include "core/affinity.h"
#include "core/error.h"
#include "core/text.h"
#include "examples/sine/sine_task.h"
#include "examples/train/point_subset.h"
#include "examples/train/train_options.h"
#include "examples/vtk_samples.h"
#include "meshio/quadrature.h"
#include "operators/classes.h"
#include "operators/engine/training_function.h"
#include "operators/threads.h"
#include "operators/training/orthogonality.h"

namespace funcattn {

namespace {

constexpr const char* last_extension = ".last.safetensors";
constexpr const char* state_extension = ".state.safetensors";
constexpr const char* log_extension = ".log.jsonl";

std::atomic<bool> interrupted{false};

// Ctrl-C; what batch systems, and mpiexec at Ctrl-C, send; what mpiexec hands on.
constexpr std::array<int, 3> interrupts = {SIGINT, SIGTERM, SIGUSR1};
std::array<struct sigaction, interrupts.size()> actions_before;

// Ends a run after the current step, with its state saved; a second signal of a kind ends it at
// once.
class InterruptHandler {
 public:
  InterruptHandler() {
    interrupted = false;
    struct sigaction action {};
    action.sa_handler = [](int number) {
      interrupted = true;
      for (std::size_t i = 0; i < interrupts.size(); ++i)
        if (interrupts[i] == number) ::sigaction(number, &actions_before[i], nullptr);
    };
    for (std::size_t i = 0; i < interrupts.size(); ++i) {
      ::sigaction(interrupts[i], nullptr, &actions_before[i]);
      if (actions_before[i].sa_handler != SIG_IGN) ::sigaction(interrupts[i], &action, nullptr);
    }
  }
  ~InterruptHandler() {
    for (std::size_t i = 0; i < interrupts.size(); ++i)
      ::sigaction(interrupts[i], &actions_before[i], nullptr);
  }
  InterruptHandler(const InterruptHandler&) = delete;
  InterruptHandler& operator=(const InterruptHandler&) = delete;
};

struct TrainOptions {
  std::filesystem::path data;
  std::string task;
  ArrayChoice arrays;
  std::string association;
  std::optional<int> ignored_class;
  double validation_fraction = 0.1;
  Symmetries symmetries = Symmetries::none;
  std::vector<double> symmetry_center;
  bool rotations = false;
  std::int64_t points = 0;
  std::optional<SamplingMethod> point_choice;
  SineTaskOptions sine;
  ModelOptions model;
  OptimisationOptions optimisation;
  std::string dtype = "float32";
  std::uint64_t seed = 0;
  std::filesystem::path out;
  std::filesystem::path log;
  std::int64_t validate_every = 0;
  std::int64_t log_every = 100;
  bool resume = false;
  bool overwrite = false;
  bool json = false;
  int threads = 0;
  Parallel parallel = Parallel::samples;
};

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

  void describe(OptionTable& table) override {
    table.group("Data");
    table
        .value("data", options_.data,
               "folder of VTK files (or train/ and valid/ in it), list file, or .pvd")
        .instead_of("task")
        .placeholder("FOLDER");
    table.value("task", options_.task, "train on a generated task instead")
        .choices({"sine"})
        .instead_of("data")
        .default_text("none")
        .placeholder("sine");
    table.list("inputs", options_.arrays.inputs, "arrays that the operator is given")
        .placeholder("ARRAY");
    table
        .list("parameters", options_.arrays.parameters,
              "values of the whole mesh, in its field data, that it is given as well")
        .placeholder("NAME");
    table.list("targets", options_.arrays.targets, "arrays that it shall predict")
        .placeholder("ARRAY");
    table
        .value("source-flag", options_.arrays.source_flag,
               "array that is non-zero where a point is a source sample (few_shot)")
        .placeholder("ARRAY")
        .default_text("none");
    table
        .value("ignore-class", options_.ignored_class,
               "label that says that the class of a point is not known (cross_entropy)")
        .default_text("as dataset.json says, else none");
    table.value("association", options_.association, "where all these arrays sit")
        .choices({"point", "cell"})
        .default_text("as dataset.json says, else point");
    table
        .value("weights", options_.arrays.weights,
               "quadrature weights: auto, measure, uniform, density or array:NAME")
        .default_text("as dataset.json says, else auto");
    table
        .value("validation-fraction", options_.validation_fraction,
               "share of the samples kept for validation where there is no valid/")
        .at_least(0)
        .at_most(0.9);
    table.choice("symmetries", options_.symmetries,
                 {{"none", Symmetries::none},
                  {"rectangle", Symmetries::rectangle},
                  {"square", Symmetries::square}},
                 "in every step, map the first two coordinates of each sample by one of the "
                 "symmetries of this shape, drawn at random (arrays of one component)");
    table
        .list("symmetry-center", options_.symmetry_center,
              "the middle of that shape: X Y, where the points are not all of it")
        .placeholder("X Y")
        .default_text("that of the points' box");
    table.flag("rotations", options_.rotations,
               "in every step, turn the three coordinates of each sample by a rotation drawn at "
               "random (arrays of one component)");
    table
        .value("points", options_.points,
               "train on so many points of each sample, drawn anew in every step, with the weights "
               "of those that they stand for; 0: on all")
        .at_least(0);
    table
        .choice("point-choice", options_.point_choice,
                {{"even", SamplingMethod::even}, {"random", SamplingMethod::random}},
                "how they are drawn: spread over the mesh, or every point equally likely")
        .default_text("even");
    options_.sine.describe_training(table);
    options_.model.describe(table);
    options_.optimisation.describe(table);
    table.group("Run");
    table
        .value("out,o", options_.out,
               "operator file; its name also makes those of the log, the "
               "last operator and the training state")
        .required();
    table.flag("resume", options_.resume, "continue an interrupted run with the same options");
    table.flag("overwrite", options_.overwrite, "replace the files of an earlier run");
    table.value("dtype", options_.dtype, "numbers of the model").choices({"float32", "float64"});
    table.value("seed", options_.seed, "of initial weights, shuffling and generated functions");
    table.value("validate-every", options_.validate_every, "steps; 0: twenty times a run")
        .at_least(0);
    table.value("log-every", options_.log_every, "steps").at_least(1);
    table.flag("json", options_.json, "print the result as JSON");
    table.choice(
        "parallel", options_.parallel,
        {{"samples", Parallel::samples}, {"domain", Parallel::domain}},
        "what the processes that mpiexec starts share out: the samples of every batch, or the "
        "points of every sample, each with its pieces of parallel files");
    declare_threads(table, options_.threads);
  }

  void validate() const override {
    if (options_.data.empty() == options_.task.empty())
      throw UsageError("give either --data FOLDER or --task sine");
    if (options_.resume && options_.overwrite)
      throw UsageError(
          "--resume continues the earlier run whose files --overwrite would replace; give one of "
          "them");
    if (!options_.arrays.weights.empty()) (void)weight_choice_from_string(options_.arrays.weights);
    if (!options_.symmetry_center.empty() && options_.symmetries == Symmetries::none)
      throw UsageError(
          "--symmetry-center is given without --symmetries; say which, or leave it away");
    if (!options_.symmetry_center.empty() && options_.symmetry_center.size() != 2)
      throw UsageError("--symmetry-center has " + std::to_string(options_.symmetry_center.size()) +
                       " numbers, expected 2: X Y");
    if (options_.rotations && options_.symmetries != Symmetries::none)
      throw UsageError(
          "--rotations and --symmetries are both given; give one of them, a turned shape has other "
          "symmetries");
    if (options_.point_choice && options_.points == 0)
      throw UsageError("--point-choice is given without --points; say how many, or leave it away");
    if (options_.parallel == Parallel::domain && options_.points > 0)
      throw UsageError(
          "--points are drawn where one process holds all of a sample, which --parallel domain "
          "does not; give one of them");
    if (options_.task.empty()) return;
    options_.sine.validate();
    const ArrayChoice& arrays = options_.arrays;
    if (!arrays.inputs.empty() || !arrays.parameters.empty() || !arrays.targets.empty() ||
        !arrays.source_flag.empty())
      throw UsageError(
          "--inputs, --parameters, --targets and --source-flag name arrays of files, but --task " +
          options_.task + " has arrays of its own; leave them away or give --data instead");
    if (options_.parallel == Parallel::domain)
      throw UsageError("--parallel domain is for pieces of the files of --data; --task " +
                       options_.task + " has none");
    if (options_.ignored_class || options_.optimisation.loss == "cross_entropy")
      throw UsageError(
          "--ignore-class and the loss cross_entropy are for classes in --data; --task " +
          options_.task + " has none");
    if (options_.symmetries != Symmetries::none || options_.rotations || options_.points > 0)
      throw UsageError("--symmetries, --rotations and --points are for samples of --data; --task " +
                       options_.task + " draws its own points");
  }

  int run(Console& console) override {
    // Here and not at the first save: by then the log stands there and steps are lost.
    if (std::filesystem::is_directory(options_.out) || !options_.out.has_filename())
      throw FileError("cannot write '" + options_.out.string() +
                      "': it is a folder; give a file name");
    // The first process alone writes; the others could find what it has written already.
    if (!options_.resume && !options_.overwrite && (!processes_ || processes_->is_first()))
      refuse_to_replace_a_run();
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
    console.note(
        "training " + std::to_string(op.model().parameter_count()) + " parameters of form " +
        to_string(config.form) + " for " + std::to_string(trainer.steps) + " steps on " +
        (processes_ ? std::to_string(processes_->size()) + " processes of " : "") +
        std::to_string(threads.threads()) + (threads.threads() == 1 ? " thread" : " threads"));
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
    Json record = {{"protocol", options_.sine.protocol}, {"context", options_.sine.context}};
    if (options_.sine.protocol == "masked-grid")
      record["functions"] = options_.sine.functions;
    else
      record["queries"] = options_.sine.queries;
    return {std::move(training.contract), std::move(training.batches),
            share_of(std::move(training.validation)), recipe.loss, std::move(record)};
  }

  /// The processes that hold pieces of each sample; null: samples are whole.
  ProcessGroup* pieces() const {
    if (options_.parallel != Parallel::domain) return nullptr;
    return processes_ ? processes_ : &alone_;
  }

  /// What this process validates on.
  template <class Things>
  Things share_of(Things all) const {
    if (!processes_) return all;
    const auto [first, last] = Share{processes_->rank(), processes_->size()}.of(all.size());
    const auto begin = std::make_move_iterator(all.begin());
    return Things(begin + static_cast<std::ptrdiff_t>(first),
                  begin + static_cast<std::ptrdiff_t>(last));
  }

  TrainingInput vtk_input(const Recipe& recipe, Console& console) const {
    ArrayChoice arrays = options_.arrays;
    if (!options_.association.empty())
      arrays.association = options_.association == "cell" ? Association::cell : Association::point;
    CoordinateHandling coordinates;
    read_dataset_description(options_.data, arrays, coordinates);
    const Loss loss = loss_for(recipe, arrays);
    arrays.classes = loss == Loss::cross_entropy;
    arrays.ignored_class = options_.ignored_class;

    std::vector<std::filesystem::path> files = training_files(options_.data);
    std::vector<std::filesystem::path> held_out = validation_files(options_.data);
    for (const auto* samples : {&files, &held_out})
      for (const std::filesystem::path& sample : *samples) refuse_to_replace(sample);
    Json record = {{"data", options_.data.string()}};
    if (held_out.empty()) {
      record["validation_fraction"] = options_.validation_fraction;
      // Every n-th file, so that an ordered set is held out evenly.
      const auto wanted = static_cast<std::size_t>(
          std::floor(options_.validation_fraction * static_cast<double>(files.size())));
      std::vector<std::filesystem::path> kept;
      for (std::size_t i = 0; i < files.size(); ++i) {
        const bool hold = (i + 1) * wanted / files.size() > i * wanted / files.size();
        (hold ? held_out : kept).push_back(files[i]);
      }
      files = std::move(kept);
    }
    console.note("reading " + std::to_string(files.size()) + " training and " +
                 std::to_string(held_out.size()) + " validation samples");
    VtkTrainingSet set = load_training_set(files, arrays, coordinates, pieces());
    const auto flag = set.contract.source_flag();
    if (flag && recipe.model.form != Form::few_shot)
      throw UsageError("the array '" + flag->name + "' marks source points, but the form " +
                       to_string(recipe.model.form) +
                       " predicts where its input is; give --form few_shot, or the arrays with "
                       "--inputs and --targets");
    record["samples"] = {{"training", files.size()}, {"validation", held_out.size()}};
    TrainingInput input;
    input.loss = loss;
    input.record = std::move(record);
    input.validation =
        load_samples(pieces() ? held_out : share_of(held_out), set.contract, pieces());
    for (const std::string& name : set.integer_fields)
      console.note("the target '" + name +
                   "' holds integers and is learned as a field; --loss cross_entropy learns "
                   "classes");
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

  static void tell_of_classes(const VtkTrainingSet& set, const std::vector<Sample>& validation,
                              Console& console) {
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
    ModelConfig config = recipe.model;
    config.coordinate_dimension = config.value_features = config.out_features = 1;
    config.validate();
    check_orthogonality(recipe.orthogonality, config);
    Recipe known = recipe;
    if (!options_.optimisation.loss) known.label_smoothing = 0;  // The data may say the loss.
    if (known.steps > 0) trainer_options(known, 0).validate();
    if (pieces()) require_learning_from_pieces(*make_model(config));
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
      all.push_back(make_symmetries(options_.symmetries, contract, center));
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
    trainer.should_stop = [] { return interrupted.load(); };
    return trainer;
  }

  int run_training(Operator& op, TrainingInput& input, const TrainerOptions& trainer,
                   Console& console) const {
    Json summary = {{"task", options_.task.empty() ? "vtk" : options_.task},
                    {"seed", options_.seed}};
    summary.update(input.record);
    const Json augmentations = input.batches->state().value("augmentations", Json::array());
    if (!augmentations.empty()) summary["augmentations"] = augmentations;

    const InterruptHandler handler;
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

  TrainOptions options_;
  ProcessGroup* processes_ = nullptr;
  mutable SingleProcess alone_;
};

}  // namespace

std::unique_ptr<Command> make_train_command() {
  return std::make_unique<TrainCommand>();
}

}  // namespace funcattn
