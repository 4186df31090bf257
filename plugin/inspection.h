#pragma once

// Internal to the stage: what it adds and reports of the inside of its operator. Sees LibTorch.

#include <string>
#include <vector>

#include "plugin/prediction.h"

namespace funcattn {

bool asks_for_inspection(const StageOptions& options);

/// Throws UsageError for blocks that the operator has not, DataError if an array of a name that
/// StageOptions::add_basis or add_transport will use stands in the way.
void check_inspection(const Operator& op, const std::vector<Mesh>& meshes,
                      const StageOptions& options);

/// Evaluates the operator once more, by tensor operations, block by block.
/// @param meshes those that get the results
/// @return the meshes with the arrays that were asked for; NaN where unusable
/// Throws DataError where memory would not suffice.
std::vector<Mesh> inspect_sample(const Operator& op, const BoundStage& bound,
                                 std::vector<Mesh> meshes, const std::string& origin,
                                 const StageOptions& options, StageReport& report);

}  // namespace funcattn
