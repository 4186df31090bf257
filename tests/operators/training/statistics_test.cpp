#include "operators/training/statistics.h"

#include <algorithm>
#include <limits>

#include "tests/operators/training/fixtures.h"

namespace funcattn {
namespace {

using test::message_of;

Tensor column(std::vector<double> numbers) {
  return torch::tensor(numbers, torch::kFloat64).unsqueeze(-1);
}

Tensor weights_of(std::vector<double> numbers) {
  return torch::tensor(numbers, torch::kFloat64);
}

TEST(Statistics, EachSampleCountsAlike) {
  // Means 2.5 (weights 1, 3 on 1, 3) and 10; the second has many points.
  const Tensor many = torch::full({1000, 1}, 10.0, torch::kFloat64);
  const Normalisation found =
      channel_statistics({"a", "b"}, {column({1, 3}), many},
                         {weights_of({1, 3}), torch::ones({1000}, torch::kFloat64)});
  EXPECT_DOUBLE_EQ(found.mean[0], 6.25);
  const double variance = 0.5 * (0.25 * 5.25 * 5.25 + 0.75 * 3.25 * 3.25) + 0.5 * 3.75 * 3.75;
  EXPECT_NEAR(found.scale[0], std::sqrt(variance), 1e-14);
}

TEST(Statistics, IgnoresWhatAbsentPointsHold) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Normalisation found =
      channel_statistics({"a"}, {column({1, nan, 3})}, {weights_of({2, 0, 2})});
  EXPECT_DOUBLE_EQ(found.mean[0], 2.0);
  EXPECT_DOUBLE_EQ(found.scale[0], 1.0);
}

TEST(Statistics, ConstantChannelHasScaleOne) {
  for (const double value : {0.0, 101325.1, -1e-30}) {
    const Normalisation found = channel_statistics(
        {"a"}, {torch::full({77, 1}, value, torch::kFloat64)}, {torch::rand({77}) + 0.1});
    EXPECT_NEAR(found.mean[0], value, 1e-15 * std::abs(value));
    EXPECT_EQ(found.scale[0], 1.0) << value;
  }
}

TEST(Statistics, KeepsASmallSpreadOnALargeOffsetAndInTinyUnits) {
  const Tensor wave = torch::linspace(0, 20, 4001, torch::kFloat64).sin().unsqueeze(-1);
  const Tensor ones = torch::ones({4001}, torch::kFloat64);
  const double spread = channel_statistics({"a"}, {wave}, {ones}).scale[0];
  EXPECT_NEAR(channel_statistics({"a"}, {1e8 + wave}, {ones}).scale[0], spread, 1e-7);
  EXPECT_NEAR(channel_statistics({"a"}, {1e-30 * wave}, {ones}).scale[0] / 1e-30, spread, 1e-12);
}

TEST(Statistics, DoNotDependOnOrderChunksOrThreads) {
  RandomGenerator random(3);
  std::vector<std::string> names;
  std::vector<Tensor> channels;
  std::vector<Tensor> weights;
  for (int s = 0; s < 6; ++s) {
    names.push_back("s" + std::to_string(s));
    Tensor x = torch::empty({40000, 2}, torch::kFloat64);
    Tensor w = torch::empty({40000}, torch::kFloat64);
    for (std::int64_t i = 0; i < x.numel(); ++i) x.data_ptr<double>()[i] = 1000.0 + random.normal();
    for (std::int64_t i = 0; i < w.numel(); ++i) w.data_ptr<double>()[i] = random.uniform();
    channels.push_back(x);
    weights.push_back(w);
  }
  const Normalisation first = channel_statistics(names, channels, weights);
  std::reverse(channels.begin(), channels.end());
  std::reverse(weights.begin(), weights.end());
  for (auto& x : channels) x = x.flip(0);
  for (auto& w : weights) w = w.flip(0);
  const Normalisation second = channel_statistics(names, channels, weights);
  for (std::size_t c = 0; c < 2; ++c) {
    EXPECT_NEAR(first.mean[c], second.mean[c], 1e-12 * std::abs(first.mean[c]));
    EXPECT_NEAR(first.scale[c], second.scale[c], 1e-12 * first.scale[c]);
  }
}

TEST(Statistics, ErrorsNameTheSample) {
  const auto message = [](std::vector<Tensor> channels, std::vector<Tensor> weights) {
    const std::vector<std::string> names{"first.vtp", "second.vtp"};
    return message_of<DataError>([&] { channel_statistics(names, channels, weights); });
  };
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(message({column({1}), column({2, infinite})}, {weights_of({1}), weights_of({1, 1})}),
            "sample 'second.vtp': channel 0 of point 1 is not finite; mask the point (weight 0) or "
            "drop the sample");
  EXPECT_EQ(message({column({1}), column({2, 3})}, {weights_of({1}), weights_of({0, 0})}),
            "sample 'second.vtp' has no point of positive weight");
  EXPECT_EQ(message({column({1}), column({2})}, {weights_of({1}), weights_of({-1})}),
            "sample 'second.vtp': the weight of point 0 is negative or not finite; expected 0 or "
            "more");
  EXPECT_EQ(message({column({1}), torch::zeros({1, 2})}, {weights_of({1}), weights_of({1})}),
            "sample 'second.vtp' has 2 channels, the samples before it 1");
  EXPECT_EQ(message_of<DataError>([] { channel_statistics({}, {}, {}); }),
            "channel statistics: there are no samples");
  EXPECT_CONTAINS(message_of<UsageError>([] { channel_statistics({"a"}, {}, {}); }),
                  "1 names, 0 channel tensors");
}

}  // namespace
}  // namespace funcattn
