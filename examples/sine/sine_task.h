#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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
  std::optional<int> queries;    ///< train, drawn on the fly: points per function and step; 64.
  std::optional<int> functions;  ///< train, otherwise: size of the fixed training set; 1000.

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
  Json record = Json::object();  ///< Of how the functions were drawn.
};

/// Recipe of a protocol: the few_shot form; `sum_coefficients` has sizes of its own.
Recipe sine_recipe(const SineTaskOptions& options, const std::string& form);

/// Few-shot, of the form few_shot: endless batches drawn on the fly. Otherwise: a fixed set of
/// functions, shuffled. Validation functions are drawn from another seed. Throws UsageError where
/// the options have no effect.
SineTraining make_sine_training(const SineTaskOptions& options, Form form, int batch,
                                std::uint64_t seed);

}  // namespace funcattn
