#include "plugin/cli/command_line.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <new>

#include "core/error.h"
#include "core/text.h"
#include "plugin/cli/option_help.h"
#include "plugin/cli/option_hints.h"
#include "plugin/cli/version_report.h"
#include "plugin/stage.h"

namespace funcattn {

namespace {

struct CommonOptions {
  std::filesystem::path config;
  bool quiet = false;
  bool verbose = false;
  bool help = false;
};

void declare_common(OptionTable& table, CommonOptions& options) {
  table.group("Common options");
  table.value("config", options.config,
              "file of 'name = value' lines for options not given on the command line");
  table.flag("quiet,q", options.quiet, "no progress, only warnings and errors");
  table.flag("verbose,v", options.verbose, "say where the value of every option came from");
  table.flag("help,h", options.help, "show this help");
}

std::string overview(const Commands& commands) {
  std::size_t longest = 0;
  for (const auto& command : commands) longest = std::max(longest, command->name().size());
  std::string text =
      "funcattn: Functional Attention operators as a stage in mesh pipelines\n\n"
      "usage: funcattn COMMAND [OPTIONS]\n\nCommands:\n";
  for (const auto& command : commands)
    text += "  " + command->name() + std::string(longest + 2 - command->name().size(), ' ') +
            command->summary() + "\n";
  return text +
         "\n'funcattn COMMAND --help' describes a command, 'funcattn --version' the build.\n"
         "Exit status: 0 done, 1 the run failed, 2 wrong usage.\n";
}

const std::unique_ptr<Command>& find_command(const Commands& commands, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& command : commands) {
    if (command->name() == name) return command;
    names.push_back(command->name());
  }
  const bool is_option = !name.empty() && name.front() == '-';
  std::string message = is_option ? "unknown option '" + name + "' before the command"
                                  : "unknown command '" + name + "'";
  if (const auto meant = is_option ? std::nullopt : closest_match(name, names))
    message += "; did you mean '" + *meant + "'?";
  throw UsageError(message + "; see 'funcattn --help'");
}

bool asks_for_help(const std::vector<std::string>& arguments) {
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  return std::any_of(arguments.begin(), end, [](const std::string& argument) {
    return argument == "--help" || argument == "-h";
  });
}

void log_origins(Console& console, const OptionTable& table) {
  for (const Option& option : table.options()) {
    const std::string name = option.positional() ? option.name() : "--" + option.name();
    console.log() << name << " = " << option.value_text() << " (" << to_string(option.origin())
                  << ")\n";
  }
  console.log().flush();
}

int run_command(Command& command, const std::vector<std::string>& arguments, Console& console,
                ProcessGroup* processes) {
  CommonOptions common;
  OptionTable table;
  command.describe(table);
  declare_common(table, common);
  if (asks_for_help(arguments)) {
    console.results() << command_help(command, table);
    return exit_done;
  }
  try {
    table.parse(arguments);
    if (!common.config.empty()) table.read_config(common.config);
    table.check_required();
    command.validate();
    table.check_owners();
  } catch (const UsageError& error) {
    throw UsageError(std::string(error.what()) + "; see 'funcattn " + command.name() + " --help'");
  }
  console.set_quiet(common.quiet);
  console.set_verbose(common.verbose);
  if (common.verbose) log_origins(console, table);
  if (processes) command.use_processes(*processes);
  const auto knows = [&](const std::string& name) {
    return std::any_of(table.options().begin(), table.options().end(),
                       [&](const Option& option) { return option.name() == name; });
  };
  try {
    return command.run(console);
  } catch (const UsageError& error) {
    throw UsageError(with_option_hints(error.what(), knows));
  } catch (const Cancelled&) {
    throw;  // Other processes are told of it as such.
  } catch (const Error& error) {
    throw Error(with_option_hints(error.what(), knows));
  }
}

int show_help(const Commands& commands, const std::vector<std::string>& topics, Console& console) {
  if (topics.empty()) {
    console.results() << overview(commands);
    return exit_done;
  }
  const bool markdown = topics.front() == "--markdown";
  for (const auto& command : commands) {
    if (!markdown && command != find_command(commands, topics.front())) continue;
    CommonOptions common;
    OptionTable table;
    command->describe(table);
    declare_common(table, common);
    console.results() << (markdown ? command_markdown(*command, table) + "\n"
                                   : command_help(*command, table));
  }
  return exit_done;
}

int dispatch(const std::vector<std::string>& arguments, const Commands& commands, Console& console,
             ProcessGroup* processes) {
  if (arguments.empty()) {
    console.log() << overview(commands);
    return exit_usage;
  }
  const std::string& first = arguments.front();
  const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  if (first == "--help" || first == "-h" || first == "help")
    return show_help(commands, first == "help" ? rest : std::vector<std::string>{}, console);
  if (first == "--version") {
    console.results() << version_report();
    return exit_done;
  }
  const auto& command = find_command(commands, first);
  console.set_program("funcattn " + command->name());
  return run_command(*command, rest, console, processes);
}

/// Where all but the first of several processes write.
class Nowhere : public std::streambuf {
 protected:
  int overflow(int character) override { return character == EOF ? 0 : character; }
  std::streamsize xsputn(const char*, std::streamsize count) override { return count; }
};

}  // namespace

std::string one_line(const std::exception& error) {
  const std::string text = error.what();
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
      text.find("can't allocate memory") != std::string::npos)
    return "out of memory: use a smaller mesh or a machine with more memory";
  if (dynamic_cast<const Error*>(&error) != nullptr) return text;
  return text.substr(0, text.find('\n'));
}

int run_command_line(int argc, const char* const* argv, const Commands& commands,
                     std::ostream& results, std::ostream& log, ProcessGroup* processes) {
  Console console(results, log, &log == &std::cerr && ::isatty(STDERR_FILENO) == 1);
  int status = exit_failed;
  try {
    status = run_together(processes, [&] {
      return dispatch({argv + std::min(argc, 1), argv + argc}, commands, console, processes);
    });
  } catch (const UsageError& error) {
    console.error(error.what());
    status = exit_usage;
  } catch (const std::exception& error) {
    console.error(one_line(error));
  }
  errno = 0;
  results.flush();
  if (!results) {
    const std::string reason = errno != 0 ? std::string(": ") + std::strerror(errno) : "";
    console.error("cannot write the results to standard output" + reason);
    if (status == exit_done) status = exit_failed;
  }
  return status;
}

int run_command_line(int argc, const char* const* argv, const Commands& commands,
                     ProcessGroup* processes) {
  if (!processes || processes->is_first())
    return run_command_line(argc, argv, commands, std::cout, std::cerr, processes);
  Nowhere nowhere;
  std::ostream silent(&nowhere);
  return run_command_line(argc, argv, commands, silent, silent, processes);
}

void Command::use_processes(ProcessGroup& processes) {
  throw UsageError("this command works in one process, but mpiexec started " +
                   std::to_string(processes.size()) + "; start it without mpiexec");
}

void declare_threads(OptionTable& table, int& threads) {
  table.value("threads", threads, "threads to use, LibTorch, OpenMP and BLAS together")
      .at_least(0)
      .at_most(most_threads)
      .default_text("0, the cores this process may use");
}

void declare_single_prediction(OptionTable& table, bool& single_prediction) {
  table.flag("single-prediction", single_prediction,
             "predict once where the operator was trained to predict the mean over 4 or 8 "
             "symmetries (train --average-symmetries): so much faster, less accurate");
}

}  // namespace funcattn
