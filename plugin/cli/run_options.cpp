#include "plugin/cli/run_options.h"

#include <algorithm>

#include "core/affinity.h"
#include "core/error.h"
#include "core/text.h"
#include "meshio/quadrature.h"
#include "operators/device.h"
#include "plugin/cli/command.h"
#include "plugin/cli/parameter_option.h"

namespace funcattn {

namespace {

void refuse(bool given, const std::string& option, const std::string& reason) {
  if (given) throw UsageError("option '--" + option + "' " + reason);
}

}  // namespace

void RunOptions::describe(OptionTable& table) {
  table
      .positional("INPUT", inputs,
                  "mesh files; a folder, a pattern, a list (.txt, .lst) or a .pvd stands for its "
                  "files, - for a list on standard input")
      .required_unless(list_formats);
  table.group("Operator");
  table.value("operator", operator_file, "trained operator").required_unless(list_formats);
  table
      .value("weights", weights,
             "how much of the domain each point stands for: auto, uniform, measure, density or "
             "array:NAME")
      .placeholder("CHOICE")
      .default_text("as in training");
  table.choice(
      "nan", nan,
      {{"error", NanPolicy::error}, {"mask", NanPolicy::mask}, {"drop", NanPolicy::drop}},
      "what points with NaN do: refuse the file (error), take no part and get NaN (mask), or "
      "leave the result as well (drop)");
  declare_single_prediction(table, single_prediction);
  table.flag("per-block", per_block, "every block of a file is a sample of its own");
  table.flag(
      "convert-association", convert_association,
      "convert inputs from cells to points or back where the operator needs it, and give the "
      "prediction on both");
  declare_parameters(table, parameters, "INPUT");
  declare_threads(table, threads);
  table
      .value("device", device,
             "what computes: cpu, a GPU (cuda, cuda:N), or a GPU where there is one (auto)")
      .placeholder("DEVICE");
  table.value("jobs,j", files_at_once, "files processed at once, sharing the threads")
      .at_least(1)
      .at_most(1024);
  table.choice("memory", memory,
               {{"resident", ActivationMemory::resident},
                {"spilled", ActivationMemory::spilled},
                {"recomputed", ActivationMemory::recomputed}},
               "where the features of the points wait between blocks: in memory, in a temporary "
               "file, or nowhere, which takes more time; the result is the same");
  table.value("spill-folder", spill_folder, "folder of the temporary file")
      .placeholder("FOLDER")
      .default_text("the system's");
  table.flag("fixed-order", fixed_order,
             "add up in an order that gives the same bits for any number of processes (mpiexec) "
             "that share the pieces of a mesh");
  table.flag("profile", profile, "say where the time went");

  table.group("Where to predict");
  table
      .value("query", query,
             "predict at the points of this mesh, which becomes the result; INPUT is the source")
      .default_text("the input");
  table.flag("interpolate-inputs", interpolate_inputs,
             "take inputs that the query mesh lacks from the source, linearly in its cells");
  table
      .value(
          "resample", resample,
          "first bring INPUT to another resolution: a factor (x2, x0.5, 0.5) or, in digits alone, "
          "a number of points (5000)")
      .placeholder("xFACTOR|COUNT")
      .default_text("none");
  table
      .choice("resample-method", resample_method,
              {{"even", SamplingMethod::even}, {"random", SamplingMethod::random}},
              "which points a coarser mesh keeps")
      .default_text("even");
  table.value("seed", seed, "of the choice of points").default_text("0");
  table
      .list("error-against", error_against,
            "measure the error against these arrays: the first belongs to the first field of "
            "--outputs (without, of the operator; see 'funcattn info'), and so on")
      .placeholder("ARRAY");

  table.group("Output");
  table
      .value(
          "output,o", output,
          "result file, whose extension chooses the format, or a folder in which the results get "
          "the names of the inputs; one that ends with / or gets several results is made")
      .placeholder("PATH")
      .default_text("NAME_predicted.EXT in the current folder");
  table.list("outputs", outputs, "which of the predicted fields to write, in this order")
      .placeholder("NAME")
      .default_text("all");
  table.flag("probabilities", probabilities,
             "of predicted classes, also write the share of each class as NAME_probability");
  table.value("suffix", suffix, "appended to the names of the predicted arrays").may_be_empty();
  table.flag("overwrite", overwrite, "replace arrays that have a predicted name");
  table
      .choice("encoding", encoding,
              {{"appended", Encoding::appended},
               {"appended-base64", Encoding::appended_base64},
               {"binary", Encoding::binary},
               {"ascii", Encoding::ascii}},
              "how numbers are written; .vtk files are binary or ascii")
      .default_text("appended, binary in .vtk");
  table
      .choice("compression", compression,
              {{"none", Compression::none},
               {"zlib", Compression::zlib},
               {"lz4", Compression::lz4},
               {"lzma", Compression::lzma}},
              "of VTK XML files")
      .default_text("zlib");
  table.value("compression-level", compression_level, "1 (fast) to 9 (small)")
      .at_least(1)
      .at_most(9)
      .default_text("5");
  table.flag("dry-run", dry_run,
             "read and check everything, say what would be written, compute and write nothing");
  table.flag("json", json, "report as JSON");
  table.flag("list-formats", list_formats, "list the file formats, and nothing else");
}

void RunOptions::validate() const {
  if (list_formats) {
    refuse(!inputs.empty() || !operator_file.empty(), "list-formats",
           "runs nothing; leave the input and the operator away");
    return;
  }
  for (std::size_t i = 1; i < outputs.size(); ++i)
    refuse(std::find(outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(i),
                     outputs[i]) != outputs.begin() + static_cast<std::ptrdiff_t>(i),
           "outputs", "names '" + outputs[i] + "' twice; name it once");
  (void)parameters_from_strings(parameters);
  if (!weights.empty()) (void)weight_choice_from_string(weights);
  if (resample) {
    try {
      if (resampling().factor > 1 && !choice_options().empty())
        throw UsageError("a finer mesh leaves no points to choose; leave " + choice_options() +
                         " away");
    } catch (const UsageError& error) {
      throw UsageError("option '--resample': " + std::string(error.what()));
    }
  }
  refuse(!resample && resample_method, "resample-method", "needs --resample");
  refuse(!resample && seed, "seed", "needs --resample");
  refuse(query.empty() && interpolate_inputs, "interpolate-inputs", "needs --query");
  refuse(!query.empty() && per_block, "per-block",
         "has no meaning with --query, which one operator built on all blocks answers");
  const bool may_be_gpu = device_choice_from_string(device).kind != DeviceChoice::Kind::cpu;
  refuse(may_be_gpu && memory != ActivationMemory::resident, "memory",
         "has no effect on a GPU; leave it away or give --device cpu");
  refuse(memory != ActivationMemory::spilled && !spill_folder.empty(), "spill-folder",
         "needs --memory spilled");
  refuse(fixed_order && per_block, "fixed-order", "has no meaning with --per-block");
  refuse(fixed_order && may_be_gpu, "fixed-order",
         "is for the CPU; leave it away or give --device cpu");
  refuse(profile && dry_run, "profile", "has nothing to measure with --dry-run");
  const bool ascii = encoding == Encoding::ascii;
  refuse(ascii && compression && *compression != Compression::none, "compression",
         "has no effect on --encoding ascii");
  if (const std::string reason = unused_encoding(output); !reason.empty()) throw UsageError(reason);
  refuse(compression_level && (ascii || compression == Compression::none), "compression-level",
         "has no effect without compression");
  if (std::count(inputs.begin(), inputs.end(), "-") > 1)
    throw UsageError("argument 'INPUT': standard input ('-') is given twice");
}

int RunOptions::threads_per_file() const {
  const int all = threads < 1 ? available_cores() : threads;
  return std::max(1, all / files_at_once);
}

StageOptions RunOptions::stage_options() const {
  StageOptions options;
  options.weights = weights;
  options.single_prediction = single_prediction;
  options.suffix = suffix;
  options.overwrite = overwrite;
  options.nan = nan;
  options.per_block = per_block;
  options.convert_association = convert_association;
  options.interpolate_inputs = interpolate_inputs;
  options.error_against = error_against;
  options.outputs = outputs;
  options.probabilities = probabilities;
  options.parameters = parameters_from_strings(parameters);
  options.threads = threads_per_file();
  options.device = device;
  options.engine.memory = memory;
  options.engine.spill_folder = spill_folder;
  options.engine.fixed_order = fixed_order;
  return options;
}

WriteOptions RunOptions::write_options() const {
  WriteOptions options;
  options.encoding = encoding.value_or(options.encoding);
  options.compression = compression.value_or(options.compression);
  options.compression_level = compression_level.value_or(options.compression_level);
  return options;
}

Resampling RunOptions::resampling() const {
  Resampling result = resampling_from_string(*resample);
  result.method = resample_method.value_or(result.method);
  result.seed = seed.value_or(result.seed);
  return result;
}

std::string RunOptions::choice_options() const {
  std::vector<std::string> given;
  if (seed) given.emplace_back("--seed");
  if (resample_method) given.emplace_back("--resample-method");
  return join(given, " and ");
}

std::string RunOptions::unused_encoding(const std::filesystem::path& result) const {
  if (result.extension() != ".vtk") return {};
  if (compression || compression_level)
    return "option '--compression' is of VTK XML files; a .vtk file has none";
  if (encoding == Encoding::appended || encoding == Encoding::appended_base64)
    return "option '--encoding': a .vtk file is binary or ascii";
  return {};
}

}  // namespace funcattn
