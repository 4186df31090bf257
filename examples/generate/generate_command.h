#pragma once

#include <memory>

#include "plugin/cli/command.h"

namespace funcattn {

/// `funcattn generate TASK`: data sets of VTK files.
std::unique_ptr<Command> make_generate_command();

}  // namespace funcattn
