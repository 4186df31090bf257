#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/support/temporary_folder.h"

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

}  // namespace funcattn::test
