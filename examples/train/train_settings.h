#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "examples/sine/sine_task.h"
#include "examples/train/train_options.h"
#include "examples/vtk_samples.h"
#include "meshio/sampling.h"
#include "operators/training/augmentation.h"
#include "operators/training/batch_source.h"
#include "plugin/cli/option_table.h"

namespace funcattn {

/// Everything that the user says of a training run.
struct TrainSettings {
  std::filesystem::path data;
  std::filesystem::path query_data;  ///< Empty: each sample is one mesh.
  QuerySettings query;
  std::string task;
  ArrayChoice arrays;
  std::string association;
  std::optional<int> ignored_class;
  std::optional<double> validation_fraction;  ///< 0.1 where nothing is said.
  Symmetries symmetries = Symmetries::none;
  std::vector<double> symmetry_center;
  bool averages_symmetries = false;
  bool rotations = false;
  std::int64_t points = 0;
  std::optional<SamplingMethod> point_choice;
  SineTaskOptions sine;
  ModelOptions model;
  OptimisationOptions optimisation;
  std::string dtype = "float32";
  std::uint64_t seed = 0;
  std::filesystem::path out;
  std::int64_t validate_every = 0;
  std::int64_t log_every = 100;
  bool resume = false;
  bool overwrite = false;
  bool json = false;
  int threads = 0;
  Parallel parallel = Parallel::samples;

  void describe(OptionTable& table);
  /// Throws UsageError for what the options by themselves show to be wrong.
  void validate() const;

 private:
  void validate_query() const;
};

}  // namespace funcattn
