#include "plugin/cli/run_plan.h"

#include <algorithm>
#include <cctype>

#include "core/error.h"
#include "meshio/reader.h"
#include "plugin/dataset.h"

namespace funcattn {

namespace fs = std::filesystem;

namespace {

constexpr const char* result_suffix = "_predicted";

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

const FileFormat* format_of(const fs::path& path) {
  std::string extension = path.extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const FileFormat& format : file_formats())
    if (format.extension == extension) return &format;
  return nullptr;
}

void check_writable_format(const fs::path& output) {
  const FileFormat* format = format_of(output);
  if (format && format->writable) return;
  std::string known;
  for (const FileFormat& other : file_formats())
    if (other.writable) known += (known.empty() ? "" : ", ") + other.extension;
  throw UsageError("option '--output': the extension '" + output.extension().string() + "' of '" +
                   output.string() + "' is none that can be written; known: " + known +
                   "; the name of a new folder ends with /");
}

/// What one input stands for, or why it stands for nothing.
struct GatheredInput {
  InputFiles files;
  std::string error;
};

/// All that the inputs stand for, in order. Lists of steps are looked up later.
std::vector<GatheredInput> gather_inputs(const RunOptions& options, std::istream& standard_input) {
  std::vector<GatheredInput> inputs;
  const auto gather = [&](const fs::path& input, const auto& list) {
    try {
      list();
    } catch (const FileError& error) {
      inputs.push_back({{input, {}, false}, error.what()});
    }
  };
  const auto add_location = [&](const fs::path& location) {
    gather(location, [&] {
      std::error_code ignored;
      if (fs::exists(location, ignored))
        inputs.push_back({list_input(location, MissingFiles::keep), {}});
      else
        inputs.push_back({{location, {{location, std::nullopt}}, false}, {}});
    });
  };
  for (const fs::path& input : options.inputs) {
    if (input == "-")
      gather("standard input", [&] {
        for (const fs::path& file : read_list(standard_input, MissingFiles::keep))
          add_location(file);
      });
    else if (is_pattern(input))
      gather(input, [&] {
        for (const fs::path& file : match_pattern(input)) add_location(file);
      });
    else
      add_location(input);
  }
  return inputs;
}

/// The times inside a file that may hold several; none where one read is all there is.
std::vector<double> steps_of(const fs::path& file) {
  const FileFormat* format = format_of(file);
  if (!format || !format->has_time) return {};
  try {
    const std::vector<double> times = time_steps(file);
    return times.size() > 1 ? times : std::vector<double>{};
  } catch (const Error&) {
    return {};  // Reading it will say what is wrong.
  }
}

std::string numbered(const std::string& stem, std::size_t index, std::size_t count) {
  const std::size_t digits = std::max<std::size_t>(4, std::to_string(count - 1).size());
  const std::string number = std::to_string(index);
  return stem + "_" + std::string(digits - std::min(digits, number.size()), '0') + number;
}

class Planner {
 public:
  Planner(const RunOptions& options, bool into_folder, RunPlan& plan)
      : options_(options), into_folder_(into_folder), plan_(plan) {}

  void add_failure(const fs::path& input, const std::string& error) {
    RunJob job;
    job.input = input;
    job.error = error;
    plan_.jobs.push_back(std::move(job));
  }

  void add_file(const TimedFile& entry) {
    const std::vector<double> steps = steps_of(entry.file);
    if (steps.empty()) {
      RunJob job = job_of(entry);
      name_output(job);
      plan_.jobs.push_back(std::move(job));
      return;
    }
    std::vector<RunJob> jobs(steps.size(), job_of(entry));
    for (std::size_t i = 0; i < steps.size(); ++i) jobs[i].step = jobs[i].time = steps[i];
    add_steps(entry.file, std::move(jobs));
  }

  void add_series(const fs::path& collection, const std::vector<TimedFile>& entries) {
    std::vector<RunJob> jobs;
    for (const TimedFile& entry : entries) jobs.push_back(job_of(entry));
    add_steps(collection, std::move(jobs));
  }

 private:
  static RunJob job_of(const TimedFile& entry) {
    RunJob job;
    job.input = entry.file;
    job.time = entry.time;
    job.listed = entry;
    return job;
  }

  bool is_named_file() const { return !options_.output.empty() && !into_folder_; }

  /// Extension of the mesh that becomes the result, where it can be written.
  std::string extension_for(const fs::path& input) const {
    const fs::path& model = options_.query.empty() ? input : options_.query;
    const FileFormat* format = format_of(model);
    return format && format->writable ? model.extension().string() : std::string();
  }

  void name_output(RunJob& job) const {
    if (is_named_file()) {
      check_writable_format(options_.output);
      job.output = options_.output;
      return;
    }
    const fs::path stem = job.input.stem();
    name_output(job, options_.output.empty() ? fs::path(stem.string() + result_suffix)
                                             : options_.output / stem);
  }

  void name_output(RunJob& job, const fs::path& stem) const {
    job.stem = stem;
    job.output = stem;
    job.output += extension_for(job.input);
  }

  /// Steps of one series: a .pvd, and beside it a file for each.
  void add_steps(const fs::path& source, std::vector<RunJob> jobs) {
    const std::string stem = source.stem().string();
    fs::path collection;
    if (options_.output.empty())
      collection = stem + result_suffix + ".pvd";
    else if (into_folder_)
      collection = options_.output / (stem + ".pvd");
    else
      collection = options_.output;
    if (collection.extension() != ".pvd")
      throw UsageError("option '--output': '" + collection.string() + "' cannot hold the " +
                       std::to_string(jobs.size()) + " steps of '" + source.string() +
                       "'; give the name of a .pvd, or a folder, whose name ends with /");
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      name_output(jobs[i],
                  collection.parent_path() / numbered(collection.stem().string(), i, jobs.size()));
      jobs[i].series = plan_.series.size();
      plan_.jobs.push_back(std::move(jobs[i]));
    }
    plan_.series.push_back({source, collection});
  }

  const RunOptions& options_;
  bool into_folder_;
  RunPlan& plan_;
};

}  // namespace

void OutputGuard::protect(const fs::path& file, const std::string& what) {
  const std::lock_guard lock(mutex_);
  protected_.emplace(identity(file), Protected{file, what});
}

void OutputGuard::claim(const fs::path& output, const fs::path& input) {
  const std::lock_guard lock(mutex_);
  const std::string key = identity(output);
  if (const auto found = protected_.find(key); found != protected_.end())
    throw UsageError("the result '" + output.string() + "' would replace " + found->second.what +
                     " '" + found->second.file.string() + "'; give another --output");
  const auto [claim, is_new] = claimed_.emplace(key, input);
  if (!is_new && identity(claim->second) == identity(input))
    throw UsageError("'" + input.string() + "' is listed twice; list it once");
  if (!is_new)
    throw UsageError("'" + claim->second.string() + "' and '" + input.string() +
                     "' would both be written to '" + output.string() +
                     "'; run them one at a time");
}

RunPlan plan_run(const RunOptions& options, std::istream& standard_input, OutputGuard& guard) {
  const std::vector<GatheredInput> inputs = gather_inputs(options, standard_input);
  std::size_t results = 0;
  for (const auto& [files, error] : inputs)
    results += files.is_series || !error.empty() ? 1 : files.files.size();
  std::error_code ignored;
  const bool exists = !options.output.empty() && fs::exists(options.output, ignored);
  bool into_folder = names_folder(options.output);
  if (results > 1 && !options.output.empty() && !into_folder) {
    // The name of a mesh file for many is a slip, not the name of a folder.
    if (exists || format_of(options.output))
      throw UsageError("option '--output': '" + options.output.string() +
                       "' is no folder, which the results of " + std::to_string(results) +
                       " files need; give an existing one, or end the name of a new one with /");
    into_folder = true;
  }
  RunPlan plan;
  if (into_folder && !exists) plan.new_folder = options.output;
  Planner planner(options, into_folder, plan);
  for (const auto& [files, error] : inputs) {
    if (!error.empty())
      planner.add_failure(files.location, error);
    else if (files.is_series)
      planner.add_series(files.location, files.files);
    else
      for (const TimedFile& entry : files.files) planner.add_file(entry);
  }

  guard.protect(options.operator_file, "the operator");
  if (!options.query.empty()) guard.protect(options.query, "the query");
  for (const RunJob& job : plan.jobs) guard.protect(job.input, "the input");
  for (const RunSeries& series : plan.series) guard.protect(series.input, "the input");
  for (const RunSeries& series : plan.series) guard.claim(series.output, series.input);
  for (const RunJob& job : plan.jobs)
    if (job.has_extension()) guard.claim(job.output, job.input);
  return plan;
}

}  // namespace funcattn
