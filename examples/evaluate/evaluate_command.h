#pragma once

#include <memory>

#include "plugin/cli/command.h"

namespace funcattn {

/// `funcattn evaluate`: errors by resolution and out of distribution, as table, JSON and picture.
std::unique_ptr<Command> make_evaluate_command();

}  // namespace funcattn
