#include "examples/evaluate/evaluate_command.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/text.h"
#include "examples/evaluate/field_views.h"
#include "examples/evaluate/problem_set.h"
#include "examples/evaluate/report.h"
#include "examples/evaluate/sample_fields.h"
#include "examples/evaluate/test_sample.h"
#include "examples/sine/sine_evaluation.h"
#include "examples/vtk_samples.h"
#include "meshio/quadrature.h"
#include "operators/operator_file.h"
#include "operators/threads.h"
#include "plugin/prediction.h"

namespace funcattn {

namespace {

struct EvaluateOptions {
  std::vector<std::filesystem::path> operators;
  std::vector<std::filesystem::path> data, query_data;
  bool interpolate_inputs = false;
  std::string task;
  std::string weights, error_weights;
  bool single_prediction = false;
  std::string protocol;
  SineEvaluationOptions sine;
  std::vector<std::string> out_of_distribution;
  std::filesystem::path report;
  std::filesystem::path fields;
  bool json = false;
  int threads = 0;
};

// Index of the case nearest to the range of points that the operator was trained with, of pairs by
// the points of the source; of a graded and a plain one with about as many points the plain one.
std::size_t training_resolution(const std::vector<CaseMetrics>& cases, const Contract& contract) {
  if (contract.max_points == 0) return 0;
  const double middle = 0.5 * static_cast<double>(contract.min_points + contract.max_points);
  const auto distance = [&](const CaseMetrics& metrics) {
    const double handicap = sampling_of(metrics.label).empty() ? 0 : 0.25 * middle;
    return std::abs(metrics.source_points.value_or(metrics.points) - middle) + handicap;
  };
  std::size_t nearest = 0;
  for (std::size_t i = 1; i < cases.size(); ++i)
    if (distance(cases[i]) < distance(cases[nearest])) nearest = i;
  return nearest;
}

/// What the operator was made by apart from chance.
std::string recipe_of(const Operator& op) {
  Json training = op.training();
  if (!training.is_object() || !training.contains("seed")) return "";
  // The steps of the best operator are an outcome too; those of the whole run are among the
  // options.
  for (const char* outcome : {"seed", "steps", "final_loss", "final_accuracy", "best_validation",
                              "best_accuracy", "best_step", "seconds", "threads", "completed"})
    training.erase(outcome);
  return Json{{"model", op.model().config().to_json()},
              {"contract", op.contract().to_json()},
              {"training", training}}
      .dump();
}

class EvaluateCommand : public Command {
 public:
  std::string name() const override { return "evaluate"; }
  std::string summary() const override {
    return "measure operators by resolution and out of distribution";
  }
  std::vector<std::string> examples() const override {
    return {
        "funcattn evaluate --operator data/sine.safetensors --task sine "
        "--resample 1 2 4 8 16 32 --ood alpha x --report report",
        "funcattn evaluate --operator darcy.safetensors --data darcy/test16 darcy/test32",
        "funcattn evaluate --operator pairs.safetensors --data sources --query-data queries"};
  }

  void describe(OptionTable& table) override {
    table.group("What");
    table.list("operator", options_.operators, "operator files, compared side by side").required();
    table.list("data", options_.data, "test sets: folders of VTK files, one row of the table each")
        .instead_of("task")
        .placeholder("FOLDER");
    table
        .list("query-data", options_.query_data,
              "as many sets of meshes that hold the truth, each at the points of its own: partners "
              "of those of --data, which hold the inputs")
        .placeholder("FOLDER")
        .default_text("the meshes of --data")
        .only_with("data");
    table
        .flag("interpolate-inputs", options_.interpolate_inputs,
              "take inputs that a mesh of --query-data lacks from its partner, linearly in its "
              "cells")
        .only_with("data");
    table
        .value("weights", options_.weights,
               "quadrature weights with --data, of the operator's sums and, but for pairs, of the "
               "errors: auto, measure, uniform, density or array:NAME")
        .default_text("as in training")
        .only_with("data");
    table
        .value("error-weights", options_.error_weights,
               "the same for the errors alone, to measure operators of different weights alike")
        .default_text("those of the operator; of pairs auto, or uniform as the operator's")
        .only_with("data");
    declare_single_prediction(table, options_.single_prediction);
    table.value("task", options_.task, "draw the samples of a task instead")
        .choices({"sine"})
        .instead_of("data")
        .default_text("none")
        .placeholder("sine");
    table.group("Task sine");
    table.value("protocol", options_.protocol, "few-shot or masked-grid")
        .choices({"few-shot", "masked-grid"})
        .default_text("as the first operator was trained")
        .only_with("task");
    table
        .list("resample", options_.sine.factors,
              "densities over the training density; functions and context stay")
        .at_least(1)
        .only_with("task");
    table.list("context", options_.sine.context, "numbers of context points to compare")
        .at_least(1)
        .only_with("task");
    table
        .value("resolution-context", options_.sine.resolution_context,
               "context points in the other tables")
        .at_least(0)
        .default_text("10; masked-grid: 4")
        .only_with("task");
    table
        .list("ood", options_.out_of_distribution,
              "shifts: alpha (amplitudes in [5, 10]), x (context and queries in [-3, 15])")
        .choices({"alpha", "x"})
        .only_with("task");
    table.value("episodes", options_.sine.episodes, "functions per row")
        .at_least(1)
        .only_with("task");
    table.value("seed", options_.sine.seed, "of the functions drawn").only_with("task");
    table.group("Output");
    table
        .value("report", options_.report,
               "folder for report.txt, report.json and report.png, or report_ARRAY.png for "
               "each of several outputs")
        .placeholder("FOLDER")
        .default_text("none");
    table
        .value("fields", options_.fields,
               "folder for the samples of --data with prediction and error (prediction less "
               "truth), as "
               "OPERATOR/SET/FILE")
        .placeholder("FOLDER")
        .default_text("none")
        .only_with("data");
    table.flag("json", options_.json, "print JSON instead of tables");
    declare_threads(table, options_.threads);
  }

  void validate() const override {
    if (options_.data.empty() == options_.task.empty())
      throw UsageError("give either --data FOLDER or --task sine");
    for (const std::string& weights : {options_.weights, options_.error_weights})
      if (!weights.empty()) weight_choice_from_string(weights);
    if (options_.query_data.empty()) {
      if (options_.interpolate_inputs)
        throw UsageError(
            "--interpolate-inputs is for meshes of --query-data; give them, or leave it away");
    } else if (!options_.data.empty() && options_.query_data.size() != options_.data.size()) {
      throw UsageError("--query-data names " + std::to_string(options_.query_data.size()) +
                       " sets and --data " + std::to_string(options_.data.size()) +
                       "; give one for each, in the same order");
    }
    std::set<std::string> names;
    for (const auto& file : options_.operators)
      if (!names.insert(file.stem().string()).second && !options_.fields.empty())
        throw UsageError("two operators are named '" + file.stem().string() +
                         "', and --fields has one folder per name; rename one");
    if (options_.task.empty() && options_.sine.factors != SineEvaluationOptions().factors)
      throw UsageError(
          "--resample draws samples of a task; with --data give one folder per resolution instead");
  }

  int run(Console& console) override {
    check_report();
    const ThreadScope threads(options_.threads);
    std::vector<Operator> operators;
    std::vector<OperatorEvaluation> evaluations;
    for (const auto& file : options_.operators) {
      operators.push_back(load_operator(file));
      OperatorEvaluation evaluation;
      evaluation.name = file.stem().string();
      evaluation.file = file.string();
      evaluation.parameters = operators.back().model().parameter_count();
      evaluation.recipe = recipe_of(operators.back());
      if (const Json& training = operators.back().training(); training.is_object())
        evaluation.seed = training.value("seed", Json("")).dump();
      evaluations.push_back(std::move(evaluation));
    }
    if (options_.single_prediction) predict_once(operators, evaluations);

    std::vector<SampleView> views;
    if (options_.task == "sine")
      evaluate_on_sine(operators, evaluations, views, console);
    else
      evaluate_on_files(operators, evaluations, views, console);

    std::stable_sort(views.begin(), views.end(), [](const SampleView& a, const SampleView& b) {
      return a.truth.size() < b.truth.size();  // Stable: the outputs of a set stay together.
    });
    if (options_.json)
      console.print_json(report_json(evaluations));
    else
      console.results() << report_text(evaluations);
    if (!options_.report.empty()) write_report(evaluations, views, console);
    return 0;
  }

 private:
  /// The operators that predict a mean over symmetries; there has to be one.
  static void predict_once(std::vector<Operator>& operators,
                           std::vector<OperatorEvaluation>& evaluations) {
    const auto has_mean = [](const Operator& op) {
      return op.contract().symmetries.kind != Symmetries::none;
    };
    const bool none = std::none_of(operators.begin(), operators.end(), has_mean);
    for (std::size_t i = 0; i < operators.size(); ++i) {
      if (!none && !has_mean(operators[i])) continue;
      try {
        operators[i] = operators[i].without_symmetries();
      } catch (const UsageError& error) {
        throw UsageError("'" + evaluations[i].file + "': " + error.what());
      }
      evaluations[i].single_prediction = true;
    }
  }

  void evaluate_on_sine(const std::vector<Operator>& operators,
                        std::vector<OperatorEvaluation>& evaluations,
                        std::vector<SampleView>& views, Console& console) {
    SineEvaluationOptions sine = options_.sine;
    sine.protocol = options_.protocol.empty() ? trained_protocol(operators.front())
                                              : sine_protocol_from_string(options_.protocol);
    for (const std::string& shift : options_.out_of_distribution)
      (shift == "alpha" ? sine.amplitude_shift : sine.x_shift) = true;
    sine.validate();
    std::vector<const Operator*> pointers;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < operators.size(); ++i) {
      console.note("evaluating " + evaluations[i].name);
      evaluate_sine(operators[i], sine, evaluations[i]);
      pointers.push_back(&operators[i]);
      names.push_back(evaluations[i].name);
    }
    if (!options_.report.empty()) views = sine_views(pointers, names, sine);
  }

  void evaluate_on_files(const std::vector<Operator>& operators,
                         std::vector<OperatorEvaluation>& evaluations,
                         std::vector<SampleView>& views, Console& console) {
    if (!options_.weights.empty() && options_.error_weights.empty() && options_.query_data.empty())
      console.note(
          "the errors have the weights of --weights too; --error-weights compares operators "
          "of different weights");
    const std::vector<TestSet> sets = all_test_sets(options_.data, options_.query_data);
    for (std::size_t i = 0; i < options_.query_data.size(); ++i)
      if (const std::string text = differing_times(options_.data[i], options_.query_data[i]);
          !text.empty())
        console.warn(text);
    const QuerySettings errors{options_.error_weights, options_.interpolate_inputs};
    const SampleFields fields(options_.fields);
    if (!options_.fields.empty()) {
      std::vector<std::string> names;
      for (const OperatorEvaluation& evaluation : evaluations) names.push_back(evaluation.name);
      fields.check(sets, names);
    }
    if (operators.size() * sets.size() > 1)
      for (std::size_t i = 0; i < operators.size(); ++i)
        for (const TestSet& set : sets)
          check_first_sample(operators[i], evaluations[i].file, set, errors);
    FieldViews pictures(views);
    std::map<std::string, ProblemSet> problem_sets;
    bool has_interpolated = false;
    for (std::size_t i = 0; i < operators.size(); ++i) {
      const Contract contract = contract_of(operators[i]);
      OperatorEvaluation& evaluation = evaluations[i];
      for (const TestSet& test_set : sets) {
        const std::string& set = test_set.name;
        const SampleFiles& files = test_set.files;
        console.note("evaluating " + evaluation.name + " on " +
                     std::to_string(files.sources.size()) +
                     (files.queries.empty() ? " samples of " : " pairs of ") + set);
        CaseEvaluation cases(operators[i], set);
        UnknownClasses unknown;
        SampleWarnings warnings;
        ProblemSet& problems = problem_sets[set];
        problems = {};
        double source_points = 0;
        for (std::size_t j = 0; j < files.sources.size(); ++j) {
          const TestSample test =
              read_test_sample(files, j, operators[i].model(), contract, errors);
          const std::filesystem::path& file = files.with_results()[j];
          const Tensor prediction =
              cases.add(test.bound, &test.mesh, test.error_weights, test.first_result);
          source_points += test.source_points;
          unknown.add(test.results, contract);
          warnings.add(test.warnings);
          has_interpolated = has_interpolated || test.has_interpolated_inputs;
          if (!options_.fields.empty())
            fields.write(with_fields(test.mesh, operators[i], test.results, prediction),
                         evaluation.name, set, file);
          if (sets.size() > 1)
            problems.add(file.stem().string(), test.results, contract,
                         domain_weights(test, contract));
          if (!options_.report.empty() && j == 0)
            pictures.add(set, file, operators[i], evaluation.name, test.mesh, test.results,
                         prediction);
        }
        for (const std::string& text : warnings.texts())
          console.warn(operators.size() > 1 ? evaluation.name + ": " + text : text);
        if (const std::vector<std::string> texts = unknown.texts(); !texts.empty())
          console.note("no training sample of " + evaluation.name + " had " + join(texts, ", ") +
                       ", which " + set + " has: always wrong there");
        CaseMetrics& metrics = evaluation.resolutions.emplace_back(cases.result());
        metrics.data = test_set.location.string();
        metrics.query_data = test_set.query_location.string();
        metrics.weights = contract.weights;
        metrics.error_weights = options_.error_weights;
        if (metrics.error_weights.empty() && !files.queries.empty())
          metrics.error_weights =
              to_string(query_weight_choice(weight_choice_from_string(contract.weights)));
        if (!files.queries.empty())
          metrics.source_points = source_points / static_cast<double>(files.sources.size());
      }
      std::stable_sort(
          evaluation.resolutions.begin(), evaluation.resolutions.end(),
          [](const CaseMetrics& a, const CaseMetrics& b) { return a.points < b.points; });
      evaluation.base = training_resolution(evaluation.resolutions, contract);
      const std::vector<std::size_t> alike = evaluation.sampled_alike();
      const std::size_t densest = alike.back();
      const std::string& base = evaluation.resolutions[evaluation.base].label;
      const std::string& other =
          evaluation.resolutions[densest == evaluation.base ? alike.front() : densest].label;
      if (const std::string why = problem_sets[base].difference(problem_sets[other]); !why.empty())
        evaluation.other_problems =
            base + " and " + other + " do not hold the same problems: " + why;
    }
    if (options_.interpolate_inputs && !has_interpolated) console.warn(nothing_to_interpolate);
  }

  /// What an operator lacks in a set is said before hours are spent on others.
  void check_first_sample(const Operator& op, const std::string& file, const TestSet& set,
                          const QuerySettings& errors) const {
    try {
      (void)read_test_sample(set.files, 0, op.model(), contract_of(op), errors);
    } catch (const DataError& error) {
      throw DataError("'" + file + "' cannot be evaluated: " + error.what());
    }
  }

  /// With the weights that the options ask for.
  Contract contract_of(const Operator& op) const {
    Contract contract = op.contract();
    if (!options_.weights.empty()) contract.weights = options_.weights;
    return contract;
  }

  /// Before anything is computed: the report takes the place of nothing that it is made of.
  void check_report() const {
    if (options_.report.empty()) return;
    if (std::filesystem::exists(options_.report) && !std::filesystem::is_directory(options_.report))
      throw FileError("--report '" + options_.report.string() +
                      "' is a file; give it the name of a folder");
    for (const char* name : {"report.txt", "report.json"})
      for (const auto* inputs : {&options_.operators, &options_.data, &options_.query_data})
        for (const std::filesystem::path& input : *inputs) {
          std::error_code ignored;
          if (std::filesystem::equivalent(options_.report / name, input, ignored))
            throw UsageError("--report would replace '" + input.string() +
                             "', which is evaluated; give another folder");
        }
  }

  void write_report(const std::vector<OperatorEvaluation>& evaluations,
                    const std::vector<SampleView>& views, Console& console) const {
    std::error_code failure;
    std::filesystem::create_directories(options_.report, failure);
    if (failure)
      throw FileError("cannot make the folder '" + options_.report.string() +
                      "': " + failure.message());
    write_file_atomically(options_.report / "report.txt", report_text(evaluations));
    write_file_atomically(options_.report / "report.json", report_json(evaluations).dump(2) + "\n");
    const std::vector<std::string> pictures = draw_reports(options_.report, evaluations, views);
    console.note("wrote report.txt, report.json and " + join(pictures, ", ") + " to " +
                 options_.report.string());
  }

  EvaluateOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_evaluate_command() {
  return std::make_unique<EvaluateCommand>();
}

}  // namespace funcattn
