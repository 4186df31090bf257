#pragma once

#include <exception>
#include <string>
#include <vector>

#include "core/json.h"
#include "plugin/cli/command.h"
#include "plugin/cli/run_plan.h"

namespace funcattn {

/// `funcattn run`: applies an operator to files.
class RunCommand : public Command {
 public:
  std::string name() const override { return "run"; }
  std::string summary() const override { return "apply a trained operator to mesh files"; }
  std::vector<std::string> examples() const override;
  void describe(OptionTable& table) override { options_.describe(table); }
  void validate() const override { options_.validate(); }
  void use_processes(ProcessGroup& processes) override { processes_ = &processes; }
  int run(Console& console) override;

 private:
  /// Processes all inputs and fills `summary`. @return what to end the command with, if it failed
  /// as a whole. Throws what is no fault of a single file.
  std::exception_ptr run_all(Console& console, Json& summary) const;

  /// Throws UsageError for options that are made for one process.
  void check_processes() const;
  RunPlan plan(OutputGuard& guard) const;

  RunOptions options_;
  ProcessGroup* processes_ =
      nullptr;  ///< That share the pieces of each mesh; null: there are none.
};

}  // namespace funcattn
