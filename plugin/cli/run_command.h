#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "plugin/cli/command.h"

namespace funcattn {

struct RunOptions {
  std::vector<std::filesystem::path> inputs;
  std::filesystem::path operator_file;
  std::filesystem::path output;
  std::string weights;
  std::string suffix = "_predicted";
  std::string encoding = "appended";
  bool overwrite = false;
  bool json = false;
  int threads = 0;

  /// Throws UsageError.
  void validate() const;
};

/// An input file and where its result goes.
struct RunJob {
  std::filesystem::path input;
  std::filesystem::path output;
};

/// Pairs inputs (files, folders, lists, collections) with outputs. Throws UsageError where an
/// output would replace an input or another output, FileError where nothing is found.
std::vector<RunJob> plan_run(const RunOptions& options);

/// `funcattn run`: applies an operator to files.
class RunCommand : public Command {
 public:
  std::string name() const override { return "run"; }
  std::string summary() const override { return "apply a trained operator to mesh files"; }
  std::vector<std::string> examples() const override;
  void describe(OptionTable& table) override;
  void validate() const override { options_.validate(); }
  int run(Console& console) override;

 private:
  RunOptions options_;
};

}  // namespace funcattn
