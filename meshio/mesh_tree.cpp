#include "meshio/mesh_tree.h"

#include <vtkCompositeDataIterator.h>
#include <vtkCompositeDataSet.h>
#include <vtkDataArray.h>
#include <vtkDataObjectTree.h>
#include <vtkDataObjectTreeIterator.h>
#include <vtkFieldData.h>
#include <vtkInformation.h>
#include <vtkInformationDoubleKey.h>
#include <vtkInformationStringKey.h>
#include <vtkUniformGridAMR.h>

#include <functional>

#include "core/error.h"

namespace funcattn {

namespace {

using LeafVisitor = std::function<void(vtkDataSet* leaf, const std::string& path)>;

/// Visits in the order in which vtkCompositeDataIterator does.
void visit_tree(vtkDataObjectTree* tree, const std::string& above, const LeafVisitor& visit) {
  const auto children = vtkSmartPointer<vtkDataObjectTreeIterator>::Take(tree->NewTreeIterator());
  children->VisitOnlyLeavesOff();
  children->TraverseSubTreeOff();
  children->SkipEmptyNodesOff();
  std::size_t index = 0;
  for (children->InitTraversal(); !children->IsDoneWithTraversal();
       children->GoToNextItem(), ++index) {
    vtkInformation* metadata =
        children->HasCurrentMetaData() != 0 ? children->GetCurrentMetaData() : nullptr;
    const bool named = metadata && metadata->Has(vtkCompositeDataSet::NAME()) &&
                       *metadata->Get(vtkCompositeDataSet::NAME()) != '\0';
    const std::string path =
        above + (above.empty() ? "" : "/") +
        (named ? metadata->Get(vtkCompositeDataSet::NAME()) : std::to_string(index));
    vtkDataObject* child = children->GetCurrentDataObject();
    if (auto* subtree = vtkDataObjectTree::SafeDownCast(child))
      visit_tree(subtree, path, visit);
    else if (auto* leaf = vtkDataSet::SafeDownCast(child))
      visit(leaf, path);
  }
}

void visit_leaves(vtkCompositeDataSet* data, const LeafVisitor& visit) {
  if (auto* tree = vtkDataObjectTree::SafeDownCast(data)) return visit_tree(tree, "", visit);
  const auto nodes = vtkSmartPointer<vtkCompositeDataIterator>::Take(data->NewIterator());
  for (nodes->InitTraversal(); !nodes->IsDoneWithTraversal(); nodes->GoToNextItem())
    if (auto* leaf = vtkDataSet::SafeDownCast(nodes->GetCurrentDataObject()))
      visit(leaf, std::to_string(nodes->GetCurrentFlatIndex()));
}

std::optional<double> time_of(vtkDataObject* data) {
  vtkInformation* information = data->GetInformation();
  if (information && information->Has(vtkDataObject::DATA_TIME_STEP()))
    return information->Get(vtkDataObject::DATA_TIME_STEP());
  vtkDataArray* time = data->GetFieldData() ? data->GetFieldData()->GetArray("TimeValue") : nullptr;
  if (time && time->GetNumberOfValues() == 1) return time->GetTuple1(0);
  return std::nullopt;
}

}  // namespace

MeshTree::MeshTree(vtkSmartPointer<vtkDataObject> data, std::string origin,
                   std::optional<double> time)
    : data_(std::move(data)), origin_(std::move(origin)), time_(time) {
  if (!data_) throw DataError(origin_ + ": no data were given");
  if (vtkUniformGridAMR::SafeDownCast(data_))
    throw DataError(origin_ + ": a " + data_->GetClassName() +
                    " is a grid with adaptive refinement (AMR), which is not supported; convert it "
                    "to a multi-block data set");
  if (auto* mesh = vtkDataSet::SafeDownCast(data_)) {
    leaves_.emplace_back(mesh, origin_);
    block_paths_.emplace_back();
  } else if (auto* tree = vtkCompositeDataSet::SafeDownCast(data_)) {
    single_ = false;
    visit_leaves(tree, [this](vtkDataSet* leaf, const std::string& path) {
      leaves_.emplace_back(leaf, origin_ + ": block '" + path + "'");
      block_paths_.push_back(path);
    });
  } else {
    throw DataError(origin_ + " holds a " + data_->GetClassName() +
                    ", expected a mesh or a tree of meshes");
  }
  if (!time_) time_ = time_of(data_);
  // Files of trees keep the time in their leaves.
  for (const Mesh& leaf : leaves_)
    if (!time_) time_ = time_of(leaf.vtk());
}

MeshTree::MeshTree(const Mesh& mesh) : MeshTree(mesh.vtk(), mesh.origin()) {}

MeshTree MeshTree::with_leaves(std::vector<Mesh> leaves) const {
  if (leaves.size() != leaves_.size())
    throw UsageError(origin_ + ": " + std::to_string(leaves.size()) +
                     " meshes were given for a tree of " + std::to_string(leaves_.size()));
  if (single_) return MeshTree(leaves.front().vtk(), origin_, time_);

  const auto copy = vtkSmartPointer<vtkDataObject>::Take(data_->NewInstance());
  copy->ShallowCopy(data_);
  auto* tree = vtkCompositeDataSet::SafeDownCast(copy);
  const auto nodes = vtkSmartPointer<vtkCompositeDataIterator>::Take(tree->NewIterator());
  std::size_t next = 0;
  for (nodes->InitTraversal(); !nodes->IsDoneWithTraversal(); nodes->GoToNextItem())
    if (vtkDataSet::SafeDownCast(nodes->GetCurrentDataObject()))
      tree->SetDataSet(nodes, leaves[next++].vtk());
  return MeshTree(copy, origin_, time_);
}

}  // namespace funcattn
