#pragma once

#include <string>

namespace funcattn {

/// An amount of memory for people, three digits: "27 bytes", "4.5 KiB", "458 MiB", "1.02 GiB".
std::string format_bytes(double bytes);

/// Bytes of physical memory.
double memory_of_machine();

}  // namespace funcattn
