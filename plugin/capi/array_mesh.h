#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "meshio/mesh.h"
#include "plugin/capi/strided_array.h"

namespace funcattn {

struct NamedArray {
  std::string name;
  StridedArray values;
};

/// Arrays as the mesh of a point cloud that carries them. Where VTK's layout allows, the mesh
/// borrows their memory, which must outlive it; otherwise it holds copies with the same values.
/// @param coordinates all three, where they lie together
/// @param axes x, y and z; an absent one is 0
/// @param association of the arrays; for cells each point gets a cell of its own, whose centre it
/// is
/// @param origin what messages call the mesh
Mesh make_array_mesh(Eigen::Index count, const std::optional<StridedArray>& coordinates,
                     const std::array<std::optional<StridedArray>, 3>& axes,
                     const std::vector<NamedArray>& arrays, Association association,
                     const std::string& origin);

}  // namespace funcattn
