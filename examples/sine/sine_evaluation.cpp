#include "examples/sine/sine_evaluation.h"

#include <algorithm>

#include "core/error.h"
#include "examples/sine/samples.h"

namespace funcattn {

namespace {

SineSampling sampling_of(const SineEvaluationOptions& options, int context) {
  SineSampling sampling;
  sampling.protocol = options.protocol;
  sampling.context = context;
  return sampling;
}

/// The points at which a sample is predicted, for slopes along the line.
Mesh grid_mesh(const SineEpisode& episode) {
  RowMatrix places = RowMatrix::Zero(static_cast<Eigen::Index>(episode.grid.size()), 3);
  for (std::size_t i = 0; i < episode.grid.size(); ++i)
    places(static_cast<Eigen::Index>(i), 0) = episode.grid[i];
  return make_polyline(places, "sine grid");
}

// One stream of random numbers per call: all cases see the same functions.
CaseMetrics evaluate_case(const Operator& op, const SineEvaluationOptions& options,
                          const SineSampling& sampling, int factor, const std::string& label) {
  RandomGenerator random(options.seed);
  CaseEvaluation evaluation(op, label);
  for (int i = 0; i < options.episodes; ++i) {
    const SineEpisode episode = draw_sine_episode(sampling, factor, random);
    Sample sample = sine_sample(episode, op.contract());
    sample.name = "sine function " + std::to_string(i);
    const Mesh grid = grid_mesh(episode);
    evaluation.add(sample, &grid);
  }
  return evaluation.result();
}

void check_contract(const Operator& op) {
  const Contract& contract = op.contract();
  const bool fits = contract.coordinates.axes == std::vector<int>{0} &&
                    contract.value_components() == 1 && contract.output_components() == 1;
  if (!fits)
    throw DataError(
        "the operator is not one of the sine task (coordinate x, one input value, one output); "
        "evaluate it on files with --data");
}

std::vector<double> to_vector(const Tensor& column) {
  const Tensor values = column.to(torch::kFloat64).contiguous();
  return std::vector<double>(values.data_ptr<double>(), values.data_ptr<double>() + values.numel());
}

}  // namespace

int SineEvaluationOptions::shared_context() const {
  if (resolution_context > 0) return resolution_context;
  return protocol == SineProtocol::few_shot ? 10 : 4;
}

void SineEvaluationOptions::validate() const {
  if (factors.empty() || *std::min_element(factors.begin(), factors.end()) < 1)
    throw UsageError("--resample takes densities of 1 or more times the training density");
  if (episodes < 1) throw UsageError("--episodes must be at least 1");
  for (const int k : context) sampling_of(*this, k).validate();
  sampling_of(*this, shared_context()).validate();
}

SineProtocol trained_protocol(const Operator& op) {
  const std::string text = op.training().value("protocol", "few-shot");
  return text == "masked-grid" ? SineProtocol::masked_grid : SineProtocol::few_shot;
}

void evaluate_sine(const Operator& op, const SineEvaluationOptions& options,
                   OperatorEvaluation& evaluation) {
  check_contract(op);
  std::vector<int> factors = options.factors;
  std::sort(factors.begin(), factors.end());
  factors.erase(std::unique(factors.begin(), factors.end()), factors.end());
  const SineSampling sampling = sampling_of(options, options.shared_context());
  for (const int factor : factors)
    evaluation.resolutions.push_back(
        evaluate_case(op, options, sampling, factor, std::to_string(factor) + "x"));
  evaluation.base = 0;

  if (!options.context.empty()) {
    std::vector<CaseMetrics> cases;
    for (const int k : options.context)
      cases.push_back(
          evaluate_case(op, options, sampling_of(options, k), 1, "K = " + std::to_string(k)));
    evaluation.studies.emplace_back("Error by number of context points", std::move(cases));
  }
  if (options.amplitude_shift || options.x_shift) {
    std::vector<CaseMetrics> cases = {evaluate_case(op, options, sampling, 1, "in distribution")};
    if (options.amplitude_shift) {
      SineSampling shifted = sampling;
      shifted.domain.amplitude_min = 5;
      shifted.domain.amplitude_max = 10;
      cases.push_back(evaluate_case(op, options, shifted, 1, "alpha in [5, 10]"));
    }
    if (options.x_shift) {
      SineSampling shifted = sampling;
      shifted.domain.x_min = -3;
      shifted.domain.x_max = 15;
      cases.push_back(evaluate_case(op, options, shifted, 1, "x in [-3, 15]"));
    }
    evaluation.studies.emplace_back("Out of distribution", std::move(cases));
  }
}

std::vector<SampleView> sine_views(const std::vector<const Operator*>& operators,
                                   const std::vector<std::string>& names,
                                   const SineEvaluationOptions& options) {
  const auto [coarsest, densest] =
      std::minmax_element(options.factors.begin(), options.factors.end());
  std::vector<int> factors = {*coarsest};
  if (*densest != *coarsest) factors.push_back(*densest);
  std::vector<SampleView> views;
  for (const int factor : factors) {
    RandomGenerator random(options.seed);
    const SineEpisode episode =
        draw_sine_episode(sampling_of(options, options.shared_context()), factor, random);
    SampleView view;
    view.title = std::to_string(factor) + "x: " + std::to_string(episode.grid.size()) + " points";
    const auto shape = std::make_shared<ViewShape>();
    for (const double x : episode.grid) {
      shape->x.push_back(x);
      view.truth.push_back(episode.function(x));
    }
    view.shape = shape;
    for (const double x : episode.context) view.context.emplace_back(x, episode.function(x));
    for (std::size_t i = 0; i < operators.size(); ++i)
      view.predictions.push_back(
          {names[i],
           to_vector(predict_sample(*operators[i], sine_sample(episode, operators[i]->contract()))),
           {}});
    views.push_back(std::move(view));
  }
  return views;
}

}  // namespace funcattn
