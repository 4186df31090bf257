#pragma once

#include <optional>

#include "core/json.h"
#include "core/process_group.h"
#include "meshio/mesh_tree.h"
#include "meshio/piece_set.h"
#include "meshio/reader.h"
#include "plugin/cli/run_plan.h"
#include "plugin/stage.h"

namespace funcattn {

/// Runs single jobs with one operator and one query mesh, each loaded once. process() may be called
/// from several threads.
class JobRunner {
 public:
  /// Loads operator and query. Throws OperatorFileError, FileError, UsageError for a device that is
  /// not there.
  /// @param processes that share the pieces of each mesh and call process() together; null: none
  JobRunner(const RunOptions& options, OutputGuard& guard, ProcessGroup* processes = nullptr);

  /// Reads, predicts and writes one job; with --dry-run, checks it. `job.output` gets the extension
  /// that was chosen.
  /// @return what the summary reports: input, output, points (or cells), arrays, seconds, warnings,
  ///   and inputs, weights, errors, profile, masked or dropped entries where there are any
  Json process(RunJob& job) const;

 private:
  /// A mesh, of which this process may hold some pieces only.
  struct Held {
    MeshTree tree;
    std::optional<PieceSet> pieces;  ///< Where it is in pieces; their tree is `tree`.
  };

  Held read(const std::filesystem::path& file, const ReadOptions& options) const;
  Held read(const RunJob& job) const;
  /// Writes the result, whose tree is `result`. @param target the mesh that it belongs to
  void write(const RunJob& job, const Held& target, const MeshTree& result) const;
  void check_write(const RunJob& job, const Held& target, const MeshTree& result) const;
  bool writes(const Held& target) const;
  ResampledTree resampled(const MeshTree& tree) const;
  std::vector<std::string> unused_options(const RunJob& job, const ResampledTree& source) const;
  Json process_here(RunJob& job) const;
  /// Gives the output another extension where it has none or `result` is of another class.
  void choose_extension(RunJob& job, const MeshTree& given, const MeshTree& result) const;

  const RunOptions& options_;
  OutputGuard& guard_;
  ProcessGroup* processes_;
  OperatorStage stage_;
  std::optional<Held> query_;
  int threads_ = 0;
};

/// The lines that tell people of a processed job.
std::string job_text(const Json& report);

/// Mean of the errors over the processed jobs, one entry per array; empty where none were measured.
Json mean_errors(const Json& reports);

/// "  pressure_predicted against p: relative L2 0.012, RMSE 3.4, largest 11", or, of classes,
/// "  label_predicted against label: accuracy 0.93"
std::string error_text(const Json& error);

}  // namespace funcattn
