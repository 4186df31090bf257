#include "plugin/cli/run_command.h"

#include <chrono>
#include <map>

#include "core/error.h"
#include "core/text.h"
#include "meshio/quadrature.h"
#include "meshio/reader.h"
#include "meshio/writer.h"
#include "plugin/cli/command_line.h"
#include "plugin/dataset.h"
#include "plugin/stage.h"

namespace funcattn {

namespace fs = std::filesystem;

namespace {

/// One text per file, whatever way leads to it.
std::string identity(const fs::path& path) {
  std::error_code failure;
  const fs::path canonical = fs::weakly_canonical(path, failure);
  return failure ? fs::absolute(path).lexically_normal().string() : canonical.string();
}

bool names_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) || !path.has_filename();
}

fs::path output_for(const fs::path& input, const RunOptions& options) {
  if (options.output.empty())
    return input.stem().string() + "_predicted" + input.extension().string();
  return names_folder(options.output) ? options.output / input.filename() : options.output;
}

Encoding encoding_of(const std::string& text) {
  if (text == "ascii") return Encoding::ascii;
  return text == "binary" ? Encoding::binary : Encoding::appended;
}

/// What the summary reports of one file.
Json apply(const OperatorStage& stage, const RunJob& job, const RunOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  StageOptions stage_options;
  stage_options.weights = options.weights;
  stage_options.suffix = options.suffix;
  stage_options.overwrite = options.overwrite;
  stage_options.threads = options.threads;
  const StageResult result = stage.run(read_mesh(job.input), stage_options);
  WriteOptions write_options;
  write_options.encoding = encoding_of(options.encoding);
  write_mesh(result.mesh, job.output, write_options);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

  Json report = {{"input", job.input.string()}, {"output", job.output.string()}};
  Json arrays = Json::array();
  std::string association = "point";
  for (const Json& output : stage.contract().at("outputs")) {
    arrays.push_back(output.at("name").get<std::string>() + options.suffix);
    association = output.at("association").get<std::string>();
  }
  const auto kind = association == "cell" ? Association::cell : Association::point;
  report[association + "s"] = result.mesh.count(kind);
  report["arrays"] = std::move(arrays);
  report["seconds"] = seconds.count();
  report["warnings"] = result.warnings;
  return report;
}

void print_line(Console& console, const Json& report) {
  const char* entries = report.contains("cells") ? "cells" : "points";
  std::vector<std::string> arrays = report.at("arrays").get<std::vector<std::string>>();
  console.results() << report.at("output").get<std::string>() << ": "
                    << report.at(entries).get<std::int64_t>() << " " << entries << ", "
                    << join(arrays, ", ") << " ("
                    << format_significant(report.at("seconds").get<double>(), 3) << " s)\n";
}

/// The error with the name of the input, where the text does not tell it.
std::string failure_of(const RunJob& job, const std::exception& error) {
  const std::string input = job.input.string();
  const std::string message = one_line(error);
  return message.find(input) == std::string::npos ? input + ": " + message : message;
}

}  // namespace

void RunOptions::validate() const {
  if (!weights.empty()) (void)weight_choice_from_string(weights);
}

std::vector<RunJob> plan_run(const RunOptions& options) {
  std::vector<RunJob> jobs;
  for (const fs::path& input : options.inputs) {
    // A missing single file is reported when its turn comes, so that the others are done.
    std::error_code ignored;
    const auto files =
        fs::exists(input, ignored) ? list_samples(input) : std::vector<fs::path>{input};
    for (const fs::path& file : files) jobs.push_back({file, output_for(file, options)});
  }
  std::error_code ignored;
  if (jobs.size() > 1 && !options.output.empty() && !fs::is_directory(options.output, ignored))
    throw UsageError("option '--output': '" + options.output.string() +
                     "' is not an existing folder, which the results of " +
                     std::to_string(jobs.size()) + " files need");
  std::map<std::string, fs::path> inputs = {
      {identity(options.operator_file), options.operator_file}};
  for (const RunJob& job : jobs) inputs.emplace(identity(job.input), job.input);
  std::map<std::string, fs::path> writers;
  for (const RunJob& job : jobs) {
    const std::string output = identity(job.output);
    if (const auto replaced = inputs.find(output); replaced != inputs.end())
      throw UsageError("the result '" + job.output.string() + "' would replace the input '" +
                       replaced->second.string() + "'; give another --output");
    const auto [writer, is_new] = writers.emplace(output, job.input);
    if (!is_new)
      throw UsageError("'" + writer->second.string() + "' and '" + job.input.string() +
                       "' would both be written to '" + job.output.string() +
                       "'; run them one at a time");
  }
  return jobs;
}

std::vector<std::string> RunCommand::examples() const {
  return {"funcattn run disk.vtu --operator disk.safetensors -o disk_out.vtu",
          "funcattn run data/test/*.vtu --operator disk.safetensors -o predictions --json"};
}

void RunCommand::describe(OptionTable& table) {
  table.positional("INPUT", options_.inputs,
                   "mesh files; a folder, a list (.txt, .lst) or a .pvd stands for its files");
  table.group("Operator");
  table.value("operator", options_.operator_file, "trained operator").required();
  table
      .value("weights", options_.weights,
             "quadrature weights: auto, uniform, measure or array:NAME")
      .placeholder("CHOICE")
      .default_text("as in training");
  declare_threads(table, options_.threads);
  table.group("Output");
  table
      .value("output,o", options_.output,
             "result file, or an existing folder in which the results get the names of the inputs")
      .placeholder("PATH")
      .default_text("NAME_predicted.EXT in the current folder");
  table.value("suffix", options_.suffix, "appended to the names of the predicted arrays");
  table.flag("overwrite", options_.overwrite, "replace arrays that have a predicted name");
  table.value("encoding", options_.encoding, "how numbers are written")
      .choices({"appended", "binary", "ascii"});
  table.flag("json", options_.json, "report as JSON");
}

int RunCommand::run(Console& console) {
  const std::vector<RunJob> jobs = plan_run(options_);
  const OperatorStage stage(options_.operator_file);
  Json files = Json::array();
  std::int64_t failed = 0;
  for (const RunJob& job : jobs) {
    try {
      Json report = apply(stage, job, options_);
      for (const Json& warning : report.at("warnings")) console.warn(warning.get<std::string>());
      if (!options_.json) print_line(console, report);
      files.push_back(std::move(report));
    } catch (const std::exception& error) {
      // A single file ends the command, with the exit status of its error.
      if (jobs.size() == 1) throw;
      ++failed;
      const std::string message = failure_of(job, error);
      console.error(message);
      files.push_back({{"input", job.input.string()}, {"error", message}});
    }
  }
  const auto done = static_cast<std::int64_t>(jobs.size()) - failed;
  if (options_.json)
    console.print_json({{"operator", options_.operator_file.string()},
                        {"done", done},
                        {"failed", failed},
                        {"files", std::move(files)}});
  if (failed > 0)
    console.error(std::to_string(failed) + " of " + std::to_string(jobs.size()) +
                  " files failed, " + std::to_string(done) + " were written");
  return failed > 0 ? exit_failed : exit_done;
}

}  // namespace funcattn
