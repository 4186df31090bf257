#pragma once

#include <Eigen/Core>

namespace funcattn {

/// A vector of numbers that are still to be set. Asks the system for large pages where that helps:
/// for ten million numbers, fetching memory page by page costs a fifth of weighing the mesh.
Eigen::VectorXd large_vector(Eigen::Index size);

}  // namespace funcattn
