#include "operators/training/schedule.h"

#include "tests/operators/training/fixtures.h"

namespace funcattn {
namespace {

using test::message_of;

Schedule make(ScheduleKind kind, double peak, std::int64_t total, std::int64_t warmup = 0) {
  Schedule schedule;
  schedule.kind = kind;
  schedule.peak = peak;
  schedule.total_steps = total;
  schedule.warmup_steps = warmup;
  return schedule;
}

TEST(Schedule, WarmsUpLinearlyThenStaysConstant) {
  const Schedule schedule = make(ScheduleKind::constant, 0.5, 100, 4);
  for (int step = 0; step < 4; ++step)
    EXPECT_DOUBLE_EQ(schedule.rate(step), 0.5 * (step + 1) / 5.0) << step;
  for (const int step : {4, 5, 50, 99}) EXPECT_DOUBLE_EQ(schedule.rate(step), 0.5) << step;
}

TEST(Schedule, CosineFallsFromPeakToFinalFraction) {
  Schedule schedule = make(ScheduleKind::cosine, 2.0, 21, 10);
  schedule.final_fraction = 0.1;
  EXPECT_DOUBLE_EQ(schedule.rate(0), 2.0 / 11.0);
  EXPECT_DOUBLE_EQ(schedule.rate(10), 2.0);
  EXPECT_DOUBLE_EQ(schedule.rate(15), 1.1);
  EXPECT_NEAR(schedule.rate(20), 0.2, 1e-15);
  EXPECT_EQ(schedule.rate(1000), schedule.rate(20));
  EXPECT_NEAR(make(ScheduleKind::cosine, 1.0, 5).rate(4), 0.0, 1e-16);
}

TEST(Schedule, OneCycleRisesToThePeakAndFalls) {
  Schedule schedule = make(ScheduleKind::one_cycle, 1.0, 100);
  schedule.final_fraction = 0.01;
  EXPECT_NEAR(schedule.rate(0), 0.04, 1e-15);
  EXPECT_DOUBLE_EQ(schedule.rate(29), 1.0);
  EXPECT_NEAR(schedule.rate(64), 0.505, 1e-15);
  EXPECT_NEAR(schedule.rate(99), 0.01, 1e-15);
  for (int step = 1; step < 30; ++step) EXPECT_GT(schedule.rate(step), schedule.rate(step - 1));
  for (int step = 30; step < 100; ++step) EXPECT_LT(schedule.rate(step), schedule.rate(step - 1));
}

TEST(Schedule, ASingleStepHasThePeakRate) {
  for (const auto kind : {ScheduleKind::constant, ScheduleKind::cosine, ScheduleKind::one_cycle})
    EXPECT_DOUBLE_EQ(make(kind, 0.3, 1).rate(0), 0.3) << to_string(kind);
}

TEST(Schedule, RefusesNumbersOutOfRange) {
  Schedule schedule = make(ScheduleKind::cosine, -1.0, 10);
  EXPECT_EQ(message_of<UsageError>([&] { schedule.validate(); }),
            "schedule: the learning rate is -1, expected a number > 0");
  schedule = make(ScheduleKind::cosine, 1.0, 10, 10);
  EXPECT_EQ(message_of<UsageError>([&] { schedule.validate(); }),
            "schedule: the warm-up takes 10 steps, expected fewer than the 10 of the run");
  schedule = make(ScheduleKind::one_cycle, 1.0, 10, 2);
  EXPECT_CONTAINS(message_of<UsageError>([&] { schedule.validate(); }),
                  "leave it away or choose another schedule");
  schedule = make(ScheduleKind::one_cycle, 1.0, 10);
  schedule.rise_fraction = 1.0;
  EXPECT_CONTAINS(message_of<UsageError>([&] { schedule.validate(); }), "rise_fraction is 1");
}

TEST(Schedule, NamesReadBack) {
  for (const auto kind : {ScheduleKind::constant, ScheduleKind::cosine, ScheduleKind::one_cycle})
    EXPECT_EQ(schedule_from_string(to_string(kind)), kind);
  EXPECT_CONTAINS(message_of<UsageError>([] { schedule_from_string("cosin"); }),
                  "did you mean cosine?");
}

}  // namespace
}  // namespace funcattn
