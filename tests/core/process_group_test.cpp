#include "core/process_group.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/memory_error.h"
#include "tests/support/thread_group.h"

namespace funcattn {
namespace {

using testing::message_of;
using testing::on_good_ranks;
using testing::on_ranks;

TEST(ProcessGroup, AddsAndComparesOverTheRanks) {
  on_good_ranks(3, [](ProcessGroup& group) {
    double values[2] = {group.rank() + 1.0, -group.rank() - 1.0};
    group.sum(values, 2);
    EXPECT_EQ(values[0], 6);
    EXPECT_EQ(values[1], -6);
    values[0] = -1.5 - group.rank();
    group.maximum(values, 1);
    EXPECT_EQ(values[0], -1.5);
    std::int64_t count = std::int64_t{1} << (40 + group.rank());
    group.sum(&count, 1);
    EXPECT_EQ(count, std::int64_t{7} << 40);
  });
}

TEST(ProcessGroup, BringsTextsToAllAndToEach) {
  on_good_ranks(3, [](ProcessGroup& group) {
    const std::string me = std::to_string(group.rank());
    EXPECT_EQ(group.gather("from " + me), (std::vector<std::string>{"from 0", "from 1", "from 2"}));
    EXPECT_EQ(group.exchange({me + " to 0", me + " to 1", ""}),
              group.rank() == 2
                  ? (std::vector<std::string>{"", "", ""})
                  : (std::vector<std::string>{"0 to " + me, "1 to " + me, "2 to " + me}));
  });
}

TEST(ProcessGroup, FailureOfOneRankIsTheErrorOfAll) {
  for (const int culprit : {0, 1, 3}) {
    const auto errors = on_ranks(4, [&](ProcessGroup& group) {
      run_together(&group, [&] {
        double value = 1;
        group.sum(&value, 1);
        if (group.rank() == culprit) throw DataError("piece 7 is damaged");
        group.sum(&value, 1);
      });
    });
    for (const std::exception_ptr& error : errors) {
      EXPECT_EQ(message_of(error), "piece 7 is damaged");
      EXPECT_THROW(std::rethrow_exception(error), DataError);
    }
  }
}

TEST(ProcessGroup, FailureAfterTheLastExchangeIsSeenByAll) {
  const auto errors = on_ranks(2, [](ProcessGroup& group) {
    (void)run_together(&group, [&]() -> int {
      if (group.rank() == 1) throw UsageError("no such option");
      return 3;
    });
  });
  for (const std::exception_ptr& error : errors)
    EXPECT_THROW(std::rethrow_exception(error), UsageError);
}

TEST(ProcessGroup, FirstOfSeveralFailuresCountsForAll) {
  const auto errors = on_ranks(3, [](ProcessGroup& group) {
    run_together(&group, [&] {
      if (group.rank() > 0) throw FileError("file " + std::to_string(group.rank()));
    });
  });
  EXPECT_EQ(message_of(errors[0]), "file 1");
  EXPECT_EQ(message_of(errors[1]), "file 1");
  EXPECT_EQ(message_of(errors[2]), "file 1");
}

TEST(ProcessGroup, NestedRunsFailOnceAndTheNextRunIsClean) {
  on_good_ranks(3, [](ProcessGroup& group) {
    for (int turn = 0; turn < 3; ++turn) {
      std::string caught;
      try {
        run_together(&group, [&] {
          run_together(&group, [&] {
            if (group.rank() == turn) throw NumericError("turn " + std::to_string(turn));
          });
          double value = 1;
          group.sum(&value, 1);
        });
      } catch (const NumericError& error) {
        caught = error.what();
      }
      EXPECT_EQ(caught, "turn " + std::to_string(turn));
    }
    double value = 1;
    group.sum(&value, 1);
    EXPECT_EQ(value, 3);
  });
}

// As a command over several files does: each of them may fail in one process alone.
TEST(ProcessGroup, FailuresThatTheWorkGetsOverAreToldEachTime) {
  on_good_ranks(2, [](ProcessGroup& group) {
    run_together(&group, [&] {
      for (int turn = 0; turn < 3; ++turn) {
        std::string caught;
        try {
          run_together(&group, [&] {
            if (group.rank() == turn % 2) throw DataError("file " + std::to_string(turn));
            double value = 1;
            group.sum(&value, 1);
          });
        } catch (const DataError& error) {
          caught = error.what();
        }
        EXPECT_EQ(caught, "file " + std::to_string(turn));
      }
    });
  });
  const auto errors = on_ranks(2, [](ProcessGroup& group) {
    run_together(&group, [&] {
      try {
        run_together(&group, [&] {
          if (group.rank() == 0) throw DataError("first");
        });
      } catch (const DataError&) {
      }
      group.wait();
      if (group.rank() == 1) throw FileError("second");
    });
  });
  EXPECT_EQ(message_of(errors[0]), "second");
}

TEST(ProcessGroup, KindsOfErrorsSurviveTheWay) {
  const auto kind_survives = [](const auto& error) {
    using Kind = std::decay_t<decltype(error)>;
    const auto errors = on_ranks(2, [&](ProcessGroup& group) {
      run_together(&group, [&] {
        if (group.rank() == 0) throw error;
      });
    });
    EXPECT_THROW(std::rethrow_exception(errors[1]), Kind) << error.what();
    EXPECT_EQ(message_of(errors[1]), error.what());
  };
  kind_survives(UsageError("u"));
  kind_survives(Cancelled("c"));
  kind_survives(MemoryError("m"));
  kind_survives(DataError("d"));
  kind_survives(OperatorFileError("o"));
  kind_survives(FileError("f"));
  kind_survives(NumericError("n"));
  kind_survives(Error("e"));
}

TEST(ProcessGroup, WithoutGroupTheWorkIsDoneHere) {
  EXPECT_EQ(run_together(nullptr, [] { return 5; }), 5);
  SingleProcess alone;
  double value = 2;
  alone.sum(&value, 1);
  EXPECT_EQ(value, 2);
  EXPECT_EQ(alone.gather("a"), std::vector<std::string>{"a"});
  EXPECT_THROW(run_together(&alone, [] { throw FileError("x"); }), FileError);
}

TEST(ProcessGroup, TextsOfAnyBytesTravelTogether) {
  const std::vector<std::string> texts = {"", std::string("a\0b", 3), "\n", ""};
  EXPECT_EQ(unpacked_texts(packed_texts(texts)), texts);
  EXPECT_TRUE(unpacked_texts(packed_texts({})).empty());
}

TEST(ProcessGroup, CountsWhatItMoves) {
  on_good_ranks(2, [](ProcessGroup& group) {
    double values[3] = {1, 2, 3};
    group.sum(values, 3);
    (void)group.gather("12345");
    EXPECT_EQ(group.traffic().exchanges, 2);
    EXPECT_EQ(group.traffic().bytes, 29);
  });
}

}  // namespace
}  // namespace funcattn
