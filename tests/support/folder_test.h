#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/support/temporary_folder.h"

namespace funcattn::test {

/// A test with an empty folder of its own, removed afterwards.
class FolderTest : public ::testing::Test {
 private:
  const TemporaryFolder own_;

 protected:
  explicit FolderTest(const std::string& prefix = "funcattn-") : own_(prefix) {}

  const std::filesystem::path folder_ = own_.path();
};

}  // namespace funcattn::test
