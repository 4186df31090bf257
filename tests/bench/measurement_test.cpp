#include "bench/measurement.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <chrono>
#include <cstring>
#include <thread>

namespace funcattn {

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// Makes so many bytes resident and gives them back.
void touch_and_release(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::memset(memory, 1, bytes);
  ::munmap(memory, bytes);
}

TEST(PeakMemory, SeesWhatWasReleasedButNotWhatWasBefore) {
  touch_and_release(256 * mebibyte);
  const PeakMemory memory;
  if (memory.bytes() > static_cast<std::int64_t>(200 * mebibyte))
    GTEST_SKIP() << "this system does not let a process reset its high-water mark";
  EXPECT_LT(memory.bytes(), static_cast<std::int64_t>(8 * mebibyte));
  touch_and_release(64 * mebibyte);
  EXPECT_GT(memory.bytes(), static_cast<std::int64_t>(56 * mebibyte));
  EXPECT_LT(memory.bytes(), static_cast<std::int64_t>(80 * mebibyte));
}

TEST(Timings, BestAndMedian) {
  Timings timings;
  timings.repeats = {3, 1, 2};
  EXPECT_EQ(timings.best(), 1);
  EXPECT_EQ(timings.median(), 2);
  timings.repeats = {4, 1, 2, 3};
  EXPECT_EQ(timings.median(), 2.5);
}

TEST(Measure, WarmsUpAndRepeats) {
  int calls = 0;
  RepeatOptions options;
  options.repeats = 3;
  const Timings timings = measure(options, [&] { ++calls; });
  EXPECT_EQ(calls, 4);
  EXPECT_EQ(timings.repeats.size(), 3u);
}

TEST(Measure, TheWarmUpCountsWhereItOutlastsTheTime) {
  int calls = 0;
  RepeatOptions options;
  options.seconds = 0.01;
  const Timings timings = measure(options, [&] {
    ++calls;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  });
  EXPECT_EQ(calls, 1);
  ASSERT_EQ(timings.repeats.size(), 1u);
  EXPECT_EQ(timings.repeats.front(), timings.first);
  EXPECT_GE(timings.first, 0.02);
}

}  // namespace

}  // namespace funcattn
