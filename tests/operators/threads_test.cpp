#include "operators/threads.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <atomic>
#include <thread>
#include <vector>

#include "operators/torch_compat.h"

namespace funcattn {
namespace {

TEST(ThreadScope, ScopesInSeveralThreadsBoundTheirOwnWorkAndLeaveNoTrace) {
  const int before = at::get_num_threads();
  const Tensor matrix = at::rand({300, 300});
  std::atomic<int> wrong{0};
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::vector<std::thread> threads;
    for (int count = 1; count <= 3; ++count)
      threads.emplace_back([&, count] {
        {
          const ThreadScope scope(count);
          (void)matrix.matmul(matrix);
          if (at::get_num_threads() != count || omp_get_max_threads() != count) ++wrong;
        }
        if (at::get_num_threads() != before) ++wrong;
      });
    for (std::thread& thread : threads) thread.join();
    std::thread([&] { wrong += at::get_num_threads() != before; }).join();
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(at::get_num_threads(), before);
}

}  // namespace
}  // namespace funcattn
