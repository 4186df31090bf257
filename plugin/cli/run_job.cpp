#include "plugin/cli/run_job.h"

#include <vtkDataObject.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/affinity.h"
#include "core/atomic_file.h"
#include "core/error.h"
#include "core/text.h"
#include "meshio/quadrature.h"
#include "meshio/reader.h"
#include "operators/device.h"

namespace funcattn {

namespace fs = std::filesystem;

namespace {

Association association_of(const Json& contract) {
  return contract.at("outputs").front().at("association") == "cell" ? Association::cell
                                                                    : Association::point;
}

Json names_of(const Json& arrays) {
  Json names = Json::array();
  for (const Json& array : arrays) names.push_back(array.at("name"));
  return names;
}

Json errors_to_json(const std::vector<ArrayError>& errors) {
  Json list = Json::array();
  for (const ArrayError& error : errors) {
    list.push_back({{"array", error.array}, {"against", error.truth}});
    Json& figures = list.back();
    if (error.accuracy)
      figures["accuracy"] = *error.accuracy;
    else
      figures.update({{"relative_l2", error.relative_l2},
                      {"rmse", error.rmse},
                      {"max_error", error.max_error}});
  }
  return list;
}

/// Seconds since the last call, or since it was made.
class Lap {
 public:
  double operator()() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> seconds = now - last_;
    last_ = now;
    return seconds.count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// Everything from file to file, in order.
Json profile_to_json(double read, const EngineProfile& engine, double stage, double write) {
  double computed = 0;
  for (const auto& part : engine) computed += part.second;
  Json list = Json::array();
  const auto add = [&](const std::string& name, double seconds) {
    list.push_back({{"part", name}, {"seconds", seconds}});
  };
  add("read", read);
  add("bind, check, add arrays", std::max(0.0, stage - computed));
  for (const auto& [name, seconds] : engine) add(name, seconds);
  add("write", write);
  return list;
}

}  // namespace

JobRunner::JobRunner(const RunOptions& options, OutputGuard& guard, ProcessGroup* processes)
    : options_(options), guard_(guard), processes_(processes), stage_(options.operator_file) {
  (void)find_device(device_choice_from_string(options.device));  // Once, not for every file.
  if (!options.query.empty()) query_ = read(options.query, {});
  threads_ =
      processes && options.threads < 1 ? available_cores(*processes) : options.threads_per_file();
}

JobRunner::Held JobRunner::read(const std::filesystem::path& file,
                                const ReadOptions& options) const {
  if (!processes_) return {read_mesh_tree(file, options), {}};
  if (is_in_pieces(file)) {
    PieceSet pieces = read_piece_set(file, *processes_);
    return {pieces.tree, pieces};
  }
  // A mesh in one piece is the first process's.
  if (processes_->is_first()) return {read_mesh_tree(file, options), {}};
  return {empty_tree(file.string()), {}};
}

JobRunner::Held JobRunner::read(const RunJob& job) const {
  ReadOptions read_options;
  read_options.time = job.step;
  Held held = read(job.input, read_options);
  // What a series says of the time counts more than what its files say.
  if (job.time) held.tree = MeshTree(held.tree.vtk(), held.tree.origin(), job.time);
  return held;
}

bool JobRunner::writes(const Held& target) const {
  return !processes_ || processes_->is_first() || target.pieces;
}

void JobRunner::write(const RunJob& job, const Held& target, const MeshTree& result) const {
  if (!target.pieces) {
    if (writes(target)) write_mesh_tree(result, job.output, options_.write_options());
    return;
  }
  PieceSet pieces = *target.pieces;
  pieces.tree = result;
  write_piece_set(pieces, job.output, options_.write_options(), *processes_);
}

void JobRunner::check_write(const RunJob& job, const Held& target, const MeshTree& result) const {
  if (!target.pieces) {
    if (writes(target)) funcattn::check_write(result, job.output, options_.write_options());
    return;
  }
  check_piece_format(*target.pieces, job.output);
  if (processes_->is_first()) check_target(job.output);
}

ResampledTree JobRunner::resampled(const MeshTree& tree) const {
  if (!options_.resample) return {tree, false};
  const Json& contract = stage_.contract();
  const std::string weights =
      options_.weights.empty() ? contract.at("weights").get<std::string>() : options_.weights;
  ResampledTree result = resample(tree, association_of(contract), options_.resampling(),
                                  weight_choice_from_string(weights));
  // A subset keeps its flags; between a source and another point there is neither.
  for (const Json& input : contract.at("inputs"))
    if (input.at("role") == "source_flag" && !result.has_weights)
      throw DataError(tree.origin() + ": points between others are no source points, which '" +
                      input.at("name").get<std::string>() +
                      "' marks; take a subset of the points, or predict at those of a finer mesh "
                      "with --query");
  return result;
}

void JobRunner::choose_extension(RunJob& job, const MeshTree& given, const MeshTree& result) const {
  const bool another_class =
      std::string(given.vtk()->GetClassName()) != result.vtk()->GetClassName();
  if (job.stem.empty() || (job.has_extension() && !another_class)) return;
  job.output = job.stem;
  job.output += suggested_extension(result);
  guard_.claim(job.output, job.input);
}

/// What was asked for and could have no effect, which only the mesh and its format tell.
std::vector<std::string> JobRunner::unused_options(const RunJob& job,
                                                   const ResampledTree& source) const {
  std::vector<std::string> warnings;
  const bool chooses = options_.seed || options_.resample_method == SamplingMethod::random;
  if (chooses && !source.has_weights)
    warnings.push_back("no points were chosen at this resolution, so that " +
                       options_.choice_options() + " had no effect");
  const Json& outputs = stage_.contract().at("outputs");
  if (options_.probabilities &&
      std::none_of(outputs.begin(), outputs.end(),
                   [](const Json& output) { return output.contains("classes"); }))
    warnings.push_back(
        "no output of the operator is a class, so that --probabilities had no effect");
  if (const std::string reason = options_.unused_encoding(job.output); !reason.empty())
    warnings.push_back(reason);
  return warnings;
}

Json JobRunner::process(RunJob& job) const {
  return run_together(processes_, [&] { return process_here(job); });
}

Json JobRunner::process_here(RunJob& job) const {
  const auto start = std::chrono::steady_clock::now();
  const bool is_first = !processes_ || processes_->is_first();
  if (is_first && job.has_extension()) check_target(job.output);  // Before the work.
  Lap lap;
  const Held given = read(job);
  const Held& target = query_ ? *query_ : given;
  if (target.pieces && job.has_extension()) check_piece_format(*target.pieces, job.output);
  const ResampledTree source = resampled(given.tree);
  const double read_seconds = lap();
  StageOptions stage_options = options_.stage_options();
  stage_options.threads = threads_;
  stage_options.engine.processes = processes_;
  EngineProfile profile;
  if (options_.profile) stage_options.engine.profile = &profile;
  if (source.has_weights) stage_options.weights = std::string("array:") + sampling_weights_name;
  const MeshTree* query = query_ ? &query_->tree : nullptr;
  if (is_first && !job.has_extension())
    check_target(job.stem.string() + suggested_extension(query ? *query : source.tree));

  Json report = {{"input", job.input.string()}};
  StageReport stage_report;
  if (options_.dry_run) {
    const TreeResult result = stage_.check(source.tree, query, stage_options);
    choose_extension(job, target.tree, result.tree);
    check_write(job, target, result.tree);
    stage_report = result;
  } else {
    const TreeResult result = query ? stage_.run(source.tree, *query, stage_options)
                                    : stage_.run(source.tree, stage_options);
    const double stage_seconds = lap();
    choose_extension(job, target.tree, result.tree);
    write(job, target, result.tree);
    stage_report = result;
    if (options_.profile)
      report["profile"] = profile_to_json(read_seconds, profile, stage_seconds, lap());
  }
  for (const std::string& warning : unused_options(job, source))
    stage_report.warnings.push_back(job.input.string() + ": " + warning);

  const Json& contract = stage_.contract();
  report["output"] = job.output.string();
  if (job.time) report["time"] = *job.time;
  report[std::string(to_string(association_of(contract))) + "s"] = stage_report.entries;
  if (stage_report.unusable > 0)
    report[options_.nan == NanPolicy::drop ? "dropped" : "masked"] = stage_report.unusable;
  if (options_.dry_run) {
    report["inputs"] = names_of(contract.at("inputs"));
    report["weights"] = stage_options.weights.empty() ? contract.at("weights").get<std::string>()
                                                      : stage_options.weights;
  }
  report["arrays"] = stage_report.arrays;
  if (!stage_report.errors.empty()) report["errors"] = errors_to_json(stage_report.errors);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  report["seconds"] = seconds.count();
  if (options_.device != "cpu") report["device"] = stage_report.device;
  if (!stage_report.notes.empty()) report["notes"] = stage_report.notes;
  report["warnings"] = stage_report.warnings;
  return report;
}

std::string error_text(const Json& error) {
  const auto number = [&](const char* key) {
    return format_significant(error.at(key).get<double>(), 4);
  };
  const std::string what = "  " + printable(error.at("array").get<std::string>()) + " against " +
                           printable(error.at("against").get<std::string>()) + ": ";
  if (error.contains("accuracy")) return what + "accuracy " + number("accuracy") + "\n";
  return what + "relative L2 " + number("relative_l2") + ", RMSE " + number("rmse") + ", largest " +
         number("max_error") + "\n";
}

namespace {

std::string profile_text(const Json& profile) {
  double total = 0;
  for (const Json& part : profile) total += part.at("seconds").get<double>();
  std::string text;
  for (const Json& part : profile) {
    const double seconds = part.at("seconds").get<double>();
    const auto percent = std::lround(total > 0 ? 100 * seconds / total : 0);
    const std::string share = std::to_string(percent);
    text += "  " + std::string(share.size() < 3 ? 3 - share.size() : 0, ' ') + share + " %  " +
            part.at("part").get<std::string>() + " (" + format_significant(seconds, 3) + " s)\n";
  }
  return text;
}

}  // namespace

std::string job_text(const Json& report) {
  const char* entries = report.contains("cells") ? "cells" : "points";
  const auto list = [&](const char* key) {
    return printable(join(report.at(key).get<std::vector<std::string>>(), ", "));
  };
  const std::string output = printable(report.at("output").get<std::string>());
  const std::string count = std::to_string(report.at(entries).get<std::int64_t>()) + " " + entries;
  if (report.contains("inputs")) {
    const std::string inputs = list("inputs");
    return printable(report.at("input").get<std::string>()) + ": " + count + "\n  would read " +
           (inputs.empty() ? "coordinates only" : inputs) +
           " (weights: " + report.at("weights").get<std::string>() + ")\n  would write " + output +
           " with " + list("arrays") + "\n";
  }
  std::string text = output + ": " + count + ", " + list("arrays") + " (" +
                     format_significant(report.at("seconds").get<double>(), 3) + " s)\n";
  if (report.contains("errors"))
    for (const Json& error : report.at("errors")) text += error_text(error);
  if (report.contains("profile")) text += profile_text(report.at("profile"));
  return text;
}

Json mean_errors(const Json& reports) {
  Json means = Json::array();
  double count = 0;
  for (const Json& report : reports) {
    if (!report.contains("errors")) continue;
    const Json& errors = report.at("errors");
    count += 1;
    for (std::size_t i = 0; i < errors.size(); ++i) {
      if (means.size() <= i) {
        means.push_back(errors[i]);
        continue;
      }
      if (errors[i].contains("accuracy")) {
        means[i]["accuracy"] =
            means[i].at("accuracy").get<double>() + errors[i].at("accuracy").get<double>();
        continue;
      }
      means[i]["relative_l2"] =
          means[i].at("relative_l2").get<double>() + errors[i].at("relative_l2").get<double>();
      // Mean square errors are what averages.
      means[i]["rmse"] =
          std::hypot(means[i].at("rmse").get<double>(), errors[i].at("rmse").get<double>());
      means[i]["max_error"] =
          std::max(means[i].at("max_error").get<double>(), errors[i].at("max_error").get<double>());
    }
  }
  for (Json& mean : means) {
    if (mean.contains("accuracy")) {
      mean["accuracy"] = mean.at("accuracy").get<double>() / count;
      continue;
    }
    mean["relative_l2"] = mean.at("relative_l2").get<double>() / count;
    mean["rmse"] = mean.at("rmse").get<double>() / std::sqrt(count);
  }
  return means;
}

}  // namespace funcattn
