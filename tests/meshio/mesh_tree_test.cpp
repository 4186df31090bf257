#include "meshio/mesh_tree.h"

#include <gtest/gtest.h>
#include <vtkCompositeDataSet.h>
#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkInformation.h>
#include <vtkInformationDoubleKey.h>
#include <vtkInformationStringKey.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkMultiPieceDataSet.h>
#include <vtkNonOverlappingAMR.h>
#include <vtkPointData.h>
#include <vtkTable.h>
#include <vtkUniformGrid.h>

#include "core/error.h"
#include "tests/meshio/mesh_samples.h"

namespace funcattn {
namespace {

TEST(MeshTreeTest, SingleDataSet) {
  const auto grid = sample_grid();
  const MeshTree tree(grid, "a.vtu");
  EXPECT_TRUE(tree.is_single());
  ASSERT_EQ(tree.leaves().size(), 1u);
  EXPECT_EQ(tree.leaves()[0].vtk(), grid.GetPointer());
  EXPECT_EQ(tree.leaves()[0].origin(), "a.vtu");
  EXPECT_EQ(tree.block_paths(), std::vector<std::string>{""});
  EXPECT_EQ(tree.time(), 0.1) << "its field TimeValue";
  EXPECT_EQ(MeshTree(grid, "a.vtu", 7.0).time(), 7.0);
}

TEST(MeshTreeTest, LeavesOfATreeNameTheirBlocks) {
  const MeshTree tree(sample_blocks(), "a.vtm");
  EXPECT_FALSE(tree.is_single());
  EXPECT_EQ(tree.block_paths(),
            (std::vector<std::string>{"wing/upper <&> \"side\"", "wing/2", "1/0", "1/2", "box"}));
  ASSERT_EQ(tree.leaves().size(), 5u);
  EXPECT_EQ(tree.leaves()[1].origin(), "a.vtm: block 'wing/2'");
  EXPECT_EQ(tree.leaves()[4].count(Association::point), 24);
}

TEST(MeshTreeTest, RefusesAdaptiveRefinement) {
  vtkNew<vtkNonOverlappingAMR> grids;
  const int blocks[] = {1};
  grids->Initialize(1, blocks);
  vtkNew<vtkUniformGrid> grid;
  grid->SetDimensions(2, 2, 2);
  grids->SetDataSet(0, 0, grid);
  EXPECT_EQ(message_of<DataError>([&] { MeshTree(grids, "levels"); }),
            "levels: a vtkNonOverlappingAMR is a grid with adaptive refinement (AMR), which is not "
            "supported; convert it to a multi-block data set");
}

TEST(MeshTreeTest, OtherLeavesInTheSameTree) {
  const auto data = sample_blocks();
  const MeshTree tree(data, "a.vtm", 2.5);
  std::vector<Mesh> leaves;
  for (const Mesh& leaf : tree.leaves())
    leaves.push_back(leaf.with_array({"new", Association::point, 1, ""},
                                     RowMatrix::Ones(leaf.count(Association::point), 1)));
  const MeshTree result = tree.with_leaves(leaves);
  EXPECT_EQ(result.time(), 2.5);
  EXPECT_EQ(result.block_paths(), tree.block_paths());
  for (const Mesh& leaf : result.leaves())
    EXPECT_TRUE(leaf.has_array("new", Association::point)) << leaf.origin();
  EXPECT_EQ(tree_difference(data, result.vtk(), true), "");
  for (const Mesh& leaf : tree.leaves())
    EXPECT_FALSE(leaf.has_array("new", Association::point)) << "the input was modified";
  EXPECT_EQ(tree_difference(sample_blocks(), data), "");
  EXPECT_THROW(tree.with_leaves({}), UsageError);
}

TEST(MeshTreeTest, TimeOfThePipelineIsKept) {
  const auto blocks = sample_blocks();
  blocks->GetInformation()->Set(vtkDataObject::DATA_TIME_STEP(), 0.75);
  EXPECT_EQ(MeshTree(blocks, "pipeline").time(), 0.75);
}

TEST(MeshTreeTest, TablesAreNoMeshesButStay) {
  vtkNew<vtkTable> table;
  expect_says(message_of<DataError>([&] { MeshTree(table.GetPointer(), "a.vtt"); }),
              "a.vtt holds a vtkTable, expected a mesh or a tree of meshes");
  vtkNew<vtkMultiBlockDataSet> blocks;
  blocks->SetBlock(0, table);
  blocks->SetBlock(1, sample_grid());
  const MeshTree tree(blocks.GetPointer(), "blocks");
  ASSERT_EQ(tree.leaves().size(), 1u);
  EXPECT_EQ(tree.block_paths()[0], "1");
  const MeshTree same = tree.with_leaves(tree.leaves());
  EXPECT_TRUE(vtkMultiBlockDataSet::SafeDownCast(same.vtk())->GetBlock(0)->IsA("vtkTable"));
}

}  // namespace
}  // namespace funcattn
