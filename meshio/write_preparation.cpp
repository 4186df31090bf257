#include "meshio/write_preparation.h"

#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkNew.h>

#include "core/error.h"
#include "meshio/data_set_check.h"
#include "meshio/write_checks.h"

namespace funcattn {

namespace {

/// A copy of a leaf that shares its data, since writers set up an information pass on their input.
/// The time of the tree goes with it.
Mesh prepared(const Mesh& leaf, const MeshTree& tree, const WriteOptions& options) {
  check_arrays(leaf.vtk());
  check_cells(leaf.vtk());
  if (options.encoding == Encoding::ascii) refuse_non_finite(leaf.vtk());
  const auto copy = vtkSmartPointer<vtkDataSet>::Take(leaf.vtk()->NewInstance());
  copy->ShallowCopy(leaf.vtk());
  if (tree.time() && !copy->GetFieldData()->HasArray("TimeValue")) {
    vtkNew<vtkDoubleArray> time;
    time->SetName("TimeValue");
    time->InsertNextValue(*tree.time());
    copy->GetFieldData()->AddArray(time);
  }
  return Mesh(copy, leaf.origin());
}

}  // namespace

std::vector<Mesh> prepared_leaves(const MeshTree& tree, const WriteOptions& options) {
  std::vector<Mesh> leaves;
  for (std::size_t i = 0; i < tree.leaves().size(); ++i) {
    try {
      leaves.push_back(prepared(tree.leaves()[i], tree, options));
    } catch (const Error& error) {
      if (tree.is_single()) throw;
      throw FileError("block '" + tree.block_paths()[i] + "': " + error.what());
    }
  }
  return leaves;
}

}  // namespace funcattn
