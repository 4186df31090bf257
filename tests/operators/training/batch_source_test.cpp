#include "operators/training/batch_source.h"

#include <algorithm>
#include <functional>
#include <set>

#include "tests/operators/training/fixtures.h"

namespace funcattn {
namespace {

using test::message_of;
using test::pointwise_samples;

std::vector<std::string> epoch(BatchSource& source) {
  std::vector<std::string> names;
  for (std::int64_t b = 0; b < source.batches_per_epoch(); ++b)
    for (const auto& name : source.next().names) names.push_back(name);
  return names;
}

TEST(DatasetSource, CoversEachSampleOncePerEpochInANewOrder) {
  const auto source = make_dataset_source(pointwise_samples(10), 4, 1);
  EXPECT_EQ(source->batches_per_epoch(), 3);
  std::set<std::vector<std::string>> orders;
  for (int e = 0; e < 4; ++e) {
    std::vector<std::string> names = epoch(*source);
    ASSERT_EQ(names.size(), 10u);
    orders.insert(names);
    std::sort(names.begin(), names.end());
    EXPECT_EQ(std::unique(names.begin(), names.end()), names.end());
  }
  EXPECT_EQ(orders.size(), 4u);
}

TEST(DatasetSource, LastBatchOfAnEpochMayBeShort) {
  const auto source = make_dataset_source(pointwise_samples(5), 3, 1);
  EXPECT_EQ(source->next().names.size(), 3u);
  EXPECT_EQ(source->next().names.size(), 2u);
  EXPECT_EQ(source->next().names.size(), 3u);
}

TEST(DatasetSource, SeedDecidesTheOrder) {
  const auto order = [](std::uint64_t seed) {
    return epoch(*make_dataset_source(pointwise_samples(8), 8, seed));
  };
  EXPECT_EQ(order(4), order(4));
  EXPECT_NE(order(4), order(5));
}

TEST(DatasetSource, ContinuesInTheMiddleOfAnEpoch) {
  const auto source = make_dataset_source(pointwise_samples(7), 2, 9);
  for (int i = 0; i < 6; ++i) source->next();
  const Json stored = Json::parse(source->state().dump());
  const auto other = make_dataset_source(pointwise_samples(7), 2, 12345);
  other->restore(stored);
  for (int i = 0; i < 9; ++i) EXPECT_EQ(source->next().names, other->next().names) << i;
}

TEST(DatasetSource, RefusesToContinueWithOtherData) {
  const Json stored = make_dataset_source(pointwise_samples(7), 2, 9)->state();
  EXPECT_EQ(message_of<UsageError>(
                [&] { make_dataset_source(pointwise_samples(6), 2, 9)->restore(stored); }),
            "the training set differs from that of the run to resume: samples was 7, now 6; give "
            "the same files and options, or start a new run");
  EXPECT_CONTAINS(message_of<UsageError>(
                      [&] { make_dataset_source(pointwise_samples(7), 3, 9)->restore(stored); }),
                  "batch_size was 2, now 3");
  const auto changed = [&](const std::function<void(std::vector<Sample>&)>& change) {
    auto samples = pointwise_samples(7);
    change(samples);
    EXPECT_CONTAINS(
        message_of<UsageError>([&] { make_dataset_source(samples, 2, 9)->restore(stored); }),
        "its samples have other points, values or targets, or another order");
  };
  changed([](auto& samples) { std::swap(samples[1], samples[4]); });
  changed([](auto& samples) { samples[3].targets = -samples[3].targets; });
  changed([](auto& samples) { samples[3].source.values = 2 * samples[3].source.values; });
  auto renamed = pointwise_samples(7);
  renamed[3].name = "moved/to/another/folder";
  EXPECT_NO_THROW(make_dataset_source(renamed, 2, 9)->restore(stored));
}

TEST(DatasetSource, RefusesNoSamplesAndNoBatch) {
  EXPECT_EQ(message_of<DataError>([] { make_dataset_source({}, 2, 0); }),
            "the training set has no samples");
  EXPECT_EQ(message_of<UsageError>([] { make_dataset_source(pointwise_samples(1), 0, 0); }),
            "the batch size is 0, expected 1 or more");
}

}  // namespace
}  // namespace funcattn
