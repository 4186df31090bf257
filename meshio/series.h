#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace funcattn {

/// One file of a time series.
struct TimedFile {
  std::filesystem::path file;
  std::optional<double> time = {};  ///< As the series says; the file itself may say more.
  std::string group = {};           ///< What else a collection says of the file.
  std::string part = {};
  std::string name = {};
};

/// What a list does about files that are not there.
enum class MissingFiles {
  refuse,  ///< It is damaged.
  keep,    ///< Whoever reads the file will say so.
};

/// Entries of a ParaView collection, in its order; paths as they lead from here, times as they
/// stand there. Several entries of one time are the parts of one step. Throws FileError if it is
/// damaged, has no entries, a time that is no finite number, or names a file that is missing.
std::vector<TimedFile> read_pvd(const std::filesystem::path& path,
                                MissingFiles missing = MissingFiles::refuse);

/// Writes a collection atomically: paths relative to its folder where they are below it, times in
/// full digits (the position in the series where an entry has none). Throws FileError.
void write_pvd(const std::filesystem::path& path, const std::vector<TimedFile>& entries);

/// The files of the numbered series that `file` belongs to ("wave_0001.vtu", "wave_0002.vtu"), in
/// the order of the numbers; just `file` where there are no others. Only the last number of the
/// name counts.
std::vector<std::filesystem::path> numbered_series(const std::filesystem::path& file);

}  // namespace funcattn
