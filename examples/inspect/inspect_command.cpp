#include "examples/inspect/inspect_command.h"

#include <algorithm>
#include <optional>

#include "core/atomic_file.h"
#include "core/error.h"
#include "examples/inspect/inspection_picture.h"
#include "examples/inspect/inspection_report.h"
#include "meshio/quadrature.h"
#include "meshio/reader.h"
#include "meshio/writer.h"
#include "plugin/cli/parameter_option.h"
#include "plugin/cli/run_plan.h"

namespace funcattn {

namespace {

namespace fs = std::filesystem;

struct InspectOptions {
  fs::path operator_file;
  fs::path mesh;
  std::vector<int> blocks;
  double threshold = InspectionOptions().threshold;
  std::optional<double> memory_limit;  ///< GiB
  std::string weights;
  bool single_prediction = false;
  NanPolicy nan = NanPolicy::error;
  bool per_block = false;
  bool convert_association = false;
  std::vector<std::string> parameters;  ///< NAME=VALUE[,VALUE...]
  fs::path query;
  bool interpolate_inputs = false;
  fs::path output;
  std::string suffix = StageOptions().suffix;
  bool overwrite = false;
  fs::path report;
  bool json = false;
  int threads = 0;
};

/// Files of a report folder that hold the pictures of one sample: transports.png for the only one,
/// transports_2.png for the second of several.
std::string picture_name(const std::string& stem, std::size_t sample, std::size_t samples) {
  return stem + (samples > 1 ? "_" + std::to_string(sample + 1) : "") + ".png";
}

class InspectCommand : public Command {
 public:
  std::string name() const override { return "inspect"; }
  std::string summary() const override {
    return "show basis functions and transport matrices of an operator at a mesh";
  }
  std::vector<std::string> examples() const override {
    return {"funcattn inspect disk.safetensors disk.vtu -o disk_basis.vtu",
            "funcattn inspect disk.safetensors disk.vtu --blocks 1 4 --report report --json"};
  }

  void describe(OptionTable& table) override {
    table.positional("OPERATOR", options_.operator_file, "trained operator");
    table.positional("MESH", options_.mesh, "mesh file with the inputs of the operator");
    table.group("What to look at");
    table.list("blocks", options_.blocks, "attention layers, counted from 1")
        .at_least(1)
        .default_text("all");
    table
        .value("threshold", options_.threshold,
               "a function above this at a point serves it; those that are nowhere above it are "
               "counted")
        .at_least(0)
        .at_most(1);
    table
        .value("memory-limit", options_.memory_limit,
               "refuse what would take more, the bases of all points being kept")
        .unit("GiB")
        .above(0)
        .default_text("half of the memory");
    table.group("How to apply the operator");
    table
        .value("weights", options_.weights,
               "how much of the domain each point stands for: auto, uniform, measure, density or "
               "array:NAME")
        .placeholder("CHOICE")
        .default_text("as in training");
    declare_single_prediction(table, options_.single_prediction);
    table.choice(
        "nan", options_.nan,
        {{"error", NanPolicy::error}, {"mask", NanPolicy::mask}, {"drop", NanPolicy::drop}},
        "what points with NaN do: refuse the file (error), take no part and get NaN (mask), or "
        "leave the result as well (drop)");
    table.flag("per-block", options_.per_block, "every block of the file is a sample of its own");
    table.flag("convert-association", options_.convert_association,
               "convert inputs from cells to points or back where the operator needs it");
    declare_parameters(table, options_.parameters, "MESH");
    table
        .value("query", options_.query,
               "predict at the points of this mesh, which becomes the result")
        .default_text("the mesh itself");
    table.flag("interpolate-inputs", options_.interpolate_inputs,
               "take inputs that the query mesh lacks from the source, linearly in its cells");
    declare_threads(table, options_.threads);
    table.group("Output");
    table
        .value("output,o", options_.output,
               "mesh with the basis functions as arrays and the matrices as field data; the "
               "extension chooses the format")
        .default_text("none");
    table.value("suffix", options_.suffix, "appended to the names of the predicted arrays")
        .may_be_empty();
    table.flag("overwrite", options_.overwrite,
               "replace arrays of the mesh that have the names of predictions, bases or matrices");
    table
        .value("report", options_.report,
               "folder for report.txt, report.json, and the pictures transports.png and "
               "spectra.png, or attention.png of softmax attention")
        .placeholder("FOLDER")
        .default_text("none");
    table.flag("json", options_.json, "print JSON instead of the table");
  }

  void validate() const override {
    if (!options_.weights.empty()) (void)weight_choice_from_string(options_.weights);
    if (options_.mesh.extension() == ".safetensors" &&
        options_.operator_file.extension() != ".safetensors")
      throw UsageError("the operator comes first: give '" + options_.mesh.string() +
                       "' before the mesh '" + options_.operator_file.string() + "'");
    if (options_.query.empty() && options_.interpolate_inputs)
      throw UsageError("option '--interpolate-inputs' needs --query");
    if (!options_.query.empty() && options_.per_block)
      throw UsageError(
          "option '--per-block' has no meaning with --query, which one operator built on all "
          "blocks answers");
    (void)parameters_from_strings(options_.parameters);
  }

  int run(Console& console) override {
    inspect(console);
    return 0;
  }

 private:
  StageOptions stage_options() const {
    StageOptions stage;
    stage.weights = options_.weights;
    stage.single_prediction = options_.single_prediction;
    stage.nan = options_.nan;
    stage.per_block = options_.per_block;
    stage.convert_association = options_.convert_association;
    stage.interpolate_inputs = options_.interpolate_inputs;
    stage.parameters = parameters_from_strings(options_.parameters);
    stage.suffix = options_.suffix;
    stage.overwrite = options_.overwrite;
    stage.threads = options_.threads;
    stage.add_basis = stage.add_transport = !options_.output.empty();
    stage.report_heads = true;
    stage.inspection.blocks = options_.blocks;
    stage.inspection.threshold = options_.threshold;
    if (options_.memory_limit)
      stage.inspection.memory_limit =
          static_cast<std::int64_t>(*options_.memory_limit * 1073741824.0);
    return stage;
  }

  void inspect(Console& console) const {
    if (!options_.output.empty()) {
      OutputGuard guard;
      guard.protect(options_.operator_file, "the operator");
      guard.protect(options_.mesh, "the input");
      if (!options_.query.empty()) guard.protect(options_.query, "the query mesh");
      guard.claim(options_.output, options_.mesh);
      check_target(options_.output);
    }
    const OperatorStage stage(options_.operator_file);
    const MeshTree mesh = read_mesh_tree(options_.mesh);
    std::optional<MeshTree> query;
    if (!options_.query.empty()) query = read_mesh_tree(options_.query);
    if (!options_.output.empty()) check_format(query ? *query : mesh, options_.output);

    const TreeResult result =
        query ? stage.run(mesh, *query, stage_options()) : stage.run(mesh, stage_options());
    for (const std::string& warning : result.warnings) console.warn(warning);
    if (!options_.output.empty()) {
      write_mesh_tree(result.tree, options_.output);
      console.note("wrote " + options_.output.string());
    }
    if (!options_.report.empty()) write_report(result.inspections, console);
    if (options_.json)
      console.print_json(inspection_json(result.inspections));
    else
      console.results() << inspection_text(result.inspections);
  }

  void write_report(const std::vector<SampleInspection>& inspections, Console& console) const {
    std::error_code failure;
    fs::create_directories(options_.report, failure);
    if (failure)
      throw FileError("cannot make the folder '" + options_.report.string() +
                      "': " + failure.message());
    write_file_atomically(options_.report / "report.txt", inspection_text(inspections));
    write_file_atomically(options_.report / "report.json",
                          inspection_json(inspections).dump(2) + "\n");
    bool drawn = false;
    for (std::size_t i = 0; i < inspections.size(); ++i) {
      if (inspections[i].heads.empty()) continue;  // A sample without points.
      drawn = true;
      const auto path = [&](const char* stem) {
        return options_.report / picture_name(stem, i, inspections.size());
      };
      if (inspections[i].heads.front().points) {
        draw_attention(path("attention"), inspections[i]);
        continue;
      }
      draw_transports(path("transports"), inspections[i]);
      draw_spectra(path("spectra"), inspections[i]);
    }
    console.note(std::string("wrote report.txt, report.json") + (drawn ? " and pictures" : "") +
                 " to " + options_.report.string());
  }

  InspectOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_inspect_command() {
  return std::make_unique<InspectCommand>();
}

}  // namespace funcattn
