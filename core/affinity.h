#pragma once

namespace funcattn {

/// Number of cores that this process may use: the affinity mask, not the machine's total.
int available_cores();

}  // namespace funcattn
