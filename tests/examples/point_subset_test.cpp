#include "examples/train/point_subset.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/error.h"

namespace funcattn {
namespace {

/// Points 0 ... n-1 on a line with weights 1, value 10 i and target 100 i; the last is not there.
Sample line(std::int64_t n) {
  Sample sample;
  sample.name = "line";
  const Tensor i = torch::arange(n, torch::kFloat64).unsqueeze(1);
  sample.source.coordinates = i.clone();
  sample.source.values = 10 * i;
  sample.source.weights = torch::ones({n}, torch::kFloat64);
  sample.source.weights[n - 1] = 0;
  sample.source.coordinates[n - 1] = std::nan("");
  sample.query = sample.source;
  sample.targets = 100 * i;
  return sample;
}

class PointSubsets : public testing::TestWithParam<SamplingMethod> {};

TEST_P(PointSubsets, TakesThePointsWithTheWeightsOfTheirNeighbours) {
  const auto augmentation = make_point_subset(8, GetParam());
  RandomGenerator random(3);
  std::set<std::vector<double>> choices;
  for (int round = 0; round < 20; ++round) {
    const Sample subset = augmentation->apply(line(65), random);
    ASSERT_EQ(subset.source.weights.size(0), 8);
    const Tensor x = subset.source.coordinates.select(1, 0);
    EXPECT_TRUE(torch::equal(subset.source.values.select(1, 0), 10 * x));
    EXPECT_TRUE(torch::equal(subset.targets.select(1, 0), 100 * x));
    EXPECT_TRUE(subset.query.weights.is_same(subset.source.weights));
    EXPECT_EQ(subset.source.weights.sum().item<double>(), 64.0);
    // A point owns half the way to its neighbours, up to the one point half way.
    for (std::int64_t i = 1; i + 1 < 8; ++i)
      EXPECT_NEAR(subset.source.weights[i].item<double>(),
                  0.5 * (x[i + 1] - x[i - 1]).item<double>(), 1.0);
    for (std::int64_t i = 0; GetParam() == SamplingMethod::even && i < 8; ++i)
      EXPECT_EQ(std::floor(x[i].item<double>() / 8), static_cast<double>(i));
    choices.insert(std::vector<double>(x.contiguous().data_ptr<double>(),
                                       x.contiguous().data_ptr<double>() + 8));
  }
  EXPECT_GT(choices.size(), 15u) << "drawn anew each time";
}

TEST_P(PointSubsets, LeavesSmallSamplesAsTheyAre) {
  const Sample sample = line(9);
  RandomGenerator random(3);
  const Sample same = make_point_subset(8, GetParam())->apply(sample, random);
  EXPECT_TRUE(same.source.coordinates.is_same(sample.source.coordinates));
}

TEST_P(PointSubsets, SkippingDrawsWhatTakingThemDoes) {
  for (const std::int64_t count : {1, 2, 7, 8, 30, 63, 64, 65}) {
    const auto augmentation = make_point_subset(count, GetParam());
    RandomGenerator taken(5), skipped(5);
    for (int round = 0; round < 20; ++round) {
      augmentation->apply(line(65), taken);
      augmentation->skip(line(65), skipped);
    }
    EXPECT_EQ(skipped.state(), taken.state()) << count;
    EXPECT_EQ(taken.state() == RandomGenerator(5).state(), count >= 64) << count;
  }
}

INSTANTIATE_TEST_SUITE_P(Choices, PointSubsets,
                         testing::Values(SamplingMethod::even, SamplingMethod::random));

TEST(PointSubset, RefusesQueriesOfTheirOwn) {
  Sample sample = line(20);
  sample.query_is_source = false;
  RandomGenerator random(3);
  try {
    make_point_subset(8, SamplingMethod::even)->apply(sample, random);
    FAIL() << "nothing was thrown";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "sample 'line': its queries differ from its source, which subsets of the points "
                 "do not know; train on all points");
  }
}

}  // namespace
}  // namespace funcattn
