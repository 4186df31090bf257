#include "examples/train/training_input.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "core/byte_size.h"
#include "core/error.h"
#include "core/memory_error.h"
#include "core/text.h"
#include "examples/sine/sine_task.h"
#include "examples/train/point_subset.h"
#include "examples/vtk_samples.h"
#include "operators/classes.h"
#include "plugin/prediction.h"

namespace funcattn {

namespace {

/// More of them are seldom meant.
constexpr std::size_t usual_classes = 1000;

/// Seldom what was meant; few_shot alone sees its target at the flagged points only.
void warn_of_targets_among_inputs(const ArrayChoice& arrays, Console& console) {
  if (!arrays.source_flag.empty()) return;
  for (const std::string& name : arrays.targets)
    if (std::find(arrays.inputs.begin(), arrays.inputs.end(), name) != arrays.inputs.end())
      console.warn("'" + name + "' is an input and a target: the operator can learn to copy it");
}

void tell_of_classes(const VtkTrainingSet& set, const std::vector<Sample>& validation,
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

}  // namespace

std::shared_ptr<Model> model_of_kind(const Recipe& recipe) {
  ModelConfig config = recipe.model;
  config.coordinate_dimension = config.value_features = config.out_features = 1;
  config.validate();
  return make_model(config);
}

TrainingInput TrainingReader::task(const Recipe& recipe) const {
  SineTraining training =
      make_sine_training(options_.sine, recipe.model.form, recipe.batch, options_.seed);
  return {std::move(training.contract), std::move(training.batches),
          share_of(std::move(training.validation)), recipe.loss, std::move(training.record)};
}

/// What this process validates on.
std::vector<Sample> TrainingReader::share_of(std::vector<Sample> all) const {
  if (!processes_) return all;
  const auto [first, last] = Share{processes_->rank(), processes_->size()}.of(all.size());
  const auto begin = std::make_move_iterator(all.begin());
  return {begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(last)};
}
SampleFiles TrainingReader::share_of(SampleFiles all) const {
  if (!processes_) return all;
  const auto [first, last] = Share{processes_->rank(), processes_->size()}.of(all.sources.size());
  return all.part(first, last);
}

Json TrainingReader::data_record() const {
  Json record = {{"data", options_.data.string()}};
  if (options_.query_data.empty()) return record;
  record["query_data"] = options_.query_data.string();
  if (!options_.query.weights.empty()) record["query_weights"] = options_.query.weights;
  if (options_.query.interpolate_inputs) record["interpolate_inputs"] = true;
  return record;
}

/// The training samples and those that are held out.
std::pair<SampleFiles, SampleFiles> TrainingReader::sample_files(Json& record,
                                                                 Console& console) const {
  refuse_to_replace_lists();
  if (!options_.query_data.empty())
    if (const std::string text = differing_times(options_.data, options_.query_data); !text.empty())
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

TrainingInput TrainingReader::files(const Recipe& recipe, Console& console) const {
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
  VtkTrainingSet set = load_training_set(files.sources, arrays, coordinates, pieces_,
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
  const SampleFiles validation = pieces_ ? held_out : share_of(held_out);
  queries.files = validation.queries;
  input.validation =
      load_samples(validation.sources, set.contract, pieces_, are_pairs ? &queries : nullptr);
  for (const std::string& name : set.integer_fields)
    console.note("the target '" + name +
                 "' holds integers and is learned as a field; --loss cross_entropy learns "
                 "classes");
  if (options_.query.interpolate_inputs && !set.has_interpolated_inputs)
    console.warn(nothing_to_interpolate);
  if (!set.apart.empty())
    console.warn(set.apart.front() +
                 (set.apart.size() == 1
                      ? ""
                      : "; so it is with " + std::to_string(set.apart.size()) + " pairs"));
  check_class_counts(set, recipe, console);
  tell_of_classes(set, input.validation, console);
  Augmentations augmentations = augment(set.contract);
  input.contract = std::move(set.contract);
  input.batches = make_dataset_source(std::move(set.samples), recipe.batch, options_.seed,
                                      std::move(augmentations), pieces_);
  return input;
}

/// What the user says; otherwise classes are learned where dataset.json says that the targets
/// are.
Loss TrainingReader::loss_for(const Recipe& recipe, const ArrayChoice& arrays) const {
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
void TrainingReader::tell_of_description(const ArrayChoice& arrays, Console& console) const {
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

/// Numbers of points or parts that were taken for classes would fill the memory first.
void TrainingReader::check_class_counts(const VtkTrainingSet& set, const Recipe& recipe,
                                        Console& console) const {
  for (const OutputArray& output : set.contract.outputs) {
    if (output.classes.size() <= usual_classes) continue;
    const std::int64_t points =
        options_.points > 0 ? std::min(options_.points, set.most_results) : set.most_results;
    const std::size_t batch = std::min(static_cast<std::size_t>(recipe.batch), set.samples.size());
    const double bytes = static_cast<double>(batch) * static_cast<double>(points) *
                         static_cast<double>(output.classes.size()) *
                         (options_.dtype == "float64" ? 8 : 4);
    const std::string need = "'" + output.name + "' has " + std::to_string(output.classes.size()) +
                             " different labels, each a class of its own: the logits of a step (" +
                             std::to_string(batch) + " x " + std::to_string(points) +
                             " points) take " + format_bytes(bytes) +
                             ", and their gradient as much";
    const char* const advice =
        "; labels that number points or parts are no classes, give other --targets or --loss mse";
    if (2 * bytes > memory_of_machine())
      throw MemoryError(need + ", of " + format_bytes(memory_of_machine()) +
                        " that this machine has" + advice);
    console.warn(need + advice);
  }
}

/// What the options say of the samples of a step; the contract tells what training then sees.
Augmentations TrainingReader::augment(Contract& contract) const {
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

void TrainingReader::refuse_to_replace(const std::filesystem::path& sample) const {
  std::error_code ignored;
  if (std::filesystem::equivalent(sample, options_.out, ignored))
    throw UsageError("the operator '" + options_.out.string() +
                     "' would replace a sample of the training data; give another --out");
}

/// Nor what names the samples.
void TrainingReader::refuse_to_replace_lists() const {
  std::error_code ignored;
  for (const std::filesystem::path& location : {options_.data, options_.query_data})
    for (const std::filesystem::path& file : {location, dataset_description(location)})
      if (std::filesystem::equivalent(file, options_.out, ignored))
        throw UsageError("the operator '" + options_.out.string() + "' would replace '" +
                         file.string() +
                         "', which describes the training data; give another "
                         "--out");
}

}  // namespace funcattn
