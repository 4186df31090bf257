#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "examples/evaluate/report.h"
#include "examples/sine/functions.h"
#include "operators/operator.h"

namespace funcattn {

/// What to measure of a sine operator. Every case uses the same functions and contexts.
struct SineEvaluationOptions {
  SineProtocol protocol = SineProtocol::few_shot;
  std::vector<int> factors = {1, 2, 4, 8, 16, 32};  ///< Grid density over the training density.
  std::vector<int> context = {4, 5, 10, 20, 40};
  int resolution_context = 0;    ///< K of all but the context study; 0: 10, masked grid 4.
  bool amplitude_shift = false;  ///< Amplitudes in [5, 10].
  bool x_shift = false;          ///< Context and queries in [-3, 15].
  int episodes = 200;
  std::uint64_t seed = 1;

  int shared_context() const;
  /// Throws UsageError.
  void validate() const;
};

/// Protocol that the operator was trained with according to its file; few-shot where unknown.
SineProtocol trained_protocol(const Operator& op);

/// Fills resolutions and studies. Throws DataError if the operator is not one of the sine task.
void evaluate_sine(const Operator& op, const SineEvaluationOptions& options,
                   OperatorEvaluation& evaluation);

/// One function at the coarsest and at the densest sampling, predicted by all operators.
std::vector<SampleView> sine_views(const std::vector<const Operator*>& operators,
                                   const std::vector<std::string>& names,
                                   const SineEvaluationOptions& options);

}  // namespace funcattn
