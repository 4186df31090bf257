#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/json.h"
#include "meshio/mesh.h"

namespace funcattn {

struct StageOptions {
  std::string weights;                ///< auto, uniform, measure or array:NAME; empty: the choice
                                      ///< recorded in the operator file.
  std::string suffix = "_predicted";  ///< Appended to the output names of the contract.
  bool overwrite = false;             ///< Replace an array that has a predicted name.
  int threads = 0;                    ///< < 1: the cores this process may use.
};

struct StageResult {
  Mesh mesh;                          ///< The input with the predicted arrays added.
  std::vector<std::string> warnings;  ///< Outside the training range, no points, ...
};

/// A trained operator, ready to be applied to meshes of any size. Loaded once; run() is const and
/// may be called from several threads.
class OperatorStage {
 public:
  /// Reads and verifies an operator file. Throws OperatorFileError.
  explicit OperatorStage(const std::filesystem::path& operator_file);
  ~OperatorStage();
  OperatorStage(OperatorStage&&) noexcept;
  OperatorStage& operator=(OperatorStage&&) noexcept;

  /// Arrays, coordinates and units, as recorded in the file (docs/operator_file.md).
  const Json& contract() const;

  /// Predicts at the points (or cells) of the mesh. Throws DataError where the mesh does not hold
  /// what the contract names, or holds NaN there; the input is never modified. A mesh without
  /// points comes back with the output arrays declared and a warning.
  StageResult run(const Mesh& mesh, const StageOptions& options = {}) const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// One call: load, run, forget. Use OperatorStage to run more than once.
StageResult run(const Mesh& mesh, const std::filesystem::path& operator_file,
                const StageOptions& options = {});

}  // namespace funcattn
