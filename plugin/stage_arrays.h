#pragma once

// Internal to the stage: the arrays of the meshes before and after a prediction. Sees LibTorch.

#include <string>
#include <vector>

#include "operators/contract.h"
#include "plugin/prediction.h"

namespace funcattn {

/// An output and its place in the operator's result, where it has spec.channels() columns.
struct OutputColumns {
  OutputArray spec;
  Eigen::Index first = 0;
};

/// The outputs that StageOptions::outputs asks for, in its order, each once; all in the order of
/// the contract where it is empty. Throws UsageError for a name that is none of the contract's.
std::vector<OutputColumns> wanted_outputs(const Contract& contract, const StageOptions& options);

/// Name and layout of the array that receives an output.
ArraySpec predicted_spec(const ArraySpec& output, const std::string& suffix);

/// Names of all arrays that the options ask for, in the order of the outputs.
std::vector<std::string> predicted_names(const Contract& contract, const StageOptions& options);

/// Throws DataError if an array of a predicted name stands in the way.
void check_names_are_free(const std::vector<Mesh>& meshes, const Contract& contract,
                          const StageOptions& options);

/// The meshes with the inputs (and true arrays of fields) that exist on the other association only
/// converted, where the options ask for it; otherwise the meshes themselves.
std::vector<Mesh> with_converted_inputs(const std::vector<Mesh>& meshes, const Contract& contract,
                                        const StageOptions& options);

/// The meshes with their share of the prediction, [results, output components]; handed back on the
/// other association too where that was asked for, and without unusable entries with
/// NanPolicy::drop. Throws DataError for those in images and grids.
std::vector<Mesh> with_prediction(const std::vector<Mesh>& meshes, const BoundStage& bound,
                                  const RowMatrix& prediction, const Contract& contract,
                                  const StageOptions& options);

/// The true arrays of StageOptions::error_against, each in the first of the columns that its output
/// has in the operator's result. Throws UsageError if there is not
/// one per output that is wanted, DataError if a mesh lacks one or it holds NaN where the weight is
/// positive (with NanPolicy::error; otherwise such entries get weight 0), or what is no class.
RowMatrix true_values(const std::vector<Mesh>& meshes, const Contract& contract,
                      const StageOptions& options, Eigen::VectorXd& weights);

/// Errors of the prediction at the results of `bound`, whose weights they take. Throws DataError
/// where no result has a true class.
std::vector<ArrayError> array_errors(const RowMatrix& prediction, const RowMatrix& truth,
                                     const BoundStage& bound, const Contract& contract,
                                     const StageOptions& options);

}  // namespace funcattn
