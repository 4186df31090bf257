#include "core/affinity.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <thread>

namespace funcattn {

int available_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) return std::max(1, CPU_COUNT(&mask));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int available_cores(ProcessGroup& processes) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  (void)sched_getaffinity(0, sizeof mask, &mask);
  char host[256] = {};
  (void)::gethostname(host, sizeof host - 1);
  const std::string mine =
      host + std::string(1, '\0') + std::string(reinterpret_cast<const char*>(&mask), sizeof mask);
  const auto all = processes.gather(mine);
  const auto sharing = static_cast<int>(std::count(all.begin(), all.end(), mine));
  return std::max(1, available_cores() / sharing);
}

}  // namespace funcattn
