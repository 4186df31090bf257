#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "operators/model.h"

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

/// Seconds by what they were spent on.
using EngineProfile = std::vector<std::pair<std::string, double>>;

struct EngineOptions {
  ActivationMemory memory = ActivationMemory::resident;
  std::filesystem::path spill_folder;  ///< Empty: the system's folder for temporary files.
  int tile_points = 0;                 ///< Points between two float64 sums; < 1: a good number.
  EngineProfile* profile = nullptr;    ///< Receives where the time went.
};

/// Exact inference of a model of any form in memory that does not grow with heads and basis. Points
/// stream through in tiles: a visit to a tile finishes one block and adds the points' share of the
/// next block's coefficients, so L blocks take L + 1 visits. Sums are float64 across tiles, in an
/// order that depends on the tiles alone: results are bit-equal for any number of threads.
///
/// Holds the weights as they were when it was made. predict() may run in several threads at once.
class InferenceEngine {
 public:
  /// The weights must be on the CPU.
  explicit InferenceEngine(const Model& model);
  ~InferenceEngine();
  InferenceEngine(InferenceEngine&&) noexcept;

  /// As Model::predict, without gradients. Uses at::get_num_threads() threads. Throws DataError
  /// where memory does not suffice, FileError where the temporary file cannot be written.
  Tensor predict(const PointSamples& source, const PointSamples& query,
                 const EngineOptions& options = {}) const;

  /// The instruction set in use.
  static const char* kernels();

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace funcattn
