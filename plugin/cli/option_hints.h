#pragma once

#include <functional>
#include <string>
#include <vector>

namespace funcattn {

/// Whether a command has the option of this name: "nan".
using KnownOption = std::function<bool(const std::string&)>;

/// A message of the library in the words of a command: with those of its options that do what the
/// message advises, "...; choose another suffix or allow overwriting (--suffix, --overwrite)", and
/// without advice that it has no option for. A message that names them already stays as it is.
std::string with_option_hints(
    const std::string& message, const KnownOption& knows = [](const std::string&) { return true; });

}  // namespace funcattn
