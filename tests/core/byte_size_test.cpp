#include "core/byte_size.h"

#include <gtest/gtest.h>

namespace funcattn {
namespace {

TEST(ByteSize, IsWrittenInTheUnitThatFits) {
  EXPECT_EQ(format_bytes(0), "0 bytes");
  EXPECT_EQ(format_bytes(999), "999 bytes");
  EXPECT_EQ(format_bytes(1000), "0.977 KiB");
  EXPECT_EQ(format_bytes(3072), "3 KiB");
  EXPECT_EQ(format_bytes(480e6), "458 MiB");
  EXPECT_EQ(format_bytes(1024.0 * 1024 * 1023.9), "1 GiB");
  EXPECT_EQ(format_bytes(1.5 * 1024 * 1024 * 1024), "1.5 GiB");
  EXPECT_EQ(format_bytes(2048.0 * 1024 * 1024 * 1024), "2 TiB");
}

}  // namespace
}  // namespace funcattn
