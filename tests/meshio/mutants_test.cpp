// The short version of what funcattn_meshio_fuzz does.
#include "tests/meshio/mutants.h"

#include <gtest/gtest.h>

#include <map>

#include "meshio/reader.h"
#include "tests/meshio/mesh_samples.h"

namespace funcattn {
namespace {

class MutantsTest : public FolderTest {};

TEST_F(MutantsTest, AreRefusedOrReadButNeverCrash) {
  const auto originals = store_originals(folder_);
  std::size_t refused = 0;
  std::size_t read = 0;
  testing::internal::CaptureStderr();
  for (const Original& original : originals) {
    ASSERT_NO_THROW(read_mesh_tree(original.main)) << original.name;
    for (std::uint64_t seed = 0; seed < 15; ++seed) {
      Outcome outcome = Outcome::read;
      ASSERT_NO_THROW(outcome = try_mutant(original, seed)) << original.name;
      ++(outcome == Outcome::read ? read : refused);
    }
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_GT(refused, originals.size() * 8);
  EXPECT_GT(read, originals.size());
}

}  // namespace
}  // namespace funcattn
