#include "examples/train/point_subset.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"

namespace funcattn {

namespace {

class PointSubset final : public Augmentation {
 public:
  PointSubset(std::int64_t count, SamplingMethod method) : count_(count), method_(method) {}

  Sample apply(const Sample& sample, RandomGenerator& random) const override {
    if (!sample.query_is_source)
      throw UsageError("sample '" + sample.name +
                       "': its queries differ from its source, which subsets of the points do not "
                       "know; train on all points");
    const Tensor weights = sample.source.weights.to(torch::kFloat64).contiguous();
    const std::int64_t points = weights.size(0);
    std::vector<Eigen::Index> rows;
    for (std::int64_t i = 0; i < points; ++i)
      if (weights.data_ptr<double>()[i] > 0) rows.push_back(i);
    if (static_cast<std::int64_t>(rows.size()) <= count_) return sample;

    // Up to three axes; those that are missing are 0.
    const Tensor coordinates = sample.source.coordinates.to(torch::kFloat64);
    RowMatrix places = RowMatrix::Zero(points, 3);
    for (std::int64_t axis = 0; axis < coordinates.size(1); ++axis) {
      const Tensor column = coordinates.select(1, axis).contiguous();
      places.col(axis) = Eigen::Map<const Eigen::VectorXd>(column.data_ptr<double>(), points);
    }
    const std::vector<Eigen::Index> chosen =
        choose_rows(places, std::move(rows), count_, method_, random);
    const Eigen::VectorXd shares = subset_weights(
        places, Eigen::Map<const Eigen::VectorXd>(weights.data_ptr<double>(), points), chosen);

    const Tensor index =
        torch::tensor(std::vector<std::int64_t>(chosen.begin(), chosen.end()), torch::kInt64);
    Sample subset = sample;
    subset.source.coordinates = sample.source.coordinates.index_select(0, index);
    if (sample.source.values.defined())
      subset.source.values = sample.source.values.index_select(0, index);
    subset.source.weights =
        torch::tensor(std::vector<double>(shares.data(), shares.data() + shares.size()),
                      torch::kFloat64)
            .to(sample.source.weights.scalar_type());
    subset.query = subset.source;
    subset.targets = sample.targets.index_select(0, index);
    return subset;
  }

  void skip(const Sample& sample, RandomGenerator& random) const override {
    skip_choice(sample.source.weights.gt(0).sum().item<std::int64_t>(), count_, method_, random);
  }

  Json description() const override {
    return Json{{"kind", "points"},
                {"count", count_},
                {"choice", method_ == SamplingMethod::even ? "even" : "random"}};
  }

 private:
  std::int64_t count_;
  SamplingMethod method_;
};

}  // namespace

std::shared_ptr<const Augmentation> make_point_subset(std::int64_t count, SamplingMethod method) {
  if (count < 1)
    throw UsageError("the number of points of a subset is " + std::to_string(count) +
                     ", expected 1 or more");
  return std::make_shared<PointSubset>(count, method);
}

}  // namespace funcattn
