#pragma once

#include <string>

namespace funcattn {

/// A message of the library with the options of `funcattn run` that do what it advises:
/// "...; choose another suffix or allow overwriting (--suffix, --overwrite)".
std::string with_option_hints(const std::string& message);

}  // namespace funcattn
