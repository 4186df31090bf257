#include "core/byte_size.h"

#include <unistd.h>

#include <array>
#include <cstddef>

#include "core/text.h"

namespace funcattn {

std::string format_bytes(double bytes) {
  constexpr std::array<const char*, 5> units = {" bytes", " KiB", " MiB", " GiB", " TiB"};
  std::size_t unit = 0;
  // Three digits: from here on it would be written as 1e+03.
  for (; bytes >= 999.5 && unit + 1 < units.size(); ++unit) bytes /= 1024;
  return format_significant(bytes, 3) + units[unit];
}

double memory_of_machine() {
  return static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<double>(::sysconf(_SC_PAGESIZE));
}

}  // namespace funcattn
