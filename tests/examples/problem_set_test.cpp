#include "examples/evaluate/problem_set.h"

#include <gtest/gtest.h>

#include <cmath>

namespace funcattn {
namespace {

Contract contract() {
  Contract contract;
  contract.outputs.push_back({"u", Association::point, 1, ""});
  contract.coordinates.axes = {0};
  return contract;
}

/// offset + amplitude sin(phase + 3 x) at `points` places between -1 and 1, in the middle of cells
/// whose size grows with `grading`.
Sample wave(int points, double phase, double amplitude = 1, double offset = 0, double grading = 0) {
  const Tensor edges = torch::linspace(-1, 1, points + 1, torch::kFloat64);
  const Tensor spread = edges + grading * (1 - edges.square());
  const Tensor first = spread.narrow(0, 0, points), second = spread.narrow(0, 1, points);
  Sample sample;
  sample.query.coordinates = (0.5 * (first + second)).unsqueeze(1);
  sample.query.weights = second - first;
  sample.targets = offset + amplitude * (phase + 3 * sample.query.coordinates).sin();
  return sample;
}

ProblemSet set_of(const std::vector<Sample>& samples) {
  ProblemSet set;
  for (std::size_t i = 0; i < samples.size(); ++i)
    set.add("000" + std::to_string(i), samples[i], contract(), samples[i].query.weights);
  return set;
}

TEST(ProblemSet, AProblemIsItselfOnOtherPoints) {
  const ProblemSet coarse = set_of({wave(16, 0), wave(16, 2, 3, 50), wave(16, 4, 0, 7)});
  EXPECT_EQ(coarse.difference(set_of({wave(512, 0), wave(512, 2, 3, 50), wave(512, 4, 0, 7)})), "");
  EXPECT_EQ(coarse.difference(
                set_of({wave(64, 0, 1, 0, 0.4), wave(64, 2, 3, 50, 0.4), wave(64, 4, 0, 7, 0.4)})),
            "")
      << "graded points weigh what they stand for";
}

TEST(ProblemSet, OneOtherProblemUnderTheSameNameIsEnough) {
  const ProblemSet coarse = set_of({wave(256, 0), wave(256, 2)});
  // Of the same size.
  EXPECT_EQ(coarse.difference(set_of({wave(1024, 0), wave(1024, 2 + std::acos(-1.0))})),
            "the trend of 'u' along x in '0001' is -0.249 in one and 0.249 in the other");
}

TEST(ProblemSet, TellsProblemsApartByMeanSizeTrendAndPlace) {
  const auto difference = [](const Sample& a, const Sample& b) {
    return set_of({a}).difference(set_of({b}));
  };
  const auto told = [&](const Sample& other) { return difference(wave(256, 0), other); };
  EXPECT_EQ(told(wave(1024, 0, 1, 1)).rfind("the mean of 'u' in '0000' is ", 0), 0u);
  EXPECT_EQ(told(wave(1024, 0, 2)).rfind("the standard deviation of 'u' in '0000' is ", 0), 0u);
  EXPECT_EQ(told(wave(1024, 0, -1)).rfind("the trend of 'u' along x in '0000' is ", 0), 0u);
  Sample elsewhere = wave(1024, 0);
  elsewhere.query.coordinates += 1;
  EXPECT_EQ(told(elsewhere).rfind("the mean of x in '0000' is ", 0), 0u);
  EXPECT_EQ(told(wave(1024, 0)), "");
  EXPECT_NE(difference(wave(256, 0, 1, 1000), wave(1024, 0, 1, 1001)), "")
      << "a field is told by how it varies, however far from 0 it is";
}

TEST(ProblemSet, NamesAndNumbersOfSamplesAreTheSame) {
  ProblemSet one, other;
  const Sample sample = wave(16, 0);
  one.add("a", sample, contract(), sample.query.weights);
  other.add("b", sample, contract(), sample.query.weights);
  EXPECT_EQ(one.difference(other), "their samples have different names, such as 'a' and 'b'");
  other.add("c", sample, contract(), sample.query.weights);
  EXPECT_EQ(one.difference(other), "they have 1 and 2 samples");
}

TEST(ProblemSet, PointsOfNoWeightMayHoldAnything) {
  Sample masked = wave(16, 0);
  masked.targets[3] = std::nan("");
  masked.query.weights[3] = 0;
  EXPECT_EQ(set_of({masked}).difference(set_of({wave(16, 0)})), "");
}

}  // namespace
}  // namespace funcattn
