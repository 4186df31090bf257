#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "examples/sine/functions.h"
#include "examples/train/train_options.h"
#include "operators/training/batch_source.h"
#include "plugin/cli/option_table.h"

namespace funcattn {

/// Options of the sine task, alike in generate, train and evaluate.
struct SineTaskOptions {
  std::string protocol = "few-shot";
  std::vector<int> context = {4, 40};  ///< train: K, or smallest and largest K.
  int queries = 64;                    ///< train, few-shot: query points per function and step.
  int functions = 1000;                ///< train, masked-grid: size of the fixed training set.

  /// For `train`.
  void describe_training(OptionTable& table);
  /// Throws UsageError.
  void validate() const;
};

/// What training the sine task needs.
struct SineTraining {
  Contract contract;
  std::unique_ptr<BatchSource> batches;
  std::vector<Sample> validation;
};

/// Recipe of a protocol: the few_shot form; `sum_coefficients` has sizes of its own.
Recipe sine_recipe(const SineTaskOptions& options, const std::string& form);

/// Few-shot: endless batches drawn on the fly. Masked grid: a fixed set of functions, shuffled.
/// Validation functions are drawn from another seed.
SineTraining make_sine_training(const SineTaskOptions& options, Form form, int batch,
                                std::uint64_t seed);

}  // namespace funcattn
