#pragma once

#include <string>

#include "plugin/stage.h"

namespace funcattn {

/// Sets what funcattn.h describes under `key`; null gives the default back. Throws UsageError for
/// unknown keys, with the likely one, and for values that are not possible.
void set_job_option(const std::string& key, const char* value, StageOptions& options);

}  // namespace funcattn
