#include <algorithm>
#include <exception>
#include <iostream>

#include "bench/commands.h"
#include "core/error.h"
#include "core/text.h"
#include "plugin/cli/command_line.h"
#include "plugin/cli/option_help.h"

namespace funcattn {

namespace {

constexpr const char* program = "funcattn_engine_bench";

Commands all_commands() {
  Commands commands;
  commands.push_back(make_operator_command());
  commands.push_back(make_mesh_command());
  commands.push_back(make_inference_command());
  commands.push_back(make_training_command());
  commands.push_back(make_matrix_command());
  commands.push_back(make_stage_command());
  return commands;
}

void show_overview(std::ostream& out, const Commands& commands) {
  out << "usage: " << program << " COMMAND [OPTIONS], one measurement as a JSON object\n";
  for (const auto& command : commands)
    out << "  " << command->name() << ": " << command->summary() << "\n";
  out << "'" << program << " COMMAND --help' lists the options.\n";
}

void show_options(std::ostream& out, const Command& command, const OptionTable& table) {
  out << "usage: " << program << " " << command.name() << " [OPTIONS]: " << command.summary()
      << "\n";
  for (const Option& option : table.options())
    out << "  " << option_synopsis(option) << ": " << option.description()
        << (option.is_required() ? " (required)" : " [" + option.default_text() + "]") << "\n";
}

Command& find_command(const Commands& commands, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& command : commands) {
    if (command->name() == name) return *command;
    names.push_back(command->name());
  }
  const auto meant = closest_match(name, names);
  throw UsageError("unknown command '" + name + "': expected one of " + join(names, ", ") +
                   (meant ? "; did you mean '" + *meant + "'?" : ""));
}

int run(const std::vector<std::string>& arguments, Console& console) {
  const Commands commands = all_commands();
  if (arguments.empty() || arguments.front() == "--help" || arguments.front() == "-h") {
    show_overview(arguments.empty() ? console.log() : console.results(), commands);
    return arguments.empty() ? exit_usage : exit_done;
  }
  Command& command = find_command(commands, arguments.front());
  console.set_program(std::string(program) + " " + command.name());
  OptionTable table;
  command.describe(table);
  const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  if (std::find(rest.begin(), rest.end(), "--help") != rest.end()) {
    show_options(console.results(), command, table);
    return exit_done;
  }
  table.parse(rest);
  table.check_required();
  command.validate();
  return command.run(console);
}

}  // namespace

}  // namespace funcattn

int main(int argc, char** argv) {
  using namespace funcattn;
  Console console(std::cout, std::cerr, false);
  console.set_program(program);
  try {
    return run({argv + std::min(argc, 1), argv + argc}, console);
  } catch (const UsageError& error) {
    console.error(error.what());
    return exit_usage;
  } catch (const std::exception& error) {
    console.error(one_line(error));
    return exit_failed;
  }
}
