#include "operators/operator.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "operators/engine/reduction.h"
#include "operators/model_weights.h"
#include "operators/plane_maps.h"

namespace funcattn {

namespace {

void require_equal(int found, int expected, const std::string& what, const std::string& of_model) {
  if (found != expected)
    throw UsageError("operator: the contract has " + what + " " + std::to_string(found) +
                     ", but the model has " + of_model + " " + std::to_string(expected));
}

void require_shape(const Tensor& tensor, at::IntArrayRef expected, const char* what) {
  if (tensor.defined() && tensor.sizes() == expected) return;
  throw UsageError(c10::str("operator: ", what, " are ",
                            tensor.defined() ? c10::str(tensor.sizes()) : "not given",
                            ", expected ", expected));
}

Tensor row(const std::vector<double>& numbers, const torch::Device& device) {
  return torch::tensor(numbers, torch::dtype(torch::kFloat64)).to(device);
}

bool all_equal(const std::vector<double>& numbers, double value) {
  return std::all_of(numbers.begin(), numbers.end(), [&](double x) { return x == value; });
}

Tensor normalise_channels(const Tensor& values, const Normalisation& normalisation) {
  if (all_equal(normalisation.mean, 0) && all_equal(normalisation.scale, 1)) return values;
  return (values - row(normalisation.mean, values.device())) /
         row(normalisation.scale, values.device());
}

// Only their ratios within a sample matter, but in float32 the cell volumes of a small part would
// all become 0: mean 1 over the points that are there.
Tensor normalise_weights(const Tensor& weights) {
  if (weights.size(1) == 0) return weights;
  const Tensor largest = weights.amax(1, /*keepdim=*/true);
  const Tensor bounded = weights / torch::where(largest > 0, largest, torch::ones_like(largest));
  const Tensor present = (weights > 0).to(torch::kFloat64).sum(1, /*keepdim=*/true);
  const Tensor sum = bounded.sum(1, /*keepdim=*/true);
  return torch::where(sum > 0, bounded * present / sum, bounded);
}

/// Adds seconds to those that were spent on the same.
void add_times(const EngineProfile& times, EngineProfile& total) {
  for (const auto& [name, seconds] : times) {
    const auto known =
        std::find_if(total.begin(), total.end(),
                     [&, &what = name](const auto& entry) { return entry.first == what; });
    if (known == total.end())
      total.emplace_back(name, seconds);
    else
      known->second += seconds;
  }
}

/// As above for a sample of which other processes hold points.
Tensor normalise_weights_together(const Tensor& weights, const std::vector<std::int64_t>& pieces,
                                  const Reduction& reduction) {
  const std::int64_t batch = weights.size(0);
  std::vector<double> largest(static_cast<std::size_t>(batch), 0.0);
  if (weights.size(1) > 0)
    for (std::int64_t b = 0; b < batch; ++b)
      largest[static_cast<std::size_t>(b)] = weights[b].max().item<double>();
  reduction.maximum(largest);
  Tensor result = weights.clone();
  for (std::int64_t b = 0; b < batch; ++b) {
    const Tensor row = result[b];
    if (const double most = largest[static_cast<std::size_t>(b)]; most > 0) row.div_(most);
    // By piece, so that no bit depends on who holds it.
    std::vector<std::vector<double>> terms;
    std::int64_t first = 0;
    const auto add = [&](std::int64_t count) {
      const Tensor part = row.narrow(0, first, count);
      terms.push_back(
          {static_cast<double>((part > 0).sum().item<std::int64_t>()), part.sum().item<double>()});
      first += count;
    };
    if (reduction.fixes_order())
      for (const std::int64_t piece : pieces) add(piece);
    if (first < row.size(0)) add(row.size(0) - first);
    const std::vector<double> sums = reduction.total(terms, 2);
    if (sums[1] > 0) row.mul_(sums[0] / sums[1]);
  }
  return result;
}

}  // namespace

Operator::Operator(std::shared_ptr<Model> model, Contract contract, Json training)
    : model_(std::move(model)), contract_(std::move(contract)), training_(std::move(training)) {
  contract_.validate();
  const ModelConfig& config = model_->config();
  require_equal(contract_.coordinates.dimension(), config.coordinate_dimension, "coordinate axes",
                "coordinates");
  require_equal(contract_.value_components(), config.value_features, "value input components",
                "value features");
  require_equal(contract_.output_components(), config.out_features, "output components",
                "output features");
}

Operator Operator::without_symmetries() const {
  if (contract_.symmetries.kind == Symmetries::none)
    throw UsageError(
        "the operator predicts no mean over symmetries, so that its prediction is a single one "
        "already; leave the choice of a single prediction away");
  Contract contract = contract_;
  contract.symmetries = {};
  return Operator(model_, std::move(contract), training_);
}

Operator Operator::on_device(torch::Device device) const {
  const std::shared_ptr<Model> copy =
      model_from_weights(model_->config(), model_weights(*model_), dtype());
  copy->to(device);
  copy->eval();
  return {copy, contract_, training_};
}

torch::Dtype Operator::dtype() const {
  return model_->parameters().front().scalar_type();
}

torch::Device Operator::device() const {
  return model_->parameters().front().device();
}

PointSamples Operator::normalise(const PointSamples& physical, const EngineOptions& options) const {
  const auto& coordinates = physical.coordinates;
  if (!coordinates.defined() || coordinates.dim() != 3)
    throw UsageError("operator: coordinates are not a tensor [batch, points, axes]");
  const auto batch = coordinates.size(0);
  const auto points = coordinates.size(1);
  require_shape(coordinates, {batch, points, contract_.coordinates.dimension()}, "coordinates");
  require_shape(physical.weights, {batch, points}, "weights");
  if (physical.values.defined())
    require_shape(physical.values, {batch, points, contract_.value_components()}, "values");

  const auto in_float64 = [&](const Tensor& tensor) {
    return tensor.to(device(), torch::kFloat64);
  };
  const Tensor weights = in_float64(physical.weights);
  PointSamples result;
  result.shares = physical.shares;
  result.pieces = physical.pieces;
  const Reduction reduction(options.processes, options.fixed_order);
  // Batches of small samples cost mostly the calls, so what would change nothing is left out. On
  // other devices looking at the weights would cost more, a wait.
  bool all_present = false;
  if (weights.is_cpu() && weights.numel() > 0) {
    const auto [lowest, highest] = weights.aminmax();
    const double smallest = lowest.item<double>();
    all_present = smallest > 0;
    if (all_present && smallest == highest.item<double>() && std::isfinite(smallest) &&
        !reduction.is_needed())
      result.weights = torch::ones({batch, points}, torch::dtype(dtype()));
  }
  if (!result.weights.defined())
    result.weights =
        (reduction.is_needed() ? normalise_weights_together(weights, physical.pieces, reduction)
                               : normalise_weights(weights))
            .to(dtype());

  Tensor present;
  if (!all_present) present = (weights > 0).unsqueeze(-1);
  // A point of weight 0 takes no part, yet it is given a value: only what is not finite there is
  // replaced, the coordinates of a ghost point stay.
  const auto to_model = [&](const Tensor& normalised) {
    const Tensor cast = normalised.to(dtype());
    if (all_present) return cast;
    return torch::where(present.logical_or(cast.isfinite()), cast, torch::zeros_like(cast));
  };

  const CoordinateHandling& handling = contract_.coordinates;
  Tensor placed = in_float64(coordinates);
  if (!all_equal(handling.center, 0) || handling.scale != 1)
    placed = (placed - row(handling.center, device())) / handling.scale;
  result.coordinates = to_model(placed);
  if (physical.values.defined())
    result.values =
        to_model(normalise_channels(in_float64(physical.values), contract_.input_normalisation));
  return result;
}

Tensor Operator::denormalise(const Tensor& prediction) const {
  const Normalisation& normalisation = contract_.output_normalisation;
  if (normalisation.mean.empty()) return prediction;
  const Tensor physical =
      prediction.to(torch::kFloat64) * row(normalisation.scale, prediction.device()) +
      row(normalisation.mean, prediction.device());
  return physical.to(prediction.scalar_type());
}

Tensor Operator::predict(const PointSamples& source, const PointSamples& query) const {
  if (!at::GradMode::is_enabled() && device().is_cpu() && model_->has_engine())
    return InferenceEngine(*model_).predict(source, query);
  return model_->predict(source, query);
}

namespace {

bool same_points(const PointSamples& a, const PointSamples& b) {
  return a.coordinates.is_same(b.coordinates) && a.values.is_same(b.values) &&
         a.weights.is_same(b.weights);
}

}  // namespace

template <class Predict>
Tensor Operator::mean_over_symmetries(const PointSamples& source, const PointSamples& query,
                                      const EngineOptions& options, const Predict& predict) const {
  const bool are_same = same_points(source, query);
  const auto predict_at = [&](const PointSamples& from, const PointSamples& at,
                              const EngineOptions& with) {
    const PointSamples normalised = normalise(from, with);
    return predict(normalised, are_same ? normalised : normalise(at, with), with);
  };
  const SymmetryGroup& group = contract_.symmetries;
  const int order = group.order();
  if (order == 1) return denormalise(predict_at(source, query, options));
  Tensor sum;
  for (int element = 0; element < order; ++element) {
    EngineOptions part = options;
    EngineProfile profile;
    if (options.profile) part.profile = &profile;
    part.progress = part_of(options.progress, static_cast<double>(element) / order,
                            static_cast<double>(element + 1) / order);
    const PointSamples moved = mapped(source, group, element);
    const Tensor prediction =
        predict_at(moved, are_same ? moved : mapped(query, group, element), part);
    sum = sum.defined() ? sum + prediction : prediction;
    if (options.profile) add_times(profile, *options.profile);
  }
  return denormalise(sum / order);
}

Tensor Operator::apply(const PointSamples& source, const PointSamples& query) const {
  return mean_over_symmetries(source, query, {},
                              [&](const PointSamples& from, const PointSamples& at,
                                  const EngineOptions&) { return predict(from, at); });
}

Tensor Operator::apply(const PointSamples& source, const PointSamples& query,
                       const InferenceEngine& engine, const EngineOptions& options) const {
  return mean_over_symmetries(
      source, query, options,
      [&](const PointSamples& from, const PointSamples& at, const EngineOptions& with) {
        return engine.predict(from, at, with);
      });
}

}  // namespace funcattn
