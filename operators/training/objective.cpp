#include "operators/training/objective.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace funcattn {

namespace {

/// Points evaluated together in validation: enough to fill the cores, little memory.
constexpr std::int64_t points_together = 32768;

bool same_size(const Sample& a, const Sample& b) {
  return a.query_is_source == b.query_is_source &&
         a.source.weights.sizes() == b.source.weights.sizes() &&
         a.query.weights.sizes() == b.query.weights.sizes();
}

}  // namespace

Objective::Objective(const Operator& op, Loss loss) : op_(op), loss_(loss) {
  const std::vector<double>& scale = op.contract().output_normalisation.scale;
  if (scale.empty()) return;
  double squares = 0;
  for (const double s : scale) squares += s * s;
  floor_ *= std::sqrt(squares / static_cast<double>(scale.size()));
  if (std::any_of(scale.begin(), scale.end(), [](double s) { return s != 1.0; }))
    inverse_scale_ = torch::tensor(scale, torch::kFloat64).reciprocal().to(op.device());
}

Tensor Objective::sample_losses(const Batch& batch) const {
  const PointSamples source = op_.normalise(batch.source);
  const PointSamples query = batch.query_is_source ? source : op_.normalise(batch.query);
  Tensor prediction = op_.denormalise(op_.predict(source, query).to(torch::kFloat64));
  Tensor targets = batch.targets.to(prediction.options());
  if (loss_ == Loss::mse && inverse_scale_.defined()) {
    prediction = prediction * inverse_scale_;
    targets = targets * inverse_scale_;
  }
  return funcattn::sample_losses(loss_, prediction, targets,
                                 batch.query.weights.to(prediction.device()), floor_);
}

double Objective::mean_loss(const std::vector<Sample>& samples) const {
  const torch::NoGradGuard no_grad;
  double sum = 0;
  for (std::size_t begin = 0; begin < samples.size();) {
    const Sample& first = samples[begin];
    const std::int64_t points = first.source.weights.size(0) + first.query.weights.size(0);
    const std::size_t limit = begin + static_cast<std::size_t>(std::max<std::int64_t>(
                                          1, points_together / std::max<std::int64_t>(1, points)));
    std::vector<Sample> group;
    for (; begin < samples.size() && begin < limit && same_size(first, samples[begin]); ++begin)
      group.push_back(samples[begin]);
    sum += sample_losses(collate(group)).sum().item<double>();
  }
  return samples.empty() ? std::numeric_limits<double>::quiet_NaN()
                         : sum / static_cast<double>(samples.size());
}

}  // namespace funcattn
