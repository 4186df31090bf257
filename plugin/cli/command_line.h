#pragma once

#include <exception>
#include <ostream>
#include <string>

#include "plugin/cli/command.h"

namespace funcattn {

/// Exit statuses of the command.
enum ExitStatus { exit_done = 0, exit_failed = 1, exit_usage = 2 };

/// Runs the subcommand that argv[1] names. Every exception becomes one line
/// `funcattn COMMAND: message` on the log stream and an exit status: 2 for UsageError, 1 for all
/// others, and for results that could not be written.
/// @param processes that mpiexec started together, which all call it; only the first one writes,
/// and all return the same status
int run_command_line(int argc, const char* const* argv, const Commands& commands,
                     ProcessGroup* processes = nullptr);

/// The same with the streams for results and log given.
int run_command_line(int argc, const char* const* argv, const Commands& commands,
                     std::ostream& results, std::ostream& log, ProcessGroup* processes = nullptr);

/// An exception as one line: what LibTorch adds after its first line is left away, and exhausted
/// memory is called that.
std::string one_line(const std::exception& error);

}  // namespace funcattn
