#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "meshio/series.h"
#include "plugin/cli/run_options.h"

namespace funcattn {

/// One sample to process: a file, or one step of a file or series of several.
struct RunJob {
  std::filesystem::path input;
  std::optional<double> step;  ///< Which of the times inside the file to read.
  std::optional<double> time;  ///< Of the sample, as a series says.
  std::filesystem::path output;
  /// `output` before its extension, where that is that of the input and may give way to one that
  /// can hold the result; equal to `output` as long as none is chosen. Empty: the user named the
  /// output. What is behind the last dot of a name tells nothing: "car.v2" is one of "car.v2.stl".
  std::filesystem::path stem;
  std::optional<std::size_t> series;  ///< Index of the series that the result belongs to.
  std::string error;                  ///< Why there is nothing to process; empty: there is.
  TimedFile listed;                   ///< What a collection says of the input.

  bool has_extension() const { return output != stem; }
};

/// A .pvd that is written beside the results of its steps.
struct RunSeries {
  std::filesystem::path input;
  std::filesystem::path output;
};

struct RunPlan {
  std::vector<RunJob> jobs;
  std::vector<RunSeries> series;
  std::filesystem::path new_folder;  ///< Of the results, which is to be made; empty: none.
};

/// Sees to it that no result replaces an input or another result. May be used from several threads.
class OutputGuard {
 public:
  /// @param what "the input", for messages
  void protect(const std::filesystem::path& file, const std::string& what);

  /// Throws UsageError if `output` is protected or claimed by another input.
  void claim(const std::filesystem::path& output, const std::filesystem::path& input);

 private:
  struct Protected {
    std::filesystem::path file;
    std::string what;
  };
  std::mutex mutex_;
  std::map<std::string, Protected> protected_;
  std::map<std::string, std::filesystem::path> claimed_;  ///< Output to input.
};

/// Pairs inputs (files, folders, patterns, lists, collections, steps) with outputs. The names of
/// the list on standard input, if one is asked for, come from `standard_input`. Throws UsageError
/// where an output would replace an input or another output, or cannot be written in its format.
/// What is missing or damaged, be it a file, a folder, a list, an entry of one, or a pattern that
/// matches nothing, is a job that fails when its turn comes, so that the others are done.
RunPlan plan_run(const RunOptions& options, std::istream& standard_input, OutputGuard& guard);

}  // namespace funcattn
