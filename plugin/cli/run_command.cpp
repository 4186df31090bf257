#include "plugin/cli/run_command.h"

#include <vtkNew.h>
#include <vtkObject.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <iostream>
#include <iterator>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>

#include "core/error.h"
#include "core/temporary_paths.h"
#include "core/text.h"
#include "meshio/reader.h"
#include "plugin/cli/command_line.h"
#include "plugin/cli/option_hints.h"
#include "plugin/cli/run_job.h"
#include "plugin/cli/run_plan.h"
#include "plugin/cli/text_table.h"

namespace funcattn {

namespace {

/// What became of a job.
struct Outcome {
  Json report;
  std::exception_ptr error;
};

/// The error with the name of the input, where the text does not tell it, and the options that
/// help.
std::string failure_of(const RunJob& job, const std::exception& error) {
  const std::string input = job.input.string();
  const std::string message = with_option_hints(one_line(error));
  return message.find(input) == std::string::npos ? input + ": " + message : message;
}

/// The error of the only job there is, as the command is to end with it.
std::exception_ptr failure_alone(const RunJob& job, const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const UsageError& usage) {
    return std::make_exception_ptr(UsageError(failure_of(job, usage)));
  } catch (const std::exception& other) {
    return std::make_exception_ptr(Error(failure_of(job, other)));
  }
}

/// Calls `work(i)` for all i < count from `threads` threads, and `done(i)` in the order of i, never
/// two at a time. `work` must not throw.
void for_all(std::size_t count, int threads, const std::function<void(std::size_t)>& work,
             const std::function<void(std::size_t)>& done) {
  std::mutex mutex;
  std::size_t next = 0;
  std::size_t next_done = 0;
  std::vector<bool> finished(count, false);
  const auto loop = [&] {
    for (;;) {
      std::size_t mine;
      {
        const std::lock_guard lock(mutex);
        if (next == count) return;
        mine = next++;
      }
      work(mine);
      const std::lock_guard lock(mutex);
      finished[mine] = true;
      for (; next_done < count && finished[next_done]; ++next_done) done(next_done);
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads && static_cast<std::size_t>(i) < count; ++i)
    others.emplace_back(loop);
  loop();
  for (std::thread& thread : others) thread.join();
}

void print_formats(Console& console, bool as_json) {
  const auto yes = [](bool value) { return std::string(value ? "yes" : "no"); };
  Json list = Json::array();
  TextTable table({"extension", "read", "write", "steps", "blocks", "format"});
  for (const FileFormat& format : file_formats()) {
    table.add({format.extension, yes(format.readable), yes(format.writable), yes(format.has_time),
               yes(format.is_tree), format.description});
    list.push_back({{"extension", format.extension},
                    {"description", format.description},
                    {"readable", format.readable},
                    {"writable", format.writable},
                    {"steps", format.has_time},
                    {"blocks", format.is_tree}});
  }
  if (as_json)
    console.print_json(list);
  else
    table.print(console.results());
}

/// What the collection of a job's result says of it: what that of its input says.
TimedFile step_of(const RunJob& job) {
  TimedFile step = job.listed;
  step.file = job.output;
  step.time = job.time;
  return step;
}

/// Writes the collections whose steps were written, if it `writes` at all; steps that failed are
/// left out.
/// @return what the summary says of them
Json write_series(const RunPlan& plan, const std::vector<Outcome>& outcomes, bool writes) {
  Json reports = Json::array();
  for (std::size_t i = 0; i < plan.series.size(); ++i) {
    std::vector<TimedFile> steps;
    for (std::size_t job = 0; job < plan.jobs.size(); ++job)
      if (plan.jobs[job].series == i && !outcomes[job].error)
        steps.push_back(step_of(plan.jobs[job]));
    if (steps.empty()) continue;
    if (writes) write_pvd(plan.series[i].output, steps);
    reports.push_back({{"input", plan.series[i].input.string()},
                       {"output", plan.series[i].output.string()},
                       {"steps", steps.size()}});
  }
  return reports;
}

/// The folder of the results, where there is none yet; gone again if nothing was written to it.
class NewFolder {
 public:
  /// Throws FileError. An empty path is none.
  explicit NewFolder(const std::filesystem::path& path) {
    if (path.empty()) return;
    // Without the slash at its end, behind which a parent would be the folder itself.
    const std::filesystem::path folder = path.has_filename() ? path : path.parent_path();
    note_.emplace(folder);  // An interrupt removes it as well, if it is empty.
    std::error_code failure;
    if (std::filesystem::create_directory(folder, failure)) path_ = folder;
    if (failure)
      throw FileError("cannot make the folder '" + folder.string() + "': " + failure.message());
  }
  ~NewFolder() {
    std::error_code ignored;  // Of a folder that is not empty.
    if (!path_.empty()) std::filesystem::remove(path_, ignored);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

 private:
  std::filesystem::path path_;
  std::optional<TemporaryPath> note_;
};

void print_series(Console& console, const Json& reports, bool dry_run) {
  for (const Json& report : reports)
    console.results() << (dry_run ? "would write " : "")
                      << printable(report.at("output").get<std::string>()) << ": "
                      << report.at("steps").get<std::size_t>() << " steps\n";
}

}  // namespace

std::vector<std::string> RunCommand::examples() const {
  return {"funcattn run disk.vtu --operator disk.safetensors -o disk_out.vtu",
          "funcattn run data/test/*.vtu --operator disk.safetensors -o predictions -j 4 --json",
          "funcattn run coarse.vtu --operator disk.safetensors --query fine.vtu -o fine_out.vtu"};
}

int RunCommand::run(Console& console) {
  if (options_.list_formats) {
    print_formats(console, options_.json);
    return exit_done;
  }
  Json summary = {{"operator", options_.operator_file.string()},
                  {"dry_run", options_.dry_run},
                  {"done", 0},
                  {"failed", 0},
                  {"files", Json::array()}};
  std::exception_ptr failure;
  try {
    failure = run_all(console, summary);
  } catch (const std::exception& error) {
    // What is no fault of a single file: the plan, the operator, the query, a collection.
    summary["error"] = one_line(error);
    failure = std::current_exception();
  }
  if (options_.json) console.print_json(summary);
  if (failure) std::rethrow_exception(failure);
  return summary.at("failed") > 0 ? exit_failed : exit_done;
}

void RunCommand::check_processes() const {
  if (!processes_) return;
  const auto refuse = [&](bool given, const std::string& option, const std::string& reason) {
    if (given)
      throw UsageError("option '--" + option + "' " + reason + ", but mpiexec started " +
                       std::to_string(processes_->size()) + " processes");
  };
  refuse(options_.files_at_once > 1, "jobs", "is for one process");
  refuse(options_.resample.has_value(), "resample", "needs all of a mesh in one process");
  refuse(options_.interpolate_inputs, "interpolate-inputs",
         "needs all of the source in one process");
  refuse(options_.per_block, "per-block", "is for one process");
}

RunPlan RunCommand::plan(OutputGuard& guard) const {
  if (!processes_) return plan_run(options_, std::cin, guard);
  // Standard input is that of the first process alone.
  std::string list;
  const auto& inputs = options_.inputs;
  if (processes_->is_first() && std::find(inputs.begin(), inputs.end(), "-") != inputs.end())
    list.assign(std::istreambuf_iterator<char>(std::cin), {});
  std::istringstream stream(processes_->gather(list).front());
  return plan_run(options_, stream, guard);
}

std::exception_ptr RunCommand::run_all(Console& console, Json& summary) const {
  OutputGuard guard;
  SingleProcess this_one;
  ProcessGroup* processes = processes_;
  // Piece by piece, as several processes do.
  if (!processes && options_.fixed_order) processes = &this_one;
  check_processes();
  RunPlan plan = this->plan(guard);
  std::optional<NewFolder> folder;
  run_together(processes_, [&] {
    if (!processes_ || processes_->is_first()) folder.emplace(plan.new_folder);
  });
  const JobRunner runner(options_, guard, processes);
  const vtkNew<vtkObject> initialised;  // VTK's factories, before several threads ask for them.

  std::vector<Outcome> outcomes(plan.jobs.size());
  std::int64_t failed = 0;
  std::set<std::string> told;  ///< Notes, which are the same for all files.
  const bool alone = plan.jobs.size() == 1;
  for_all(
      plan.jobs.size(), options_.files_at_once,
      [&](std::size_t i) {
        try {
          if (!plan.jobs[i].error.empty()) throw FileError(plan.jobs[i].error);
          outcomes[i].report = runner.process(plan.jobs[i]);
        } catch (...) {
          outcomes[i].error = std::current_exception();
        }
      },
      [&](std::size_t i) {
        try {
          if (outcomes[i].error) std::rethrow_exception(outcomes[i].error);
          for (const Json& note : outcomes[i].report.value("notes", Json::array()))
            if (told.insert(note.get<std::string>()).second) console.note(note.get<std::string>());
          for (const Json& warning : outcomes[i].report.at("warnings"))
            console.warn(warning.get<std::string>());
          if (!options_.json) console.results() << job_text(outcomes[i].report) << std::flush;
        } catch (const std::exception& error) {
          ++failed;
          const std::string message = failure_of(plan.jobs[i], error);
          if (!alone) console.error(message);
          outcomes[i].report = {{"input", plan.jobs[i].input.string()}, {"error", message}};
        }
      });

  const auto done = static_cast<std::int64_t>(plan.jobs.size()) - failed;
  summary["done"] = done;
  summary["failed"] = failed;
  for (const Outcome& outcome : outcomes) summary["files"].push_back(outcome.report);
  // A single file ends the command, with the exit status of its error.
  if (alone && outcomes.front().error)
    return failure_alone(plan.jobs.front(), outcomes.front().error);

  const bool writes = !options_.dry_run && (!processes_ || processes_->is_first());
  const Json series = write_series(plan, outcomes, writes);
  const Json means = mean_errors(summary["files"]);
  if (!series.empty()) summary["series"] = series;
  if (!means.empty()) summary["mean_errors"] = means;
  if (!options_.json) {
    print_series(console, series, options_.dry_run);
    if (done > 1 && !means.empty()) {
      console.results() << "mean over " << done << " files:\n";
      for (const Json& mean : means) console.results() << error_text(mean);
    }
  }
  if (failed > 0)
    console.error(std::to_string(failed) + " of " + std::to_string(plan.jobs.size()) +
                  " files failed, " + std::to_string(done) +
                  (options_.dry_run ? " would be"
                   : done == 1      ? " was"
                                    : " were") +
                  " written");
  return nullptr;
}

}  // namespace funcattn
