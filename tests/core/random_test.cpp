#include "core/random.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.h"

namespace funcattn {
namespace {

TEST(RandomGenerator, GivesThePublishedSequence) {
  // xoshiro256** from the state 1, 2, 3, 4 (reference implementation).
  RandomGenerator random(0);
  random.restore(Json{1, 2, 3, 4});
  EXPECT_EQ(random.next(), 11520u);
  EXPECT_EQ(random.next(), 0u);
  EXPECT_EQ(random.next(), 1509978240u);
  EXPECT_EQ(random.next(), 1215971899390074240u);
}

TEST(RandomGenerator, HasTheRightMoments) {
  RandomGenerator random(5);
  const int n = 200000;
  double sum = 0, squares = 0, uniform_sum = 0;
  std::vector<int> counts(7);
  for (int i = 0; i < n; ++i) {
    const double z = random.normal();
    sum += z;
    squares += z * z;
    uniform_sum += random.uniform(2.0, 4.0);
    ++counts[random.below(7)];
  }
  EXPECT_NEAR(sum / n, 0.0, 0.01);
  EXPECT_NEAR(squares / n, 1.0, 0.02);
  EXPECT_NEAR(uniform_sum / n, 3.0, 0.01);
  for (const int count : counts) EXPECT_NEAR(count, n / 7.0, 900.0);
}

TEST(RandomGenerator, ContinuesFromItsStoredState) {
  RandomGenerator random(11);
  random.normal();
  const Json stored = Json::parse(random.state().dump());
  RandomGenerator other(0);
  other.restore(stored);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(random.next(), other.next());
  for (const Json& damaged : {Json{1, 2, 3}, Json{0, 0, 0, 0}, Json("text"), Json{1, 2, 3, "4"}})
    try {
      other.restore(damaged);
      ADD_FAILURE() << damaged << " was accepted";
    } catch (const OperatorFileError& error) {
      EXPECT_NE(std::string(error.what()).find("the stored random state is damaged"),
                std::string::npos);
    }
}

}  // namespace
}  // namespace funcattn
