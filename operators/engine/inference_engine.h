#pragma once

#include <memory>

#include "operators/engine/engine_options.h"
#include "operators/model.h"

namespace funcattn {

/// Exact inference of a model of any form in memory that does not grow with heads and basis. Points
/// stream through in tiles: a visit to a tile finishes one block and adds the points' share of the
/// next block's coefficients, so L blocks take L + 1 visits. Sums are float64 across tiles, in an
/// order that depends on the tiles alone: results are bit-equal for any number of threads.
///
/// Holds the weights as they were when it was made. predict() may run in several threads at once.
class InferenceEngine {
 public:
  /// Throws UsageError unless the weights are on the CPU and Model::has_engine().
  explicit InferenceEngine(const Model& model);
  ~InferenceEngine();
  InferenceEngine(InferenceEngine&&) noexcept;

  /// As Model::predict, without gradients. Uses at::get_num_threads() threads. Throws DataError
  /// where memory does not suffice, FileError where the temporary file cannot be written, Cancelled
  /// where EngineOptions::progress asks for an end.
  Tensor predict(const PointSamples& source, const PointSamples& query,
                 const EngineOptions& options = {}) const;

  /// The instruction set in use.
  static const char* kernels();

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace funcattn
