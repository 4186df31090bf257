#pragma once

#include <cstdlib>
#include <filesystem>

namespace funcattn::test {

/// The project's folder, which ctest names; the current one where a program is run by hand.
inline std::filesystem::path source_folder() {
  const char* folder = std::getenv("FUNCATTN_SOURCE_DIR");
  return folder ? folder : ".";
}

}  // namespace funcattn::test
