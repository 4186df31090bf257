#include "core/atomic_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "core/error.h"
#include "tests/support/folder_test.h"

namespace funcattn {
namespace {

namespace fs = std::filesystem;

class AtomicFileTest : public test::FolderTest {
 protected:
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
};

TEST_F(AtomicFileTest, AppearsOnCommitOnly) {
  const fs::path path = folder_ / "naïve name.txt";
  {
    AtomicFile file(path);
    file.write("half");
    EXPECT_FALSE(fs::exists(path));
  }
  EXPECT_EQ(entries(), 0u) << "an abandoned file leaves nothing behind";
  write_file_atomically(path, "whole");
  EXPECT_EQ(read_file(path), "whole");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(AtomicFileTest, OldContentSurvivesAFailure) {
  const fs::path path = folder_ / "file";
  write_file_atomically(path, "old");
  try {
    AtomicFile file(path);
    file.write("new");
    throw std::runtime_error("stop");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(read_file(path), "old");
}

TEST_F(AtomicFileTest, SaysWhatIsWrongWithTheTarget) {
  const auto message = [](const fs::path& path) -> std::string {
    try {
      AtomicFile file(path);
    } catch (const FileError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_NE(message(folder_ / "missing" / "x").find("does not exist"), std::string::npos);
  EXPECT_NE(message(folder_).find("is a folder"), std::string::npos);
  EXPECT_NE(message("/dev/full").find("not a regular file"), std::string::npos);
}

TEST_F(AtomicFileTest, ReadSaysWhatIsMissing) {
  try {
    read_file(folder_ / "absent");
    FAIL();
  } catch (const FileError& error) {
    EXPECT_NE(std::string(error.what()).find("no such file"), std::string::npos);
  }
}

}  // namespace
}  // namespace funcattn
