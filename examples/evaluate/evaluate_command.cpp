#include "examples/evaluate/evaluate_command.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "core/atomic_file.h"
#include "core/error.h"
#include "examples/evaluate/report.h"
#include "examples/sine/sine_evaluation.h"
#include "examples/vtk_samples.h"
#include "operators/operator_file.h"
#include "operators/threads.h"

namespace funcattn {

namespace {

struct EvaluateOptions {
  std::vector<std::filesystem::path> operators;
  std::vector<std::filesystem::path> data;
  std::string task;
  std::string weights;
  std::string protocol;
  SineEvaluationOptions sine;
  std::vector<std::string> out_of_distribution;
  std::filesystem::path report;
  bool json = false;
  int threads = 0;
};

// Index of the case nearest to the range of points that the operator was trained with.
std::size_t training_resolution(const std::vector<CaseMetrics>& cases, const Contract& contract) {
  if (contract.max_points == 0) return 0;
  const double middle = 0.5 * static_cast<double>(contract.min_points + contract.max_points);
  std::size_t nearest = 0;
  for (std::size_t i = 1; i < cases.size(); ++i)
    if (std::abs(cases[i].points - middle) < std::abs(cases[nearest].points - middle)) nearest = i;
  return nearest;
}

std::vector<double> column(const Tensor& values, std::int64_t index) {
  const Tensor one = values.select(1, index).to(torch::kFloat64).contiguous();
  return std::vector<double>(one.data_ptr<double>(), one.data_ptr<double>() + one.numel());
}

SampleView view_of(const Operator& op, const Sample& sample, const std::string& title) {
  SampleView view;
  view.title = title + ", " + op.contract().outputs.front().name;
  const Tensor coordinates = sample.query.coordinates;
  for (std::int64_t i = 0; i < coordinates.size(0); ++i) {
    view.coordinates.emplace_back();
    for (std::int64_t axis = 0; axis < coordinates.size(1); ++axis)
      view.coordinates.back().push_back(coordinates[i][axis].item<double>());
  }
  view.truth = column(sample.targets, 0);
  view.predictions.emplace_back("predicted", column(predict_sample(op, sample), 0));
  return view;
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
        "funcattn evaluate --operator darcy.safetensors --data darcy/test16 darcy/test32"};
  }

  void describe(OptionTable& table) override {
    table.group("What");
    table.list("operator", options_.operators, "operator files, compared side by side").required();
    table.list("data", options_.data, "test sets: folders of VTK files, one row of the table each")
        .placeholder("FOLDER");
    table
        .value("weights", options_.weights,
               "quadrature weights with --data: auto, measure, uniform, density or array:NAME")
        .default_text("as in training");
    table.value("task", options_.task, "draw the samples of a task instead")
        .choices({"sine"})
        .default_text("none")
        .placeholder("sine");
    table.group("Task sine");
    table.value("protocol", options_.protocol, "few-shot or masked-grid")
        .choices({"few-shot", "masked-grid"})
        .default_text("as the first operator was trained");
    table
        .list("resample", options_.sine.factors,
              "densities over the training density; functions and context stay")
        .at_least(1);
    table.list("context", options_.sine.context, "numbers of context points to compare")
        .at_least(1);
    table
        .value("resolution-context", options_.sine.resolution_context,
               "context points in the other tables")
        .at_least(0)
        .default_text("10; masked-grid: 4");
    table
        .list("ood", options_.out_of_distribution,
              "shifts: alpha (amplitudes in [5, 10]), x (context and queries in [-3, 15])")
        .choices({"alpha", "x"});
    table.value("episodes", options_.sine.episodes, "functions per row").at_least(1);
    table.value("seed", options_.sine.seed, "of the functions drawn");
    table.group("Output");
    table.value("report", options_.report, "folder for report.txt, report.json and report.png")
        .placeholder("FOLDER")
        .default_text("none");
    table.flag("json", options_.json, "print JSON instead of tables");
    declare_threads(table, options_.threads);
  }

  void validate() const override {
    if (options_.data.empty() == options_.task.empty())
      throw UsageError("give either --data FOLDER or --task sine");
    const bool shifts = !options_.protocol.empty() || !options_.out_of_distribution.empty() ||
                        options_.sine.factors != SineEvaluationOptions().factors;
    if (options_.task.empty() && shifts)
      throw UsageError(
          "--resample, --ood and --protocol draw samples of a task; with --data give one folder "
          "per resolution instead");
  }

  int run(Console& console) override {
    const ThreadScope threads(options_.threads);
    std::vector<Operator> operators;
    std::vector<OperatorEvaluation> evaluations;
    for (const auto& file : options_.operators) {
      operators.push_back(load_operator(file));
      OperatorEvaluation evaluation;
      evaluation.name = file.stem().string();
      evaluation.file = file.string();
      evaluation.parameters = operators.back().model().parameter_count();
      evaluations.push_back(std::move(evaluation));
    }

    std::vector<SampleView> views;
    if (options_.task == "sine")
      evaluate_on_sine(operators, evaluations, views, console);
    else
      evaluate_on_files(operators, evaluations, views, console);

    if (!options_.report.empty()) write_report(evaluations, views, console);
    if (options_.json)
      console.print_json(report_json(evaluations));
    else
      console.results() << report_text(evaluations);
    return 0;
  }

 private:
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
    for (std::size_t i = 0; i < operators.size(); ++i) {
      Contract contract = operators[i].contract();
      if (!options_.weights.empty()) contract.weights = options_.weights;
      OperatorEvaluation& evaluation = evaluations[i];
      for (const auto& location : options_.data)
        for (const auto& [set, files] : test_sets(location)) {
          console.note("evaluating " + evaluation.name + " on " + std::to_string(files.size()) +
                       " samples of " + set);
          const std::vector<Sample> samples = load_samples(files, contract);
          evaluation.resolutions.push_back(evaluate_samples(operators[i], samples, set));
          if (i == 0 && !options_.report.empty())
            views.push_back(view_of(operators[i], samples.front(), set));
        }
      std::stable_sort(
          evaluation.resolutions.begin(), evaluation.resolutions.end(),
          [](const CaseMetrics& a, const CaseMetrics& b) { return a.points < b.points; });
      evaluation.base = training_resolution(evaluation.resolutions, contract);
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
    draw_report(options_.report / "report.png", evaluations, views);
    console.note("wrote report.txt, report.json and report.png to " + options_.report.string());
  }

  EvaluateOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_evaluate_command() {
  return std::make_unique<EvaluateCommand>();
}

}  // namespace funcattn
