#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/process_group.h"
#include "plugin/cli/console.h"
#include "plugin/cli/option_table.h"

namespace funcattn {

/// A subcommand of `funcattn`. One object serves one call: describe() binds the options to the
/// members of the object, whose values then are the defaults; parsing fills them; run() reads them.
class Command {
 public:
  virtual ~Command() = default;

  virtual std::string name() const = 0;
  /// One line without full stop, for the list of commands.
  virtual std::string summary() const = 0;
  /// Complete command lines that work as they stand.
  virtual std::vector<std::string> examples() const = 0;
  virtual void describe(OptionTable& table) = 0;
  /// Checks what concerns several options at once; called before run(). Throws UsageError.
  virtual void validate() const {}
  /// Called before run() where mpiexec started several processes. A command that does not say what
  /// each shall do throws UsageError.
  virtual void use_processes(ProcessGroup& processes);
  /// @return exit status: 0 done, 1 failed in part. Throws what went wrong otherwise.
  virtual int run(Console& console) = 0;
};

using Commands = std::vector<std::unique_ptr<Command>>;

/// The option --threads, alike in all commands that compute; pass the value to ThreadScope.
void declare_threads(OptionTable& table, int& threads);

/// The option --single-prediction, alike in all commands that predict.
void declare_single_prediction(OptionTable& table, bool& single_prediction);

}  // namespace funcattn
