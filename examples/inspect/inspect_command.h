#pragma once

#include <memory>

#include "plugin/cli/command.h"

namespace funcattn {

/// `funcattn inspect`: basis functions, transport matrices and their figures at one mesh, as
/// arrays, table, JSON and pictures.
std::unique_ptr<Command> make_inspect_command();

}  // namespace funcattn
