#pragma once

#include <vector>

#include "meshio/mesh_tree.h"
#include "meshio/writer.h"

namespace funcattn {

/// Copies of the leaves, which share their data, for VTK's writers: checked for what these would
/// write wrongly, and with the time of the tree. Throws FileError that names the block.
std::vector<Mesh> prepared_leaves(const MeshTree& tree, const WriteOptions& options);

}  // namespace funcattn
