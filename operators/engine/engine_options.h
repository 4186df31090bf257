#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/process_group.h"
#include "core/progress.h"

namespace funcattn {

/// Where the features of the points wait between two blocks, the only array that grows with the
/// number of points and the width.
enum class ActivationMemory {
  resident,    ///< n x width numbers in memory.
  spilled,     ///< In a temporary file that is read and written once per block.
  recomputed,  ///< Nowhere: computed anew from the inputs for every block, (L + 1)/2 times the
               ///< work.
};

const char* to_string(ActivationMemory memory);
/// Throws UsageError naming the possible values.
ActivationMemory activation_memory_from_string(const std::string& text);

/// Seconds by what they were spent on, in order.
using EngineProfile = std::vector<std::pair<std::string, double>>;

/// How the engine works; nothing here changes its results beyond rounding.
struct EngineOptions {
  ActivationMemory memory = ActivationMemory::resident;
  std::filesystem::path spill_folder;  ///< Empty: the system's folder for temporary files.
  int tile_points = 0;                 ///< Points between two float64 sums; < 1: a good number;
                                       ///< more than 4,096, or than there are, are as many.
  EngineProfile* profile = nullptr;    ///< Receives where the time went.
  /// Called from the thread that called predict(), a few hundred times at most, between two tiles.
  ProgressCallback progress;
  /// Those that hold the other points of the samples, each its own; null: this process holds all.
  /// All call predict() together, with batches of the same size.
  ProcessGroup* processes = nullptr;
  /// Results are bit-equal for any number of processes that hold the same pieces
  /// (PointSamples::pieces). Takes more memory, about 70 kB per 32,768 points or piece at width
  /// 128.
  bool fixed_order = false;
};

/// Throws FileError if options.memory is ActivationMemory::spilled and no temporary file can be
/// made in the folder.
void check_spill_folder(const EngineOptions& options);

}  // namespace funcattn
