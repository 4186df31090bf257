// The stage inside a program that has a life of its own: progress, cancelling, threads.

#include <vtkMultiBlockDataSet.h>
#include <vtkNew.h>

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "operators/operator_file.h"
#include "plugin/stage.h"
#include "tests/plugin/samples.h"
#include "tests/plugin/support.h"

namespace funcattn {
namespace {

using test::error_of;

class HostTest : public ::testing::Test {
 protected:
  HostTest() { save_operator(folder_ / "op.safetensors", test::make_surrogate()); }

  OperatorStage load() const { return OperatorStage(folder_ / "op.safetensors"); }

  test::TemporaryFolder folder_;
};

RowMatrix displacement(const Mesh& mesh) {
  return mesh.array("displacement_predicted", Association::point).to_double();
}

/// Keeps what it is told; asks for an end from `last` on.
struct Told {
  std::vector<double> fractions;
  ProgressCallback until(double last) {
    return [this, last](double fraction) {
      fractions.push_back(fraction);
      return fraction < last;
    };
  }
  ProgressCallback all() { return until(2); }
};

TEST_F(HostTest, ProgressRisesFromZeroToOneAndChangesNoBit) {
  const OperatorStage stage = load();
  const Mesh mesh = test::make_grid(40, 30);
  Told told;
  StageOptions options;
  options.progress = told.all();
  options.threads = 1;
  EXPECT_EQ(displacement(stage.run(mesh, options).mesh), displacement(stage.run(mesh).mesh));
  EXPECT_TRUE(std::is_sorted(told.fractions.begin(), told.fractions.end()));
  EXPECT_GT(told.fractions.size(), 5u);
  EXPECT_EQ(told.fractions.front(), 0);
  EXPECT_EQ(told.fractions.back(), 1);
}

TEST_F(HostTest, ProgressOfBlocksFollowsOneAfterTheOther) {
  vtkNew<vtkMultiBlockDataSet> blocks;
  for (unsigned i = 0; i < 3; ++i) blocks->SetBlock(i, test::make_grid(6, 5).vtk());
  const MeshTree tree(blocks.GetPointer(), "blocks.vtm");
  const OperatorStage stage = load();
  for (const bool per_block : {false, true}) {
    Told told;
    StageOptions options;
    options.per_block = per_block;
    options.progress = told.all();
    (void)stage.run(tree, options);
    EXPECT_TRUE(std::is_sorted(told.fractions.begin(), told.fractions.end()));
    EXPECT_EQ(told.fractions.front(), 0);
    EXPECT_EQ(told.fractions.back(), 1);
    // A sample ends, and the next one begins.
    EXPECT_EQ(std::count(told.fractions.begin(), told.fractions.end(), 1.0 / 3), per_block ? 2 : 0);
  }
}

TEST_F(HostTest, ProgressOfAMeshWithoutPointsIsComplete) {
  Told told;
  StageOptions options;
  options.progress = told.all();
  (void)load().run(make_point_cloud(RowMatrix(0, 3), "empty.vtp"), options);
  EXPECT_EQ(told.fractions, (std::vector<double>{0, 1}));
}

TEST_F(HostTest, CancelsWhereverItIsAskedTo) {
  const OperatorStage stage = load();
  const Mesh mesh = test::make_grid(40, 30);
  const RowMatrix expected = displacement(stage.run(mesh).mesh);
  const std::size_t arrays = mesh.arrays().size();
  for (const double last : {0.0, 0.05, 0.5, 1.0})
    for (const auto memory :
         {ActivationMemory::resident, ActivationMemory::spilled, ActivationMemory::recomputed}) {
      Told told;
      StageOptions options;
      options.engine.memory = memory;
      options.engine.spill_folder = folder_.path();
      options.progress = told.until(last);
      EXPECT_EQ(error_of<Cancelled>([&] { (void)stage.run(mesh, options); }),
                "the run was cancelled by the program that asked for it; nothing was changed");
      EXPECT_GE(told.fractions.back(), last);
      EXPECT_EQ(std::count_if(told.fractions.begin(), told.fractions.end(),
                              [&](double fraction) { return fraction >= last; }),
                1)
          << "called again after it asked for an end";
      EXPECT_EQ(mesh.arrays().size(), arrays);
      EXPECT_EQ(displacement(stage.run(mesh).mesh), expected);
    }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1)
      << "a temporary file is left";
}

TEST_F(HostTest, CheckingIsNoRun) {
  const OperatorStage stage = load();
  Told told;
  StageOptions options;
  options.progress = told.until(0);
  EXPECT_EQ(stage.check(MeshTree(test::make_grid(6, 5)), nullptr, options).entries, 30);
  EXPECT_TRUE(told.fractions.empty());
}

}  // namespace
}  // namespace funcattn
