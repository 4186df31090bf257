#pragma once

#include <string>

namespace funcattn {

/// What `funcattn --version` prints: the version and everything that results may depend on.
std::string version_report();

}  // namespace funcattn
