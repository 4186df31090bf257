#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "operators/model.h"
#include "operators/safetensors.h"
#include "operators/training/adamw.h"
#include "operators/training/weight_average.h"

namespace funcattn {

inline constexpr int training_state_version = 1;

/// All that a run needs to continue as if it had never stopped. Holds the weights too, so that the
/// one rename of its file commits a step as a whole.
struct TrainingState {
  Json course;  ///< Options, model and contract that decide how training proceeds.
  std::int64_t step = 0;
  double seconds = 0;           ///< Training time so far.
  double loss_sum = 0;          ///< Over the samples since the last report.
  std::int64_t loss_count = 0;  ///< Samples since the last report.
  double final_loss = 0;        ///< Of the last report; NaN before the first.
  double accuracy_sum = 0;      ///< Of classes, as the loss.
  std::int64_t accuracy_count = 0;
  std::optional<double> final_accuracy;
  std::optional<double> best_validation;
  std::optional<double> best_accuracy;  ///< Of the validation samples at the best step.
  std::int64_t best_step = 0;
  Json batches;         ///< BatchSource::state().
  Safetensors tensors;  ///< Those of state_tensors().
};

/// Written as a safetensors container whose metadata holds "format" = "funcattn-training-state",
/// "format_version" and the JSON text "state". Atomic. Throws FileError.
void write_training_state(const std::filesystem::path& path, const TrainingState& state);

/// Throws FileError if there is no such file, OperatorFileError if it is damaged, of another
/// format or version.
TrainingState read_training_state(const std::filesystem::path& path);

/// An entry that two courses do not have alike, as JSON text, or "absent".
struct Difference {
  std::string name;  ///< Dotted: optimiser.beta1.
  std::string first, second;
};
std::vector<Difference> differences_of(const Json& first, const Json& second);

/// Throws UsageError naming every entry in which the course of a stored run and that of the
/// present one differ, with both values. The statistics of samples in pieces depend in their last
/// digits on how many processes add them up: within 1e-9 of the scale they are the same.
void require_same_course(const Json& stored, const Json& present,
                         const std::filesystem::path& path);

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// The live tensors of a run under the names that they have in the file: weights.NAME of all
/// parameters and buffers; first_moment.NAME, second_moment.NAME and, where weights are averaged,
/// average.NAME of the trained ones.
NamedTensors state_tensors(const Model& model, const FlatParameters& parameters,
                           const AdamW& optimiser, const WeightAverage& average);

/// Puts stored tensors into the live ones. Names, shapes and dtypes are compared both ways before
/// anything is copied. Throws OperatorFileError.
void restore_tensors(const Safetensors& stored, const NamedTensors& live,
                     const std::filesystem::path& path);

}  // namespace funcattn
