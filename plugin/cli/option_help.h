#pragma once

#include <string>

#include "plugin/cli/command.h"
#include "plugin/cli/option_table.h"

namespace funcattn {

/// What `funcattn COMMAND --help` prints: usage, arguments, options by group with defaults, units
/// and choices, and the examples.
std::string command_help(const Command& command, const OptionTable& table);

/// The same as a Markdown section, for the documentation.
std::string command_markdown(const Command& command, const OptionTable& table);

/// "-o, --output FILE" or "INPUT...".
std::string option_synopsis(const Option& option);

/// `text` in lines of at most `width` characters; lines after the first start with `indent` spaces.
std::string wrap(const std::string& text, std::size_t width, std::size_t indent);

}  // namespace funcattn
