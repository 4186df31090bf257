#include "examples/evaluate/metrics.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "meshio/h1_seminorm.h"
#include "plugin/prediction.h"

namespace funcattn {

namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

enum class Worst { largest, least };

SampleFigure figure(const std::vector<double>& values, const std::vector<std::string>& names,
                    Worst kind) {
  const auto at = kind == Worst::largest ? std::max_element(values.begin(), values.end())
                                         : std::min_element(values.begin(), values.end());
  return {mean(values), median(values), *at, names[static_cast<std::size_t>(at - values.begin())]};
}

Json figure_json(const SampleFigure& figure) {
  return {{"mean", figure.mean},
          {"median", figure.median},
          {"worst", figure.worst},
          {"worst_sample", figure.worst_sample}};
}

/// Nothing where the truth is not a class at every point of positive weight.
std::optional<double> class_accuracy(const Tensor& prediction, const Tensor& truth,
                                     const Tensor& weights) {
  if (truth.size(1) < 2) return std::nullopt;
  const Tensor present = weights > 0;
  const Tensor known = truth.index({present});
  const Tensor is_class = ((known == 1).sum(1) == 1) & ((known == 0).sum(1) == truth.size(1) - 1);
  if (!is_class.all().item<bool>()) return std::nullopt;
  const Tensor right = prediction.index({present}).argmax(1) == known.argmax(1);
  const Tensor w = weights.index({present});
  return ((right.to(w.dtype()) * w).sum() / w.sum()).item<double>();
}

std::optional<double> relative_h1_error(const Tensor& prediction, const Tensor& truth,
                                        const Mesh& mesh) {
  const RowMatrix known = to_matrix(truth);
  const auto norms = h1_seminorms(mesh, {to_matrix(prediction) - known, known});
  if (!norms) return std::nullopt;
  return (*norms)[0] / std::max((*norms)[1], relative_l2_floor);
}

}  // namespace

Tensor predict_sample(const Operator& op, const Sample& sample) {
  const torch::NoGradGuard no_gradient;
  const PointSamples query = add_batch_axis(sample.query);
  const PointSamples source = sample.query_is_source ? query : add_batch_axis(sample.source);
  return op.apply(source, query).squeeze(0).to(torch::kCPU, torch::kFloat64);
}

CaseEvaluation::CaseEvaluation(const Operator& op, std::string label)
    : op_(op), label_(std::move(label)), fields_(op.contract().outputs.size()) {}

Tensor CaseEvaluation::add(const Sample& sample, const Mesh* mesh) {
  const auto start = std::chrono::steady_clock::now();
  const Tensor prediction = predict_sample(op_, sample);
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  points_ += static_cast<double>(prediction.size(0));
  names_.push_back(sample.name);
  if (!prediction.isfinite().all().item<bool>())
    throw NumericError("the prediction for '" + sample.name +
                       "' is not finite; check its inputs against the training range "
                       "(funcattn info lists it)");
  const Tensor target = sample.targets.to(torch::kFloat64);
  const Tensor weights = sample.query.weights.to(torch::kFloat64);
  std::int64_t channel = 0;
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const ArraySpec& output = op_.contract().outputs[f];
    const Tensor predicted = prediction.narrow(1, channel, output.components);
    const Tensor truth = target.narrow(1, channel, output.components);
    channel += output.components;
    fields_[f].errors.push_back(field_error(predicted, truth, weights));
    if (const auto accuracy = class_accuracy(predicted, truth, weights))
      fields_[f].accuracy.push_back(*accuracy);
    if (mesh == nullptr || output.association != Association::point) continue;
    if (const auto h1 = relative_h1_error(predicted, truth, *mesh))
      fields_[f].relative_h1.push_back(*h1);
  }
  return prediction;
}

CaseMetrics CaseEvaluation::result() const {
  if (names_.empty())
    throw DataError("no samples to evaluate for '" + label_ + "'; check the data folder");
  CaseMetrics result;
  result.label = label_;
  result.samples = static_cast<int>(names_.size());
  result.points = points_ / static_cast<double>(names_.size());
  result.seconds_per_million_points = seconds_ / points_ * 1e6;
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const FieldSamples& samples = fields_[f];
    FieldMetrics field;
    field.field = op_.contract().outputs[f].name;
    std::vector<double> relative, squares;
    for (const FieldError& errors : samples.errors) {
      relative.push_back(errors.relative_l2);
      squares.push_back(errors.mse);
      field.max_error = std::max(field.max_error, errors.max_error);
    }
    const SampleFigure l2 = figure(relative, names_, Worst::largest);
    field.relative_l2 = l2.mean;
    field.relative_l2_median = l2.median;
    field.relative_l2_worst = l2.worst;
    field.worst_sample = l2.worst_sample;
    field.mse = mean(squares);
    field.rmse = std::sqrt(field.mse);
    if (samples.relative_h1.size() == names_.size())
      field.relative_h1 = figure(samples.relative_h1, names_, Worst::largest);
    if (samples.accuracy.size() == names_.size())
      field.accuracy = figure(samples.accuracy, names_, Worst::least);
    result.fields.push_back(std::move(field));
  }
  return result;
}

CaseMetrics evaluate_samples(const Operator& op, const std::vector<Sample>& samples,
                             const std::string& label) {
  CaseEvaluation evaluation(op, label);
  for (const Sample& sample : samples) evaluation.add(sample);
  return evaluation.result();
}

double overall_relative_l2(const CaseMetrics& metrics) {
  double sum = 0;
  for (const FieldMetrics& field : metrics.fields) sum += field.relative_l2;
  return sum / static_cast<double>(metrics.fields.size());
}

Json CaseMetrics::to_json() const {
  Json json = {{"label", label},
               {"samples", samples},
               {"points", points},
               {"seconds_per_million_points", seconds_per_million_points}};
  for (const FieldMetrics& field : fields) {
    Json& entry = json["fields"][field.field];
    entry = {{"relative_l2", field.relative_l2},
             {"relative_l2_median", field.relative_l2_median},
             {"relative_l2_worst", field.relative_l2_worst},
             {"worst_sample", field.worst_sample},
             {"mse", field.mse},
             {"rmse", field.rmse},
             {"max_error", field.max_error}};
    if (field.relative_h1) entry["relative_h1"] = figure_json(*field.relative_h1);
    if (field.accuracy) entry["accuracy"] = figure_json(*field.accuracy);
  }
  return json;
}

}  // namespace funcattn
