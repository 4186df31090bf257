#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace funcattn {

/// A file, or a file with others that it refers to, to be damaged.
struct Original {
  std::string name;
  std::filesystem::path folder;  ///< All files in it belong to this original.
  std::filesystem::path main;    ///< What is read.
};

/// One small original per format and encoding, stored in folders of their own below `folder`.
std::vector<Original> store_originals(const std::filesystem::path& folder);

/// What became of a damaged original.
enum class Outcome { refused, read };

/// Damages one file of the original, by the rules that follow from `seed` (flipped bits, bytes set
/// to 0 or 255, numbers in text replaced by extreme ones, parts cut out, repeated or moved, the end
/// cut off), reads it, uses all that was read, and puts the file back. Throws std::logic_error for
/// anything but a mesh or a FileError of one line (a DataError where coordinates became infinite).
Outcome try_mutant(const Original& original, std::uint64_t seed);

}  // namespace funcattn
