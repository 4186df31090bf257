#include "examples/train/freed_memory.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>

namespace funcattn {
namespace {

// Above 32 MiB, from where on the C library never keeps buffers by itself.
constexpr std::size_t bytes = std::size_t{100} << 20;

/// Bytes of the system that a buffer of the above size leaves with the process when it is freed.
std::size_t kept() {
  const std::size_t before = ::mallinfo2().arena;
  void* const buffer = std::malloc(bytes);
  static_cast<volatile char*>(buffer)[0] = 1;  // So that no compiler leaves both calls out.
  std::free(buffer);
  return ::mallinfo2().arena - before;
}

/// Puts an environment variable back as it was.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

// In a process of its own: what is set stays.
void expect_kept_unless_the_environment_says_otherwise() {
  {
    const Variable tunables("GLIBC_TUNABLES", "glibc.malloc.check=0");
    keep_freed_memory();
  }
  const bool left_alone = kept() == 0;
  {
    const Variable threshold("MALLOC_MMAP_THRESHOLD_", "131072");
    keep_freed_memory();
  }
  const bool left_threshold = kept() == 0;
  keep_freed_memory();
  const bool keeps = kept() >= bytes;
  std::_Exit((left_alone ? 1 : 0) + (left_threshold ? 2 : 0) + (keeps ? 4 : 0));
}

TEST(FreedMemory, IsKeptUnlessTheEnvironmentSaysOtherwise) {
  if (::mallinfo2().arena == 0 && ::mallinfo2().hblkhd == 0)
    GTEST_SKIP() << "another allocator, such as a sanitizer's, is in place of the C library's";
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(expect_kept_unless_the_environment_says_otherwise(), ::testing::ExitedWithCode(7),
              "");
}

}  // namespace
}  // namespace funcattn
