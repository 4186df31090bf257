#include "operators/grouped_function.h"

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>

#include "core/error.h"
#include "tests/operators/attention_test_support.h"

namespace funcattn {
namespace {

using testing::Draw;

/// exp(slope * x y^T) z, with the rows of x in groups of three.
struct Example {
  Example() {
    function.axes = {0, GroupedFunction::whole_tensor, GroupedFunction::whole_tensor,
                     GroupedFunction::whole_tensor};
    function.rows = 7;
    function.at_a_time = 3;
    function.group = [this](const std::vector<Tensor>& tensors, std::int64_t first) {
      firsts.push_back(first);
      largest = std::max(largest, tensors[0].size(0));
      // The parameter that it holds, not the one that it is given.
      return at::matmul((slope * at::matmul(tensors[0], tensors[1].t())).exp(), tensors[2]);
    };
  }
  std::vector<Tensor> tensors() const { return {x, y, z, slope}; }

  Draw draw{torch::kFloat64, 1};
  Tensor x = draw.normal({7, 2}).requires_grad_();
  Tensor y = draw.normal({5, 2}).requires_grad_();
  Tensor z = draw.normal({5, 4});
  Tensor slope = at::full({}, 0.3, torch::kFloat64).requires_grad_();
  std::vector<std::int64_t> firsts;
  std::int64_t largest = 0;
  GroupedFunction function;
};

Tensor all_at_once(const Example& example) {
  return at::matmul((example.slope * at::matmul(example.x, example.y.t())).exp(), example.z);
}

void expect_near(const Tensor& found, const Tensor& expected) {
  ASSERT_EQ(found.sizes(), expected.sizes());
  const double largest = expected.numel() == 0 ? 0 : expected.abs().max().item<double>();
  EXPECT_LE((found - expected).abs().sum().item<double>(), 1e-12 * largest);
}

TEST(GroupedFunctions, HaveTheResultOfAllRows) {
  Example example;
  for (const bool keeps : {true, false}) {
    example.firsts.clear();
    expect_near(evaluate(example.function, example.tensors(), keeps), all_at_once(example));
    EXPECT_EQ(example.firsts, (std::vector<std::int64_t>{0, 3, 6}));
  }
  const torch::NoGradGuard no_grad;
  expect_near(evaluate(example.function, example.tensors(), false), all_at_once(example));
  EXPECT_EQ(example.largest, 3);
}

TEST(GroupedFunctions, HaveTheGradientsOfAllRows) {
  Example example;
  const std::vector<Tensor> wanted = {example.x, example.y, example.slope};
  const auto gradients = [&](const Tensor& result) {
    return torch::autograd::grad({result.square().sum()}, wanted);
  };
  const auto expected = gradients(all_at_once(example));
  for (const bool keeps : {true, false}) {
    const auto found = gradients(evaluate(example.function, example.tensors(), keeps));
    for (std::size_t i = 0; i < wanted.size(); ++i) expect_near(found[i], expected[i]);
  }
}

TEST(GroupedFunctions, ComputeAgainWhatTheyDoNotKeep) {
  Example example;
  const auto calls_of_backward = [&](bool keeps) {
    const Tensor sum = evaluate(example.function, example.tensors(), keeps).sum();
    example.firsts.clear();
    sum.backward();
    return example.firsts.size();
  };
  EXPECT_EQ(calls_of_backward(true), 0U);
  EXPECT_EQ(calls_of_backward(false), 3U);
}

TEST(GroupedFunctions, RefuseSecondDerivativesOfWhatTheyDoNotKeep) {
  Example example;
  const Tensor sum = evaluate(example.function, example.tensors(), false).sum();
  EXPECT_THROW((void)torch::autograd::grad({sum}, {example.x}, {}, true, true), UsageError);
}

TEST(GroupedFunctions, MayHaveNoRows) {
  Example example;
  example.function.rows = 0;
  example.x = at::zeros({0, 2}, torch::kFloat64).requires_grad_();
  for (const bool keeps : {true, false}) {
    const Tensor result = evaluate(example.function, example.tensors(), keeps);
    EXPECT_EQ(result.sizes(), (at::IntArrayRef{0, 4}));
    const auto found = torch::autograd::grad({result.sum()}, {example.x, example.y});
    EXPECT_EQ(found[0].sizes(), (at::IntArrayRef{0, 2}));
    expect_near(found[1], at::zeros_like(example.y));
  }
}

}  // namespace
}  // namespace funcattn
