#include "plugin/stage.h"

#include <algorithm>
#include <mutex>

#include "core/error.h"
#include "core/text.h"
#include "operators/device.h"
#include "operators/operator_file.h"
#include "plugin/inspection.h"
#include "plugin/prediction.h"
#include "plugin/stage_arrays.h"

namespace funcattn {

const char* to_string(NanPolicy policy) {
  switch (policy) {
    case NanPolicy::error:
      return "error";
    case NanPolicy::mask:
      return "mask";
    case NanPolicy::drop:
      return "drop";
  }
  return "";
}

namespace {

StageMeshes meshes_of(const MeshTree& tree) {
  StageMeshes meshes{tree.origin(), tree.leaves()};
  if (!tree.is_single()) meshes.root = tree.vtk();
  meshes.time = tree.time();
  return meshes;
}

Eigen::Index count_of(const StageMeshes& meshes, Association association) {
  Eigen::Index count = 0;
  for (const Mesh& mesh : meshes.parts) count += mesh.count(association);
  return count;
}

/// What one prediction leaves on the meshes that get it.
struct Outcome {
  std::vector<Mesh> meshes;
  StageReport report;
};

// Shares of a run's time, roughly: what goes before and after the operator itself is mostly
// copying.
constexpr double bound_at = 0.1;
constexpr double predicted_at = 0.95;
constexpr double inspecting_at = 0.5;  // The look inside takes about as long again.

/// Each warning once, of whatever processes.
std::vector<std::string> warnings_of_all(const std::vector<std::string>& warnings,
                                         ProcessGroup* processes) {
  if (!processes) return warnings;
  std::vector<std::string> all;
  for (const std::string& texts : processes->gather(packed_texts(warnings)))
    for (const std::string& warning : unpacked_texts(texts))
      if (std::find(all.begin(), all.end(), warning) == all.end()) all.push_back(warning);
  return all;
}

/// What must be the same in all processes, with the name of each.
std::vector<std::pair<std::string, std::string>> common_choices(const StageOptions& options,
                                                                bool has_query) {
  const auto flag = [](bool value) { return std::string(value ? "yes" : "no"); };
  std::string parameters;
  for (const auto& [name, values] : options.parameters) {
    parameters += name + "=";
    for (const double value : values) parameters += format_number(value) + ",";
  }
  return {{"weights", options.weights},
          {"policy for NaN", to_string(options.nan)},
          {"list of outputs", join(options.outputs, ", ")},
          {"suffix", options.suffix},
          {"choice of a single prediction", flag(options.single_prediction)},
          {"choice of probabilities", flag(options.probabilities)},
          {"choice of parameters", parameters},
          {"choice of arrays to compare with", join(options.error_against, ", ")},
          {"order of sums", flag(options.engine.fixed_order)},
          {"choice of a query", flag(has_query)}};
}

/// Throws DataError where the processes have different operators, UsageError for different options.
void require_common(ProcessGroup& processes, const std::string& file, const std::string& identity,
                    const StageOptions& options, bool has_query) {
  const auto choices = common_choices(options, has_query);
  std::vector<std::string> mine = {identity};
  for (const auto& choice : choices) mine.push_back(choice.second);
  const std::vector<std::string> told = processes.gather(packed_texts(mine));
  const std::vector<std::string> first = unpacked_texts(told.front());
  for (std::size_t rank = 1; rank < told.size(); ++rank) {
    const std::vector<std::string> other = unpacked_texts(told[rank]);
    const std::string who = "process " + std::to_string(rank);
    if (other[0] != first[0])
      throw OperatorFileError("'" + file + "': " + who +
                              " has another operator file than process 0; give all processes the "
                              "same one");
    for (std::size_t i = 0; i < choices.size(); ++i)
      if (other[i + 1] != first[i + 1])
        throw UsageError(who + " was given another " + choices[i].first + " ('" + other[i + 1] +
                         "') than process 0 ('" + first[i + 1] + "')");
  }
}

/// Throws UsageError for what is made for one process.
void refuse_in_pieces(const StageOptions& options) {
  if (options.per_block)
    throw UsageError(
        "pieces that processes share are one sample; leave the choice of a sample per "
        "block away");
  if (options.interpolate_inputs && options.engine.processes->size() > 1)
    throw UsageError(
        "inputs are interpolated where one process holds all of the source; run it in "
        "one");
  if (asks_for_inspection(options))
    throw UsageError("the look inside an operator is made for one process; leave it away");
}

void add(StageReport& total, StageReport part) {
  total.entries += part.entries;
  total.unusable += part.unusable;
  total.arrays = std::move(part.arrays);
  total.device = std::move(part.device);
  total.notes = std::move(part.notes);
  std::move(part.warnings.begin(), part.warnings.end(), std::back_inserter(total.warnings));
  std::move(part.errors.begin(), part.errors.end(), std::back_inserter(total.errors));
  std::move(part.inspections.begin(), part.inspections.end(),
            std::back_inserter(total.inspections));
}

}  // namespace

struct OperatorStage::Implementation {
  explicit Implementation(const std::filesystem::path& path)
      : op(load_operator(path)),
        contract(op.contract().to_json()),
        file(path.string()),
        identity(operator_file_header(path)) {
    if (op.model().has_engine()) engine.emplace(op.model());
    op.model().eval();
  }

  Outcome run_sample(const StageMeshes& given, const StageMeshes* given_query,
                     const StageOptions& options, bool compute) const {
    ProcessGroup* processes = options.engine.processes;
    const Contract& arrays = op.contract();
    const StageMeshes& target = given_query ? *given_query : given;
    if (options.threads > most_threads)
      throw UsageError("threads: " + std::to_string(options.threads) + " are more than " +
                       std::to_string(most_threads));
    report_progress(options.progress, 0);
    check_names_are_free(target.parts, arrays, options);
    check_inspection(op, target.parts, options);
    if (options.single_prediction) (void)op.without_symmetries();  // What has none is refused.
    Outcome outcome;
    const Device device = find_device(device_choice_from_string(options.device));
    outcome.report.device = device.name;
    if (!device.note.empty()) outcome.report.notes.push_back(device.note);
    outcome.report.arrays = predicted_names(arrays, options);
    if (processes && !device.is_cpu())
      throw UsageError("several processes compute on the CPU; leave the device " + device.name +
                       " away");
    if (processes && !engine)
      throw UsageError(
          "several processes share the sums of Functional Attention; the other attention of this "
          "operator needs all points in one process");
    outcome.report.entries =
        total_of_all(processes, static_cast<std::int64_t>(count_of(target, arrays.association())));
    if (outcome.report.entries == 0) {
      BoundStage nothing;
      nothing.counts.assign(target.parts.size(), 0);
      outcome.report.warnings.push_back(target.origin + " has no " +
                                        to_string(arrays.association()) +
                                        "s: the predicted arrays are empty");
      StageOptions plain = options;
      plain.convert_association = false;
      outcome.meshes = with_prediction(target.parts, nothing,
                                       RowMatrix(0, arrays.output_components()), arrays, plain);
      report_progress(options.progress, 1);
      return outcome;
    }

    StageMeshes source = given;
    source.parts = with_converted_inputs(given.parts, arrays, options);
    StageMeshes query;
    if (given_query) {
      query = *given_query;
      query.parts = with_converted_inputs(given_query->parts, arrays, options);
    }
    BoundStage bound =
        bind_stage(op.model(), arrays, source, given_query ? &query : nullptr, options);
    outcome.report.unusable = total_of_all(
        processes, std::int64_t{std::count(bound.unusable.begin(), bound.unusable.end(), true)});
    outcome.report.warnings = warnings_of_all(bound.warnings, processes);
    if (!engine && options.engine.memory != ActivationMemory::resident)
      outcome.report.warnings.push_back(
          target.origin + ": where the features of the points wait has no effect on attention " +
          to_string(op.model().config().attention) +
          ", which keeps them in memory; leave the choice of memory away");
    RowMatrix truth;
    if (!options.error_against.empty())
      truth = true_values((given_query ? query : source).parts, arrays, options, bound.weights);
    if (!compute) check_spill_folder(options.engine);
    report_progress(options.progress, bound_at);
    const bool inspects = compute && asks_for_inspection(options);
    StageOptions predicting = options;
    predicting.engine.progress =
        part_of(options.progress, bound_at, inspects ? inspecting_at : predicted_at);
    const RowMatrix prediction =
        compute ? predict_on(device, bound, target.origin, predicting) : unpredicted(op, bound);
    if (compute && !options.error_against.empty())
      outcome.report.errors = array_errors(prediction, truth, bound, arrays, options);
    std::vector<Mesh> receiving = target.parts;
    if (inspects) {
      predicting.progress = part_of(options.progress, inspecting_at, predicted_at);
      receiving = inspect_sample(op, bound, std::move(receiving), target.origin, predicting,
                                 outcome.report);
    }
    outcome.meshes = with_prediction(receiving, bound, prediction, arrays, options);
    report_progress(options.progress, 1);
    return outcome;
  }

  Outcome run_blocks(const StageMeshes& given, const StageOptions& options, bool compute) const {
    Outcome all;
    const auto count = static_cast<double>(given.parts.size());
    for (std::size_t i = 0; i < given.parts.size(); ++i) {
      const Mesh& part = given.parts[i];
      StageOptions of_part = options;
      of_part.progress = part_of(options.progress, static_cast<double>(i) / count,
                                 static_cast<double>(i + 1) / count);
      StageMeshes alone{part.origin(), {part}};
      alone.root = given.root;
      alone.time = given.time;
      Outcome one = run_sample(alone, nullptr, of_part, compute);
      if (given.parts.size() > 1)
        for (ArrayError& error : one.report.errors)
          error.array = part.origin() + ": " + error.array;
      std::move(one.meshes.begin(), one.meshes.end(), std::back_inserter(all.meshes));
      add(all.report, std::move(one.report));
    }
    return all;
  }

  Outcome run_tree(const MeshTree& source, const MeshTree* query, const StageOptions& given,
                   bool compute) const {
    StageOptions options = given;
    SingleProcess alone;
    if (options.engine.fixed_order && !options.engine.processes) options.engine.processes = &alone;
    return run_together(options.engine.processes,
                        [&] { return run_here(source, query, options, compute); });
  }

  Outcome run_here(const MeshTree& source, const MeshTree* query, const StageOptions& options,
                   bool compute) const {
    if (options.engine.processes) {
      refuse_in_pieces(options);
      require_common(*options.engine.processes, file, identity, options, query != nullptr);
    }
    if (query && options.per_block)
      throw UsageError(
          "a query is evaluated with one operator, built on all blocks; leave the "
          "choice of a sample per block away");
    if (options.per_block) return run_blocks(meshes_of(source), options, compute);
    if (!query) return run_sample(meshes_of(source), nullptr, options, compute);
    const StageMeshes target = meshes_of(*query);
    return run_sample(meshes_of(source), &target, options, compute);
  }

  RowMatrix predict_on(const Device& device, const BoundStage& bound, const std::string& origin,
                       const StageOptions& options) const {
    const std::shared_ptr<const Operator> copy = device.is_cpu() ? nullptr : on_gpu(device.name);
    const Operator& here = copy ? *copy : op;
    const InferenceEngine* by = copy || !engine ? nullptr : &*engine;
    return predict(options.single_prediction ? here.without_symmetries() : here, by, bound, origin,
                   options);
  }

  /// This operator on another device, copied there once.
  std::shared_ptr<const Operator> on_gpu(const std::string& device) const {
    const std::lock_guard lock(mutex);
    std::shared_ptr<const Operator>& copy = on_gpus[device];
    if (!copy) copy = std::make_shared<const Operator>(copy_to_gpu(op, device));
    return copy;
  }

  Operator op;
  std::optional<InferenceEngine> engine;  ///< None: by the model's tensor operations.
  Json contract;
  std::string file;
  std::string identity;  ///< The same for equal files.
  mutable std::mutex mutex;
  mutable std::map<std::string, std::shared_ptr<const Operator>> on_gpus;  ///< By device.
};

OperatorStage::OperatorStage(const std::filesystem::path& operator_file)
    : implementation_(std::make_unique<Implementation>(operator_file)) {}
OperatorStage::~OperatorStage() = default;
OperatorStage::OperatorStage(OperatorStage&&) noexcept = default;
OperatorStage& OperatorStage::operator=(OperatorStage&&) noexcept = default;

const Json& OperatorStage::contract() const {
  return implementation_->contract;
}

StageResult OperatorStage::run(const Mesh& mesh, const StageOptions& options) const {
  StageOptions whole = options;
  whole.per_block = false;
  Outcome outcome = implementation_->run_tree(MeshTree(mesh), nullptr, whole, true);
  return {std::move(outcome.report), std::move(outcome.meshes.front())};
}

TreeResult OperatorStage::run(const MeshTree& tree, const StageOptions& options) const {
  Outcome outcome = implementation_->run_tree(tree, nullptr, options, true);
  return {std::move(outcome.report), tree.with_leaves(std::move(outcome.meshes))};
}

TreeResult OperatorStage::run(const MeshTree& source, const MeshTree& query,
                              const StageOptions& options) const {
  Outcome outcome = implementation_->run_tree(source, &query, options, true);
  return {std::move(outcome.report), query.with_leaves(std::move(outcome.meshes))};
}

TreeResult OperatorStage::check(const MeshTree& source, const MeshTree* query,
                                const StageOptions& options) const {
  StageOptions checking = options;
  checking.progress = nullptr;
  Outcome outcome = implementation_->run_tree(source, query, checking, false);
  return {std::move(outcome.report),
          (query ? *query : source).with_leaves(std::move(outcome.meshes))};
}

StageResult run(const Mesh& mesh, const std::filesystem::path& operator_file,
                const StageOptions& options) {
  return OperatorStage(operator_file).run(mesh, options);
}

TreeResult run(const MeshTree& tree, const std::filesystem::path& operator_file,
               const StageOptions& options) {
  return OperatorStage(operator_file).run(tree, options);
}

}  // namespace funcattn
