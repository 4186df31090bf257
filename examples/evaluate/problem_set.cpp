#include "examples/evaluate/problem_set.h"

#include <algorithm>
#include <cmath>

#include "core/text.h"

namespace funcattn {

namespace {

/// What the same problem may differ by from resolution to resolution, as a share of the scale: the
/// bias of weights near the boundary, and of a field that few points sample. Measured on the
/// generated tasks and on published grids the differences are at most three quarters of it.
double tolerance(double points) {
  return 0.1 + 2 / std::sqrt(points);
}

/// A field that varies by less of its size is a constant with noise.
constexpr double least_variation = 1e-4;

/// Of a component: of the output's, where there are several.
std::string quoted(const OutputArray& output, std::int64_t component) {
  const std::string name = "'" + output.name + "'";
  return output.components == 1 ? name : "component " + std::to_string(component) + " of " + name;
}

double number(const Tensor& tensor) {
  return tensor.item<double>();
}

}  // namespace

void ProblemSet::add(const std::string& name, const Sample& sample, const Contract& contract,
                     const Tensor& weights) {
  const Tensor counted = weights.to(torch::kFloat64) > 0;
  const Tensor shares = [&] {
    const Tensor kept = weights.to(torch::kFloat64).index({counted});
    return (kept / kept.sum()).unsqueeze(1);
  }();
  const Tensor truth = sample.targets.to(torch::kFloat64).index({counted});
  const Tensor places = sample.query.coordinates.to(torch::kFloat64).index({counted});
  const auto mean = [&](const Tensor& values) { return (shares * values).sum(0); };

  Problem problem{name, static_cast<double>(shares.size(0)), {}};
  const Tensor center = mean(places), offsets = places - center;
  const Tensor extents = mean(offsets.square()).sqrt();
  const double extent = extents.size(0) > 0 ? number(extents.max()) : 0;
  const auto axis = [&](std::int64_t i) {
    return std::string(1, "xyz"[contract.coordinates.axes[static_cast<std::size_t>(i)]]);
  };
  for (std::int64_t i = 0; i < extents.size(0); ++i) {
    problem.moments.push_back({"the mean of " + axis(i), number(center[i]), extent});
    problem.moments.push_back({"the standard deviation of " + axis(i), number(extents[i]), extent});
  }
  std::int64_t column = 0;
  for (const OutputArray& output : contract.outputs) {
    const Tensor values = truth.narrow(1, column, output.components);
    column += output.components;
    const Tensor means = mean(values), rest = values - means;
    const double scale = std::max(std::sqrt(number(mean(rest.square()).sum())),
                                  least_variation * std::sqrt(number(mean(values.square()).sum())));
    for (std::int64_t c = 0; c < output.components; ++c) {
      const Tensor own = rest.narrow(1, c, 1);
      const std::string of = quoted(output, c);
      problem.moments.push_back({"the mean of " + of, number(means[c]), scale});
      problem.moments.push_back(
          {"the standard deviation of " + of, std::sqrt(number(mean(own.square()))), scale});
      for (std::int64_t i = 0; i < extents.size(0); ++i) {
        const bool extended = number(extents[i]) > least_variation * extent;
        const double trend =
            extended ? number(mean(own * offsets.narrow(1, i, 1)) / extents[i]) : 0.0;
        problem.moments.push_back({"the trend of " + of + " along " + axis(i), trend, scale});
      }
    }
  }
  problems_.push_back(std::move(problem));
}

std::string ProblemSet::difference(const ProblemSet& other) const {
  if (problems_.size() != other.problems_.size())
    return "they have " + std::to_string(problems_.size()) + " and " +
           std::to_string(other.problems_.size()) + " samples";
  for (std::size_t i = 0; i < problems_.size(); ++i) {
    const Problem& a = problems_[i];
    const Problem& b = other.problems_[i];
    if (a.name != b.name)
      return "their samples have different names, such as '" + a.name + "' and '" + b.name + "'";
    const double allowed = tolerance(std::min(a.points, b.points));
    for (std::size_t m = 0; m < a.moments.size(); ++m) {
      const Moment& one = a.moments[m];
      const Moment& two = b.moments[m];
      if (std::abs(one.value - two.value) > allowed * std::max(one.scale, two.scale))
        return one.name + " in '" + a.name + "' is " + format_significant(one.value, 3) +
               " in one and " + format_significant(two.value, 3) + " in the other";
    }
  }
  return "";
}

}  // namespace funcattn
