#pragma once

#include "core/process_group.h"

namespace funcattn {

/// Number of cores that this process may use: the affinity mask, not the machine's total.
int available_cores();

/// As above where several processes of the group share the same cores: this one's part of them.
/// Called by all processes together.
int available_cores(ProcessGroup& processes);

}  // namespace funcattn
