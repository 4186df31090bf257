#pragma once

// Internal to the stage.

#include <optional>
#include <string>
#include <vector>

#include "meshio/mesh.h"

namespace funcattn {

/// Meshes that take part in one prediction: one, or the leaves of a tree.
struct StageMeshes {
  std::string origin;  ///< What messages call them together.
  std::vector<Mesh> parts;
  vtkDataObject* root = nullptr;  ///< The tree that holds them, if any, for its field data.
  std::optional<double> time{};
};

}  // namespace funcattn
