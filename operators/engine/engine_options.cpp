#include "operators/engine/engine_options.h"

#include "core/error.h"

namespace funcattn {

const char* to_string(ActivationMemory memory) {
  switch (memory) {
    case ActivationMemory::resident:
      return "resident";
    case ActivationMemory::spilled:
      return "spilled";
    case ActivationMemory::recomputed:
      return "recomputed";
  }
  return "";
}

ActivationMemory activation_memory_from_string(const std::string& text) {
  for (const auto memory :
       {ActivationMemory::resident, ActivationMemory::spilled, ActivationMemory::recomputed})
    if (text == to_string(memory)) return memory;
  throw UsageError("memory: unknown kind '" + text + "'; choose resident, spilled or recomputed");
}

}  // namespace funcattn
