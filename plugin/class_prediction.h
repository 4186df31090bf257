#pragma once

// Internal to the stage: outputs that are classes. Sees LibTorch.

#include <optional>
#include <string>

#include "operators/contract.h"
#include "plugin/prediction.h"

namespace funcattn {

/// Name and layout of the array that receives the share of each class.
ArraySpec probability_spec(const OutputArray& output, const std::string& suffix);

/// The mesh with the class of the largest logit, and the shares of all classes where the options
/// ask for them. On the other association (StageOptions::convert_association) it is the class whose
/// share, averaged, is the largest.
/// @param logits [points or cells of the mesh, classes]; rows of NaN become no_class
Mesh with_class_prediction(const Mesh& mesh, const OutputArray& output, const RowMatrix& logits,
                           const StageOptions& options);

/// Share of the results of positive weight whose class is known that is predicted right; nothing
/// where there are none.
/// @param truth the true classes
/// @param processes that hold the other results, which call it together
std::optional<double> class_accuracy(const OutputArray& output, const RowMatrix& logits,
                                     const Eigen::VectorXd& truth, const BoundStage& bound,
                                     ProcessGroup* processes);

}  // namespace funcattn
