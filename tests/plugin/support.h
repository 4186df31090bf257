#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace funcattn::test {

/// Text of the error that `action` throws, which must be of type `Expected`, no other.
template <typename Expected, typename Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const Expected& error) {
    EXPECT_EQ(typeid(error), typeid(Expected));
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

/// A folder that is removed with its content.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }
  /// Writes a small text file and returns its path.
  std::filesystem::path write(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

}  // namespace funcattn::test
