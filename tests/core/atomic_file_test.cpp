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

TEST_F(AtomicFileTest, LinksStay) {
  fs::create_directory(folder_ / "real");
  fs::create_symlink("real/file", folder_ / "link");
  fs::create_symlink(folder_ / "link", folder_ / "to link");
  for (const char* content : {"new", "newer"}) {  // The link leads nowhere at first.
    write_file_atomically(folder_ / "to link", content);
    EXPECT_EQ(read_file(folder_ / "real" / "file"), content);
    EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
    EXPECT_TRUE(fs::is_symlink(folder_ / "to link"));
  }
  fs::create_symlink("circle", folder_ / "circle");
  EXPECT_THROW(write_file_atomically(folder_ / "circle", ""), FileError);
}

TEST_F(AtomicFileTest, NamesMayBeAsLongAsTheSystemTakes) {
  const std::string longest = std::string(251, 'n') + ".vtu";
  write_file_atomically(folder_ / longest, "whole");
  EXPECT_EQ(read_file(folder_ / longest), "whole");
  try {
    check_target(folder_ / ("n" + longest));
    FAIL();
  } catch (const FileError& error) {
    EXPECT_NE(std::string(error.what()).find("File name too long"), std::string::npos);
  }
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

TEST_F(AtomicFileTest, NamesAsLongAsTheSystemTakes) {
  for (const std::string& name : {std::string(251, 'a') + ".vtp", std::string(255, 'b'),
                                  std::string(3, 'c') + "." + std::string(251, 'd')}) {
    write_file_atomically(folder_ / name, "text");
    EXPECT_EQ(read_file(folder_ / name), "text");
  }
  EXPECT_EQ(short_stem("a/wing.vtu", 4), "wing");
  EXPECT_EQ(short_stem("a/wing.vtu", 3), "win");
  EXPECT_EQ(short_stem("a/x\u00fcber.vtu", 2), "x") << "no character is cut";
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
