#pragma once

#include <vtkDataObject.h>
#include <vtkSmartPointer.h>

#include <optional>
#include <string>
#include <vector>

#include "meshio/mesh.h"

namespace funcattn {

/// What one file or one pipeline step hands over: a single data set or a tree of them (multi-block,
/// multi-piece, partitioned), with its time. Shares VTK's data; never modifies what it was made
/// from.
class MeshTree {
 public:
  /// @param origin file name or other description for messages
  /// @param time of the data; without, what the data themselves say (the step that the pipeline
  ///   delivered or the field "TimeValue"), if anything
  /// Throws DataError if `data` is null or neither a data set nor a tree.
  MeshTree(vtkSmartPointer<vtkDataObject> data, std::string origin,
           std::optional<double> time = {});
  explicit MeshTree(const Mesh& mesh);

  vtkDataObject* vtk() const { return data_; }
  const std::string& origin() const { return origin_; }
  std::optional<double> time() const { return time_; }

  bool is_single() const { return single_; }  ///< One data set, no tree around it.

  /// The data sets in the order of traversal; null blocks and leaves that are no meshes (tables)
  /// are left out. The origin of each names file and block: "a.vtm: block 'wing/upper'".
  const std::vector<Mesh>& leaves() const { return leaves_; }

  /// Names of the blocks from the root to each leaf, joined by '/'; the index stands for a block
  /// without a name. "" for a single data set. Parallel to leaves().
  const std::vector<std::string>& block_paths() const { return block_paths_; }

  /// The same tree (names, other metadata, null blocks, field data, time) with other data in the
  /// leaves. Throws UsageError unless there is one mesh per leaf.
  MeshTree with_leaves(std::vector<Mesh> leaves) const;

 private:
  vtkSmartPointer<vtkDataObject> data_;
  std::string origin_;
  std::optional<double> time_;
  bool single_ = true;
  std::vector<Mesh> leaves_;
  std::vector<std::string> block_paths_;
};

}  // namespace funcattn
