#include "operators/training/prefetch.h"

#include "core/error.h"
#include "tests/operators/training/fixtures.h"

namespace funcattn {
namespace {

using test::message_of;
using test::pointwise_samples;

std::unique_ptr<BatchSource> dataset() {
  return make_dataset_source(pointwise_samples(7), 2, 9);
}

TEST(PrefetchedSource, GivesTheBatchesOfTheSourceInTheirOrder) {
  const auto plain = dataset();
  const auto source = dataset();
  PrefetchedSource prefetched(*source);
  EXPECT_EQ(prefetched.batches_per_epoch(), 4);
  for (int i = 0; i < 11; ++i) {
    const Batch expected = plain->next();
    const Batch found = prefetched.next();
    EXPECT_EQ(found.names, expected.names) << i;
    EXPECT_TRUE(found.targets.equal(expected.targets)) << i;
  }
}

TEST(PrefetchedSource, ItsStateIsThatOfTheBatchesHandedOut) {
  const auto plain = dataset();
  const auto source = dataset();
  PrefetchedSource prefetched(*source);
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(prefetched.state(), plain->state()) << i;
    (void)plain->next();
    (void)prefetched.next();
  }
}

TEST(PrefetchedSource, ContinuesAStoredState) {
  const auto plain = dataset();
  for (int i = 0; i < 3; ++i) (void)plain->next();
  const Json stored = plain->state();
  const auto source = dataset();
  PrefetchedSource prefetched(*source);
  (void)prefetched.next();
  prefetched.restore(stored);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(prefetched.next().names, plain->next().names) << i;
}

TEST(PrefetchedSource, LeavesTheSourceWhereItsBatchesEnd) {
  const auto plain = dataset();
  const auto source = dataset();
  {
    PrefetchedSource prefetched(*source);
    for (int i = 0; i < 3; ++i) (void)prefetched.next();
  }
  for (int i = 0; i < 3; ++i) (void)plain->next();
  EXPECT_EQ(source->next().names, plain->next().names);
}

/// Fails at its third batch.
class FailingSource : public BatchSource {
 public:
  Batch next() override {
    if (++count_ == 3) throw DataError("sample 'c.vtu' is damaged");
    Batch batch;
    batch.names = {std::to_string(count_)};
    return batch;
  }
  std::int64_t batches_per_epoch() const override { return 0; }
  Json state() const override { return Json{{"kind", "failing"}}; }
  void restore(const Json&) override {}

 private:
  int count_ = 0;
};

TEST(PrefetchedSource, ErrorsComeInTheirTurn) {
  FailingSource source;
  PrefetchedSource prefetched(source);
  EXPECT_EQ(prefetched.next().names.front(), "1");
  EXPECT_EQ(prefetched.next().names.front(), "2");
  EXPECT_EQ(message_of<DataError>([&] { (void)prefetched.next(); }), "sample 'c.vtu' is damaged");
}

}  // namespace
}  // namespace funcattn
