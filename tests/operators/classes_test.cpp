#include "operators/classes.h"

#include <limits>

#include "operator_test_support.h"

namespace funcattn {
namespace {

using test::expect_error;

OutputArray labels() {
  return {{"label", Association::point, 1, ""}, {-7, 2, 40}, 0};
}

Tensor whole(std::vector<std::int64_t> numbers) {
  return torch::tensor(numbers, torch::kInt64);
}

TEST(Classes, ValuesBecomePlacesInTheList) {
  const Tensor values = torch::tensor({2.0, -7.0, 40.0, 0.0, 3.0, 41.0, -8.0}, torch::kFloat64);
  const Tensor expected =
      whole({1, 0, 2, class_ignored, class_unknown, class_unknown, class_unknown});
  EXPECT_TRUE(torch::equal(class_indices(labels(), values), expected));
  EXPECT_TRUE(
      torch::equal(class_indices(labels(), values.reshape({1, 7})), expected.reshape({1, 7})));
}

TEST(Classes, PredictionIsTheLargestLogit) {
  const Tensor logits =
      torch::tensor({{1.0, 2.0, 0.0}, {-1.0, -2.0, -3.0}, {0.0, 0.0, 4.0}}, torch::kFloat64);
  EXPECT_TRUE(torch::equal(largest_class(labels(), logits), whole({2, -7, 40})));
  Contract contract;
  contract.outputs = {{{"u", Association::point, 2, ""}, {}, {}}, labels()};
  EXPECT_EQ(contract.output_components(), 5);
  EXPECT_EQ(contract.target_components(), 3);
  const Tensor fields = torch::tensor({{0.5, 1.5}, {2.5, 3.5}, {4.5, 5.5}}, torch::kFloat64);
  const Tensor arrays = predicted_arrays(contract, at::cat({fields, logits}, 1));
  EXPECT_TRUE(torch::equal(arrays.narrow(1, 0, 2), fields));
  EXPECT_TRUE(torch::equal(arrays.select(1, 2), whole({2, -7, 40}).to(torch::kFloat64)));
}

TEST(Classes, DistinctValuesAreThoseOfPresentPoints) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor values = torch::tensor({3.0, nan, 3.0, -2.0, 0.5}, torch::kFloat64);
  const Tensor weights = torch::tensor({1.0, 0.0, 1.0, 0.1, 0.0}, torch::kFloat64);
  EXPECT_EQ(distinct_classes(values, weights, "a"), (std::vector<int>{-2, 3}));
  expect_error<DataError>(
      [&] { distinct_classes(values, torch::ones({5}, torch::kFloat64), "a.vtp: 'label'"); },
      {"a.vtp: 'label' holds nan at index 1, which is no class"});
  expect_error<DataError>([] { require_class(0.5, "label", 9); }, {"label holds 0.5 at index 9"});
  expect_error<DataError>([] { require_class(2147483648.0, "label", 9); }, {"32 bits"});
  EXPECT_NO_THROW(require_class(-2147483647.0, "label", 9));
}

TEST(Classes, AreDescribedInShort) {
  EXPECT_EQ(describe_classes(labels()), "3 classes (-7, 2, 40)");
  OutputArray many = labels();
  many.classes.clear();
  for (int value = 1; value < 260; ++value) many.classes.push_back(value);
  EXPECT_EQ(describe_classes(many), "259 classes (1 to 259)");
}

}  // namespace
}  // namespace funcattn
