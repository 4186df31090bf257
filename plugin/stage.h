#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/progress.h"
#include "meshio/mesh.h"
#include "meshio/mesh_tree.h"
#include "operators/engine/engine_options.h"
#include "operators/inspection_figures.h"
#include "plugin/nan_policy.h"

namespace funcattn {

/// More are a mistake, and OpenMP ends the process that cannot start them.
constexpr int most_threads = 1024;

struct StageOptions {
  std::string weights;                ///< auto, uniform, measure or array:NAME; empty: the choice
                                      ///< recorded in the operator file.
  std::string suffix = "_predicted";  ///< Appended to the output names of the contract.
  bool overwrite = false;             ///< Replace an array that has a predicted name.
  NanPolicy nan = NanPolicy::error;
  bool per_block = false;            ///< Each leaf of a tree is a sample of its own.
  bool convert_association = false;  ///< Take inputs that exist on the other association only, and
                                     ///< hand the prediction back on that one as well.
  bool interpolate_inputs = false;   ///< Inputs that a query mesh lacks come from the source.
  /// True arrays, one per output that is handed back, in their order; empty: no errors.
  std::vector<std::string> error_against;
  /// Names in the contract of the outputs to hand back, in this order; empty: all, in the order of
  /// the contract.
  std::vector<std::string> outputs;
  /// Of an operator that predicts the mean over the symmetries of its contract, predict once, which
  /// takes a fourth or an eighth of the time; UsageError for any other.
  bool single_prediction = false;
  /// For outputs that are classes: beside the class also the share of each class, as an array
  /// NAME_probability with one component per class.
  bool probabilities = false;
  /// Values of the contract's parameters by name, one number per component. They count more than
  /// the field data of the meshes, where the others must stand.
  std::map<std::string, std::vector<double>> parameters;
  int threads = 0;  ///< < 1: the cores this process may use; at most most_threads.
  /// cpu, cuda, cuda:N, or auto: a GPU where there is one, else the CPU with a note. On the CPU the
  /// engine computes, in memory that does not grow with heads and basis; on a GPU the operations of
  /// the model do, without tiles and `engine`, so that results differ by rounding.
  std::string device = "cpu";
  EngineOptions engine;  ///< Memory; changes no result.
  /// Called from the thread that called run(), at most a few hundred times for each sample, from 0
  /// to 1. Where it returns false, run() throws Cancelled within a small part of a second's work
  /// and has changed nothing. Takes the place of `engine.progress`.
  ProgressCallback progress;

  // A look inside, which changes no predicted value; docs/inspect.md names the arrays.
  bool add_basis = false;        ///< Basis functions as arrays beside the prediction.
  bool add_transport = false;    ///< Transport matrices as field data of the (first) mesh.
  bool report_heads = false;     ///< Fill StageReport::inspections.
  InspectionOptions inspection;  ///< Which blocks, and how; `keep_basis` follows add_basis.
};

/// How far one predicted array is from the array that was named as the truth, over all points (or
/// cells) of positive quadrature weight.
///
/// Of classes only the accuracy is known: the share of these points, each counting alike, whose
/// class is predicted right, those left out whose true class is the one that training ignored.
struct ArrayError {
  std::string array;
  std::string truth;
  std::optional<double> accuracy{};  ///< Of classes; the other figures are then NaN.
  double relative_l2 = 0;            ///< |p - t| / |t| in the L2 norm weighted by the quadrature.
  double rmse = 0;                   ///< In the unit of the array.
  double max_error = 0;
};

/// What the heads of an operator did with one sample.
struct SampleInspection {
  std::string sample;
  std::vector<HeadInspection> heads;  ///< By block, then by head.
};

/// What happened besides the prediction.
struct StageReport {
  std::int64_t entries = 0;           ///< Points (or cells) that got a prediction, NaN included.
  std::int64_t unusable = 0;          ///< Of these, masked or dropped for NaN.
  std::vector<std::string> arrays;    ///< Names of the predicted arrays on the result.
  std::string device;                 ///< That computed: "cpu" or "cuda:N".
  std::vector<std::string> notes;     ///< What was chosen for want of something else.
  std::vector<std::string> warnings;  ///< Outside the training range, no points, ...
  std::vector<ArrayError> errors;     ///< One per output where StageOptions::error_against asks.
  /// One per sample where StageOptions::report_heads asks.
  std::vector<SampleInspection> inspections;
};

struct StageResult : StageReport {
  Mesh mesh;  ///< The input with the predicted arrays added.
};

struct TreeResult : StageReport {
  MeshTree tree;  ///< The input (or query) with the predicted arrays added to its leaves.
};

/// A trained operator, ready to be applied to meshes of any size. Loaded once; run() is const and
/// may be called from several threads.
///
/// All leaves of a tree are one sample, since the operator is global: their points are joined, each
/// with its quadrature weight, and every leaf gets its part of the result. Ghost and hidden points
/// take no part and get a value. Of an output that has classes, the array holds the class of the
/// largest logit as 32-bit integers, and -1 (no_class) where fields are NaN. A parameter of the
/// contract is one tuple in the field data of the mesh, or of a tree or its leaves, which must
/// agree where they are one sample; where each leaf is its own, its value counts more than that of
/// the tree. A query's field data are asked last. The parameter "TimeValue" is the time of the
/// tree, where it has one.
class OperatorStage {
 public:
  /// Reads and verifies an operator file. Throws OperatorFileError.
  explicit OperatorStage(const std::filesystem::path& operator_file);
  ~OperatorStage();
  OperatorStage(OperatorStage&&) noexcept;
  OperatorStage& operator=(OperatorStage&&) noexcept;

  /// Arrays, coordinates and units, as recorded in the file (docs/operator_file.md).
  const Json& contract() const;

  /// Predicts at the points (or cells) of the mesh. Throws DataError, naming file, block and array,
  /// where the mesh does not hold what the contract names, or holds NaN there and
  /// StageOptions::nan does not allow it; UsageError for options that contradict each other, the
  /// file or this machine; NumericError if the prediction is not finite; Cancelled where
  /// StageOptions::progress asks for an end. The input is never modified. A mesh without points
  /// comes back with the output arrays declared and a warning.
  StageResult run(const Mesh& mesh, const StageOptions& options = {}) const;
  TreeResult run(const MeshTree& tree, const StageOptions& options = {}) const;

  /// Evaluates the operator built on `source` at the points (or cells) of `query`, which comes back
  /// with all that it had and the predicted arrays. Forms that separate source and query need only
  /// the coordinates of the query (and, `paper` with cross, its inputs). For the others the query
  /// must hold the inputs, or StageOptions::interpolate_inputs takes them from the source; its
  /// points then join the source with weight 0. Throws DataError as run() does, and for query
  /// points outside the source where inputs are to be interpolated.
  TreeResult run(const MeshTree& source, const MeshTree& query,
                 const StageOptions& options = {}) const;

  /// What run() would hand back, with 0 in place of every prediction: finds what run() would
  /// refuse, short of computing. `query` may be null. Throws as run() does, and FileError if
  /// nothing can be spilled to EngineOptions::spill_folder.
  TreeResult check(const MeshTree& source, const MeshTree* query,
                   const StageOptions& options = {}) const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// One call: load, run, forget. Use OperatorStage to run more than once.
StageResult run(const Mesh& mesh, const std::filesystem::path& operator_file,
                const StageOptions& options = {});
TreeResult run(const MeshTree& tree, const std::filesystem::path& operator_file,
               const StageOptions& options = {});

}  // namespace funcattn
