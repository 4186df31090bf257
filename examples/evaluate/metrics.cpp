#include "examples/evaluate/metrics.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.h"
#include "meshio/h1_seminorm.h"
#include "operators/training/loss.h"
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

Json number_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json figure_json(const SampleFigure& figure) {
  return {{"mean", figure.mean},
          {"median", figure.median},
          {"worst", figure.worst},
          {"worst_sample", figure.worst_sample}};
}

/// Nothing where no point counts.
std::optional<double> share_of_right(const Tensor& prediction, const Tensor& classes,
                                     const Tensor& weights) {
  const double share =
      accuracies(prediction.unsqueeze(0), classes.unsqueeze(0), weights.unsqueeze(0))
          .item<double>();
  return std::isnan(share) ? std::nullopt : std::optional(share);
}

/// Nothing where the truth is not one component 1, the others 0, at every point of positive weight.
std::optional<double> one_hot_accuracy(const Tensor& prediction, const Tensor& truth,
                                       const Tensor& weights) {
  if (truth.size(1) < 2) return std::nullopt;
  const Tensor known = truth.index({weights > 0});
  const Tensor is_class = ((known == 1).sum(1) == 1) & ((known == 0).sum(1) == truth.size(1) - 1);
  if (!is_class.all().item<bool>()) return std::nullopt;
  return share_of_right(prediction, truth.argmax(1), weights);
}

std::optional<double> relative_h1_error(const Tensor& prediction, const Tensor& truth,
                                        const Mesh& mesh) {
  const RowMatrix known = to_matrix(truth);
  const auto norms = h1_seminorms(mesh, {to_matrix(prediction) - known, known});
  if (!norms) return std::nullopt;
  return (*norms)[0] / std::max((*norms)[1], relative_l2_floor);
}

}  // namespace

double ClassFigures::recall() const {
  return points == 0 ? std::numeric_limits<double>::quiet_NaN()
                     : static_cast<double>(right) / static_cast<double>(points);
}

double ClassFigures::precision() const {
  return predicted == 0 ? std::numeric_limits<double>::quiet_NaN()
                        : static_cast<double>(right) / static_cast<double>(predicted);
}

double mean_recall(const std::vector<ClassFigures>& classes) {
  std::vector<double> recalls;
  for (const ClassFigures& figures : classes)
    if (figures.points > 0) recalls.push_back(figures.recall());
  return recalls.empty() ? std::numeric_limits<double>::quiet_NaN() : mean(recalls);
}

Tensor predict_sample(const Operator& op, const Sample& sample) {
  const torch::NoGradGuard no_gradient;
  const PointSamples query = add_batch_axis(sample.query);
  const PointSamples source = sample.query_is_source ? query : add_batch_axis(sample.source);
  return op.apply(source, query).squeeze(0).to(torch::kCPU, torch::kFloat64);
}

CaseEvaluation::CaseEvaluation(const Operator& op, std::string label)
    : op_(op), label_(std::move(label)), fields_(op.contract().outputs.size()) {
  for (std::size_t f = 0; f < fields_.size(); ++f)
    for (const int value : op.contract().outputs[f].classes)
      fields_[f].classes.push_back({value, 0, 0, 0});
}

/// @param predicted [M,C] @param classes [M] as class_indices() gives them
void CaseEvaluation::count(const OutputArray& output, const Tensor& predicted,
                           const Tensor& classes, const Tensor& weights, FieldSamples& field) {
  const Tensor counts = (weights > 0).logical_and(classes.ne(class_ignored));
  const Tensor truth = classes.index({counts});
  const Tensor said = predicted.argmax(1).index({counts});
  const auto total = static_cast<std::int64_t>(output.classes.size());
  const auto by_class = [&](const Tensor& indices) {
    return at::bincount(indices, {}, total).to(torch::kInt64).contiguous();
  };
  const Tensor points = by_class(truth.index({truth.ge(0)}));
  const Tensor named = by_class(said);
  const Tensor right = by_class(truth.index({truth.eq(said)}));
  for (std::size_t i = 0; i < field.classes.size(); ++i) {
    field.classes[i].points += points.data_ptr<std::int64_t>()[i];
    field.classes[i].predicted += named.data_ptr<std::int64_t>()[i];
    field.classes[i].right += right.data_ptr<std::int64_t>()[i];
  }
  field.unknown_points += truth.eq(class_unknown).sum().item<std::int64_t>();
}

Tensor CaseEvaluation::add(const Sample& sample, const Mesh* mesh, const Tensor& error_weights,
                           std::int64_t first_result) {
  const auto results_of = [&](const Tensor& all) {
    return all.narrow(0, first_result, all.size(0) - first_result);
  };
  const auto start = std::chrono::steady_clock::now();
  const Tensor prediction = results_of(predict_sample(op_, sample));
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  points_ += static_cast<double>(prediction.size(0));
  names_.push_back(sample.name);
  if (!prediction.isfinite().all().item<bool>())
    throw NumericError("the prediction for '" + sample.name +
                       "' is not finite; check its inputs against the training range "
                       "(funcattn info lists it)");
  const Tensor target = results_of(sample.targets).to(torch::kFloat64);
  const Tensor weights =
      (error_weights.defined() ? error_weights : results_of(sample.query.weights))
          .to(torch::kFloat64);
  std::int64_t channel = 0;
  std::int64_t component = 0;
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const OutputArray& output = op_.contract().outputs[f];
    const Tensor predicted = prediction.narrow(1, channel, output.channels());
    const Tensor truth = target.narrow(1, component, output.components);
    channel += output.channels();
    component += output.components;
    const auto accuracy =
        output.is_class()
            ? share_of_right(predicted, class_indices(output, truth.squeeze(1)), weights)
            : one_hot_accuracy(predicted, truth, weights);
    if (accuracy) {
      fields_[f].accuracy.push_back(*accuracy);
      fields_[f].accuracy_names.push_back(sample.name);
    }
    if (output.is_class()) {
      count(output, predicted, class_indices(output, truth.squeeze(1)), weights, fields_[f]);
      continue;
    }
    fields_[f].errors.push_back(field_error(predicted, truth, weights));
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
    field.is_class = op_.contract().outputs[f].is_class();
    if (field.is_class) {
      field.relative_l2 = field.relative_l2_median = field.relative_l2_worst = field.mse =
          field.rmse = field.max_error = std::numeric_limits<double>::quiet_NaN();
      field.classes = samples.classes;
      field.unknown_points = samples.unknown_points;
      if (!samples.accuracy.empty()) {
        field.accuracy = figure(samples.accuracy, samples.accuracy_names, Worst::least);
        field.worst_sample = field.accuracy->worst_sample;
      }
      result.fields.push_back(std::move(field));
      continue;
    }
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

double error_of_field(const FieldMetrics& field) {
  if (!field.is_class) return field.relative_l2;
  return field.accuracy ? 1 - field.accuracy->mean : std::numeric_limits<double>::quiet_NaN();
}

double overall_error(const CaseMetrics& metrics) {
  double sum = 0;
  for (const FieldMetrics& field : metrics.fields) sum += error_of_field(field);
  return sum / static_cast<double>(metrics.fields.size());
}

const char* overall_error_name(const CaseMetrics& metrics) {
  const bool classes = std::all_of(metrics.fields.begin(), metrics.fields.end(),
                                   [](const FieldMetrics& field) { return field.is_class; });
  return classes ? "share of wrong points" : "relative L2";
}

Json CaseMetrics::to_json() const {
  Json json = {{"label", label},
               {"samples", samples},
               {"points", points},
               {"seconds_per_million_points", seconds_per_million_points}};
  if (source_points) json["source_points"] = *source_points;
  for (const auto& [key, text] :
       {std::pair("data", data), std::pair("query_data", query_data), std::pair("weights", weights),
        std::pair("error_weights", error_weights)})
    if (!text.empty()) json[key] = text;
  for (const FieldMetrics& field : fields) {
    Json& entry = json["fields"][field.field];
    entry = Json::object();
    if (!field.is_class)
      entry.update({{"relative_l2", field.relative_l2},
                    {"relative_l2_median", field.relative_l2_median},
                    {"relative_l2_worst", field.relative_l2_worst}});
    entry["worst_sample"] = field.worst_sample;
    if (!field.is_class)
      entry.update({{"mse", field.mse}, {"rmse", field.rmse}, {"max_error", field.max_error}});
    if (field.relative_h1) entry["relative_h1"] = figure_json(*field.relative_h1);
    if (field.accuracy) entry["accuracy"] = figure_json(*field.accuracy);
    if (field.classes.empty()) continue;
    entry["mean_recall"] = number_or_null(mean_recall(field.classes));
    entry["unknown_points"] = field.unknown_points;
    entry["classes"] = Json::array();
    for (const ClassFigures& figures : field.classes)
      entry["classes"].push_back({{"class", figures.value},
                                  {"points", figures.points},
                                  {"predicted", figures.predicted},
                                  {"right", figures.right},
                                  {"recall", number_or_null(figures.recall())},
                                  {"precision", number_or_null(figures.precision())}});
  }
  return json;
}

}  // namespace funcattn
