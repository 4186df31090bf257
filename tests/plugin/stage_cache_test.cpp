#include "plugin/stage_cache.h"

#include <fstream>

#include "core/error.h"
#include "operators/operator_file.h"
#include "tests/plugin/samples.h"
#include "tests/support/folder_test.h"

namespace funcattn {
namespace {

using StageCache = test::FolderTest;

TEST_F(StageCache, HoldersOfOneFileShareAStageAndNobodyElseKeepsIt) {
  const auto file = folder_ / "op.safetensors";
  save_operator(file, test::make_surrogate());
  auto first = shared_stage(file);
  EXPECT_EQ(shared_stage(folder_ / "." / "op.safetensors"), first);
  EXPECT_EQ(first.use_count(), 1);
  const std::weak_ptr<const OperatorStage> watched = first;
  first.reset();
  EXPECT_TRUE(watched.expired());
}

TEST_F(StageCache, AReplacedFileIsAnotherStage) {
  const auto file = folder_ / "op.safetensors";
  save_operator(file, test::make_surrogate());
  const FileState before = state_of(file);
  const auto first = shared_stage(file);
  save_operator(file, test::make_surrogate(Association::cell));
  EXPECT_NE(state_of(file), before);
  const auto second = shared_stage(file);
  EXPECT_EQ(first->contract()["outputs"][0]["association"], "point");
  EXPECT_EQ(second->contract()["outputs"][0]["association"], "cell");
}

TEST_F(StageCache, AFileThatCannotBeReadIsNotRemembered) {
  const auto file = folder_ / "op.safetensors";
  EXPECT_EQ(state_of(file).size, -1);
  EXPECT_THROW(shared_stage(file), FileError);
  std::ofstream(file) << "half";
  EXPECT_THROW(shared_stage(file), OperatorFileError);
  save_operator(file, test::make_surrogate());
  EXPECT_EQ(shared_stage(file)->contract()["outputs"].size(), 2u);
}

}  // namespace
}  // namespace funcattn
