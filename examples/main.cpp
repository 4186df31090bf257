#include <exception>
#include <iostream>

#include "examples/evaluate/evaluate_command.h"
#include "examples/generate/generate_command.h"
#include "examples/inspect/inspect_command.h"
#include "examples/train/train_command.h"
#include "plugin/cli/command_line.h"
#include "plugin/cli/import_command.h"
#include "plugin/cli/info_command.h"
#include "plugin/cli/run_command.h"
#include "plugin/cli/signals.h"
#include "plugin/mpi/mpi_session.h"

int main(int argc, char** argv) {
  funcattn::handle_signals();
  try {
    const funcattn::MpiSession session(&argc, &argv);
    funcattn::Commands commands;
    commands.push_back(funcattn::make_generate_command());
    commands.push_back(funcattn::make_train_command());
    commands.push_back(funcattn::make_evaluate_command());
    commands.push_back(std::make_unique<funcattn::RunCommand>());
    commands.push_back(funcattn::make_inspect_command());
    commands.push_back(std::make_unique<funcattn::InfoCommand>());
    commands.push_back(std::make_unique<funcattn::ImportCommand>());
    return funcattn::run_command_line(argc, argv, commands, session.processes());
  } catch (const std::exception& error) {
    std::cerr << "funcattn: " << error.what() << "\n";
    return funcattn::exit_failed;
  }
}
