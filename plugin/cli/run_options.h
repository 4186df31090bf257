#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "meshio/sampling.h"
#include "meshio/writer.h"
#include "plugin/cli/option_table.h"
#include "plugin/stage.h"

namespace funcattn {

/// What `funcattn run` is asked to do.
struct RunOptions {
  std::vector<std::filesystem::path> inputs;
  std::filesystem::path operator_file;
  std::string weights;  ///< Empty: as in training.
  bool single_prediction = false;
  NanPolicy nan = NanPolicy::error;
  bool per_block = false;
  bool convert_association = false;
  std::filesystem::path query;  ///< Empty: the result belongs to the input.
  bool interpolate_inputs = false;
  std::optional<std::string> resample;
  std::optional<SamplingMethod> resample_method;
  std::optional<std::uint64_t> seed;
  std::vector<std::string> error_against;
  std::vector<std::string> parameters;  ///< NAME=VALUE[,VALUE...]

  std::filesystem::path output;
  std::vector<std::string> outputs;  ///< Empty: all.
  bool probabilities = false;
  std::string suffix = "_predicted";
  bool overwrite = false;
  std::optional<Encoding> encoding;
  std::optional<Compression> compression;
  std::optional<int> compression_level;
  bool dry_run = false;
  bool list_formats = false;
  bool json = false;

  int files_at_once = 1;
  int threads = 0;
  std::string device = "cpu";
  ActivationMemory memory = ActivationMemory::resident;
  std::filesystem::path spill_folder;  ///< Empty: the system's folder for temporary files.
  bool fixed_order = false;
  bool profile = false;

  void describe(OptionTable& table);
  /// Throws UsageError for values that are malformed, contradict each other or would have no
  /// effect.
  void validate() const;

  /// Threads for each of the files that are processed at once, >= 1.
  int threads_per_file() const;
  StageOptions stage_options() const;
  WriteOptions write_options() const;
  Resampling resampling() const;  ///< Of `resample`, which must have been given.
  /// What of the options for a coarser mesh was given: "--seed and --resample-method".
  std::string choice_options() const;
  /// Why options about encoding have no effect on such a file; empty: they have.
  std::string unused_encoding(const std::filesystem::path& result) const;
};

}  // namespace funcattn
