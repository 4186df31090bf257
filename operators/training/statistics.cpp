#include "operators/training/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

#include "core/error.h"

namespace funcattn {

namespace {

constexpr double constant_spread = 1e-12;

/// Neumaier's compensated sum: its error does not grow with the number of terms, whatever their
/// order.
class CompensatedSum {
 public:
  void add(double term) {
    const double sum = sum_ + term;
    lost_ += std::abs(sum_) >= std::abs(term) ? (sum_ - sum) + term : (term - sum) + sum_;
    sum_ = sum;
  }
  double value() const { return sum_ + lost_; }

 private:
  double sum_ = 0;
  double lost_ = 0;
};

/// One sample's present points, checked and in float64.
struct CheckedSample {
  CheckedSample(const std::string& name, const Tensor& channels, const Tensor& weights,
                std::int64_t expected_channels) {
    if (channels.dim() != 2 || weights.dim() != 1 || channels.size(0) != weights.size(0))
      throw DataError("sample '" + name + "': expected channels [N,C] and weights [N]");
    count = channels.size(1);
    if (count != expected_channels)
      throw DataError("sample '" + name + "' has " + std::to_string(count) +
                      " channels, the samples before it " + std::to_string(expected_channels));
    values_ = channels.detach().to(torch::kCPU, torch::kFloat64).contiguous();
    weights_ = weights.detach().to(torch::kCPU, torch::kFloat64).contiguous();
    const double* w = weights_.data_ptr<double>();
    CompensatedSum sum;
    for (std::int64_t i = 0; i < weights_.size(0); ++i) {
      if (!std::isfinite(w[i]) || w[i] < 0)
        throw DataError("sample '" + name + "': the weight of point " + std::to_string(i) +
                        " is negative or not finite; expected 0 or more");
      sum.add(w[i]);
    }
    total = sum.value();
    for_each_point([&](std::int64_t i, const double* values, double) {
      for (std::int64_t c = 0; c < count; ++c)
        if (!std::isfinite(values[c]))
          throw DataError("sample '" + name + "': channel " + std::to_string(c) + " of point " +
                          std::to_string(i) +
                          " is not finite; mask the point (weight 0) or drop the sample");
    });
  }

  template <typename Visitor>
  void for_each_point(const Visitor& visit) const {
    const double* w = weights_.data_ptr<double>();
    const double* x = values_.data_ptr<double>();
    for (std::int64_t i = 0; i < weights_.size(0); ++i)
      if (w[i] > 0) visit(i, x + i * count, w[i]);
  }

  std::int64_t count = 0;
  double total = 0;

 private:
  Tensor values_;
  Tensor weights_;
};

}  // namespace

Normalisation channel_statistics(const std::vector<std::string>& names,
                                 const std::vector<Tensor>& channels,
                                 const std::vector<Tensor>& weights, ProcessGroup* pieces) {
  if (names.size() != channels.size() || names.size() != weights.size())
    throw UsageError("channel statistics: " + std::to_string(names.size()) + " names, " +
                     std::to_string(channels.size()) + " channel tensors and " +
                     std::to_string(weights.size()) + " weight tensors; expected as many of each");
  if (names.empty()) throw DataError("channel statistics: there are no samples");
  const std::int64_t count = channels.front().dim() == 2 ? channels.front().size(1) : 0;

  std::vector<double> totals;  // Of the weights of each sample.
  for (std::size_t s = 0; s < names.size(); ++s)
    totals.push_back(CheckedSample(names[s], channels[s], weights[s], count).total);
  if (pieces) pieces->sum(totals.data(), totals.size());
  for (std::size_t s = 0; s < names.size(); ++s)
    if (!(totals[s] > 0))
      throw DataError("sample '" + names[s] + "' has no point of positive weight");

  // Mean over samples of the weighted mean of `term(value, channel)` over the points.
  const auto mean_over_samples = [&](const std::function<double(double, std::int64_t)>& term) {
    std::vector<double> of_samples;  // [samples, channels]
    for (std::size_t s = 0; s < names.size(); ++s) {
      const CheckedSample sample(names[s], channels[s], weights[s], count);
      std::vector<CompensatedSum> over_points(static_cast<std::size_t>(count));
      sample.for_each_point([&](std::int64_t, const double* values, double weight) {
        for (std::int64_t c = 0; c < count; ++c)
          over_points[static_cast<std::size_t>(c)].add(weight / totals[s] * term(values[c], c));
      });
      for (const CompensatedSum& sum : over_points) of_samples.push_back(sum.value());
    }
    if (pieces) pieces->sum(of_samples.data(), of_samples.size());
    std::vector<CompensatedSum> over_samples(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < of_samples.size(); ++i)
      over_samples[i % over_samples.size()].add(of_samples[i]);
    std::vector<double> means;
    for (const auto& sum : over_samples)
      means.push_back(sum.value() / static_cast<double>(names.size()));
    return means;
  };

  std::vector<double> magnitude(static_cast<std::size_t>(count), 0.0);
  Normalisation statistics;
  statistics.mean = mean_over_samples([&](double value, std::int64_t c) {
    double& largest = magnitude[static_cast<std::size_t>(c)];
    largest = std::max(largest, std::abs(value));
    return value;
  });
  if (pieces) pieces->maximum(magnitude.data(), magnitude.size());
  statistics.scale = mean_over_samples([&](double value, std::int64_t c) {
    const double deviation = value - statistics.mean[static_cast<std::size_t>(c)];
    return deviation * deviation;
  });
  for (std::size_t c = 0; c < statistics.scale.size(); ++c) {
    double& scale = statistics.scale[c];
    scale = std::sqrt(scale);
    if (!std::isfinite(scale))
      throw DataError("channel statistics: the values of channel " + std::to_string(c) +
                      " are too large to square; use another unit");
    if (scale <= constant_spread * magnitude[c]) scale = 1.0;
  }
  return statistics;
}

}  // namespace funcattn
