#include "examples/evaluate/metrics.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "core/error.h"

namespace funcattn {

namespace {

PointSamples with_batch_axis(const PointSamples& samples) {
  const auto expand = [](const Tensor& tensor) {
    return tensor.defined() ? tensor.unsqueeze(0) : tensor;
  };
  return {expand(samples.coordinates), expand(samples.values), expand(samples.weights)};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

Tensor predict_sample(const Operator& op, const Sample& sample) {
  const torch::NoGradGuard no_gradient;
  const PointSamples query = with_batch_axis(sample.query);
  const PointSamples source = sample.query_is_source ? query : with_batch_axis(sample.source);
  return op.apply(source, query).squeeze(0).to(torch::kCPU, torch::kFloat64);
}

CaseMetrics evaluate_samples(const Operator& op, const std::vector<Sample>& samples,
                             const std::string& label) {
  if (samples.empty())
    throw DataError("no samples to evaluate for '" + label + "'; check the data folder");
  const std::vector<ArraySpec>& outputs = op.contract().outputs;
  std::vector<std::vector<FieldError>> errors(outputs.size());
  double seconds = 0;
  double points = 0;
  for (const Sample& sample : samples) {
    const auto start = std::chrono::steady_clock::now();
    const Tensor prediction = predict_sample(op, sample);
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    points += static_cast<double>(prediction.size(0));
    if (!prediction.isfinite().all().item<bool>())
      throw NumericError("the prediction for '" + sample.name +
                         "' is not finite; check its inputs against the training range "
                         "(funcattn info lists it)");
    const Tensor target = sample.targets.to(torch::kFloat64);
    const Tensor weights = sample.query.weights.to(torch::kFloat64);
    std::int64_t channel = 0;
    for (std::size_t f = 0; f < outputs.size(); ++f) {
      const std::int64_t width = outputs[f].components;
      errors[f].push_back(field_error(prediction.narrow(1, channel, width),
                                      target.narrow(1, channel, width), weights));
      channel += width;
    }
  }

  CaseMetrics result;
  result.label = label;
  result.samples = static_cast<int>(samples.size());
  result.points = points / static_cast<double>(samples.size());
  result.seconds_per_million_points = seconds / points * 1e6;
  for (std::size_t f = 0; f < outputs.size(); ++f) {
    FieldMetrics field;
    field.field = outputs[f].name;
    std::vector<double> relative, squares;
    for (std::size_t s = 0; s < samples.size(); ++s) {
      const FieldError& sample_errors = errors[f][s];
      relative.push_back(sample_errors.relative_l2);
      squares.push_back(sample_errors.mse);
      field.max_error = std::max(field.max_error, sample_errors.max_error);
      if (s == 0 || sample_errors.relative_l2 > field.relative_l2_worst) {
        field.relative_l2_worst = sample_errors.relative_l2;
        field.worst_sample = samples[s].name;
      }
    }
    field.relative_l2 = mean(relative);
    field.relative_l2_median = median(relative);
    field.mse = mean(squares);
    field.rmse = std::sqrt(field.mse);
    result.fields.push_back(std::move(field));
  }
  return result;
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
  for (const FieldMetrics& field : fields)
    json["fields"][field.field] = {{"relative_l2", field.relative_l2},
                                   {"relative_l2_median", field.relative_l2_median},
                                   {"relative_l2_worst", field.relative_l2_worst},
                                   {"worst_sample", field.worst_sample},
                                   {"mse", field.mse},
                                   {"rmse", field.rmse},
                                   {"max_error", field.max_error}};
  return json;
}

}  // namespace funcattn
