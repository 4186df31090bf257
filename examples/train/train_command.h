#pragma once

#include <memory>

#include "plugin/cli/command.h"

namespace funcattn {

/// `funcattn train`: an operator from a folder of VTK files or from a generated task.
std::unique_ptr<Command> make_train_command();

}  // namespace funcattn
