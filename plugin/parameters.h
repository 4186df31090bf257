#pragma once

// Internal to the stage.

#include <string>
#include <vector>

#include "operators/contract.h"
#include "plugin/stage.h"
#include "plugin/stage_meshes.h"

namespace funcattn {

/// The components of all parameters of the contract in its order: from the options, the field data
/// of the source, or those of the query, if there is one; "TimeValue" also from their time. A value
/// outside the range of training is added to `warnings`.
/// Throws UsageError for values in the options that no parameter has or that are not as many as its
/// components; DataError for parameters without a value, with another number of components, with
/// NaN or Inf, and where meshes that are one sample disagree.
std::vector<double> parameter_values(const Contract& contract, const StageMeshes& source,
                                     const StageMeshes* query, const StageOptions& options,
                                     std::vector<std::string>& warnings);

}  // namespace funcattn
