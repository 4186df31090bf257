#include "operators/training/objective.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "operators/engine/training_function.h"
#include "operators/forms/layers.h"
#include "operators/training/orthogonality.h"

namespace funcattn {

namespace {

/// Points evaluated together in validation: enough to fill the cores, little memory.
constexpr std::int64_t points_together = 32768;

bool same_size(const Sample& a, const Sample& b) {
  return a.query_is_source == b.query_is_source &&
         a.source.weights.sizes() == b.source.weights.sizes() &&
         a.query.weights.sizes() == b.query.weights.sizes();
}

void require_fitting_outputs(const Contract& contract, Loss loss) {
  for (const OutputArray& output : contract.outputs) {
    if (output.is_class() == (loss == Loss::cross_entropy)) continue;
    throw UsageError("the output '" + output.name + "' " +
                     (output.is_class() ? "has classes, which the loss cross_entropy is for"
                                        : "is a field, but cross_entropy is a loss of classes") +
                     "; the loss is " + to_string(loss));
  }
}

}  // namespace

void LossSum::judge(const Tensor& accuracies) {
  const Tensor held = accuracies.to(torch::kCPU, torch::kFloat64).contiguous();
  for (std::int64_t b = 0; b < held.numel(); ++b) {
    const double value = held.data_ptr<double>()[b];
    if (std::isnan(value)) continue;
    right += value;
    ++judged;
  }
}

Objective::Objective(const Operator& op, Loss loss, const ObjectiveSettings& settings)
    : op_(op), loss_(loss), settings_(settings) {
  require_fitting_outputs(op.contract(), loss);
  check_orthogonality(settings.orthogonality, op.model().config());
  if (settings.pieces && loss == Loss::cross_entropy)
    throw UsageError("classes are not learned from samples in pieces; train on whole samples");
  if (settings.pieces && settings.orthogonality > 0)
    throw UsageError(
        "a penalty on bases is not for samples in pieces; leave out the orthogonality, or train on "
        "whole samples");
  const std::vector<double>& scale = op.contract().output_normalisation.scale;
  if (scale.empty()) return;
  double squares = 0;
  for (const double s : scale) squares += s * s;
  floor_ *= std::sqrt(squares / static_cast<double>(scale.size()));
  if (std::any_of(scale.begin(), scale.end(), [](double s) { return s != 1.0; }))
    inverse_scale_ = torch::tensor(scale, torch::kFloat64).reciprocal().to(op.device());
}

Tensor Objective::predict(const Batch& batch) const {
  if (settings_.pieces) return predict_in_pieces(batch);
  const PointSamples source = op_.normalise(batch.source);
  const PointSamples query = batch.query_is_source ? source : op_.normalise(batch.query);
  return op_.predict(source, query);
}

Tensor Objective::predict_in_pieces(const Batch& batch) const {
  if (!batch.query_is_source)
    throw UsageError("samples in pieces are predicted at their own points, but those of '" +
                     batch.names.front() + "' have queries besides; train in one process");
  EngineOptions options;
  options.processes = settings_.pieces;
  const PointSamples source = op_.normalise(batch.source, options);
  const Model& model = op_.model();
  if (!at::GradMode::is_enabled()) return InferenceEngine(model).predict(source, source, options);
  return predict_in_pieces_for_training(
      model, point_features(source, model.config(), op_.dtype(), "source"), source.weights,
      source.shares, *settings_.pieces);
}

Tensor Objective::sample_losses(const Batch& batch, Tensor* accuracy) const {
  return losses(predict(batch), batch, accuracy);
}

Tensor Objective::training_losses(const Batch& batch, Tensor* accuracy) const {
  if (settings_.orthogonality == 0) return sample_losses(batch, accuracy);
  const PointSamples source = op_.normalise(batch.source);
  const PointSamples query = batch.query_is_source ? source : op_.normalise(batch.query);
  OrthogonalityObserver observer;
  const Tensor prediction = op_.model().predict_observed(source, query, observer);
  return losses(prediction, batch, accuracy) + settings_.orthogonality * observer.defect();
}

Tensor Objective::losses(const Tensor& normalised_prediction, const Batch& batch,
                         Tensor* accuracy) const {
  if (loss_ == Loss::cross_entropy) return class_losses(normalised_prediction, batch, accuracy);
  Tensor prediction = op_.denormalise(normalised_prediction.to(torch::kFloat64));
  Tensor targets = batch.targets.to(prediction.options());
  if (loss_ == Loss::mse && inverse_scale_.defined()) {
    prediction = prediction * inverse_scale_;
    targets = targets * inverse_scale_;
  }
  return funcattn::sample_losses(loss_, prediction, targets,
                                 batch.query.weights.to(prediction.device()), floor_,
                                 settings_.pieces);
}

Tensor Objective::class_losses(const Tensor& logits, const Batch& batch, Tensor* accuracy) const {
  const std::vector<OutputArray>& outputs = op_.contract().outputs;
  const Tensor weights = batch.query.weights.to(logits.device());
  const Tensor targets = batch.targets.to(logits.device());
  const auto count = static_cast<double>(outputs.size());
  Tensor losses, shares;
  std::int64_t channel = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Tensor channels = logits.narrow(2, channel, outputs[i].channels());
    channel += outputs[i].channels();
    const Tensor classes =
        class_indices(outputs[i], targets.select(2, static_cast<std::int64_t>(i)));
    const Tensor loss =
        cross_entropies(channels, classes, weights, settings_.label_smoothing) / count;
    losses = losses.defined() ? losses + loss : loss;
    if (accuracy == nullptr) continue;
    const Tensor share = accuracies(channels, classes, weights) / count;
    shares = shares.defined() ? shares + share : share;
  }
  if (accuracy != nullptr) *accuracy = shares;
  return losses;
}

LossSum Objective::total_loss(const std::vector<Sample>& samples) const {
  const torch::NoGradGuard no_grad;
  LossSum total;
  for (std::size_t begin = 0; begin < samples.size();) {
    const Sample& first = samples[begin];
    const std::int64_t points = first.source.weights.size(0) + first.query.weights.size(0);
    // Of samples in pieces every process sees other sizes.
    const std::int64_t together =
        settings_.pieces ? 1 : points_together / std::max<std::int64_t>(1, points);
    const std::size_t limit = begin + static_cast<std::size_t>(std::max<std::int64_t>(1, together));
    std::vector<Sample> group;
    for (; begin < samples.size() && begin < limit && same_size(first, samples[begin]); ++begin)
      group.push_back(samples[begin]);
    Tensor accuracies;
    total.sum += sample_losses(collate(group), &accuracies).sum().item<double>();
    if (accuracies.defined()) total.judge(accuracies);
  }
  total.samples = static_cast<std::int64_t>(samples.size());
  return total;
}

}  // namespace funcattn
