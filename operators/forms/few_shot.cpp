#include "operators/forms/few_shot.h"

namespace funcattn {

namespace {

std::vector<int> encoder_sizes(const ModelConfig& config) {
  const int inputs = config.fourier_features > 0
                         ? 2 * config.coordinate_dimension * config.fourier_features
                         : config.coordinate_dimension;
  std::vector<int> sizes{inputs};
  for (int i = 1; i < config.encoder_layers; ++i) sizes.push_back(config.width);
  sizes.push_back(config.latent_features());
  return sizes;
}

}  // namespace

Regularisation few_shot_regularisation(double ridge, bool relative) {
  if (relative) return Regularisation::fixed(ridge, true);
  return Regularisation::blend(at::full({}, ridge, at::TensorOptions().dtype(torch::kFloat64)));
}

FewShotModel::FewShotModel(const ModelConfig& config, Initialiser& initialiser)
    : Model(config), regularisation_(few_shot_regularisation(config.ridge, config.relative_ridge)) {
  if (config.fourier_features > 0) {
    const Tensor row = initialiser.even(config.fourier_max_frequency / config.fourier_features,
                                        config.fourier_max_frequency, config.fourier_features);
    frequencies_ =
        register_parameter("frequencies", row.expand({config.coordinate_dimension, -1}).clone());
  }
  encoder_ = register_module(
      "to_q",
      std::make_shared<LinearStack>(initialiser, encoder_sizes(config), config.activation, false));
  slice_ = register_module(
      "slice", std::make_shared<Linear>(initialiser, config.latent_features(), config.basis));
  temperature_ =
      register_parameter("temperature", initialiser.constant({1, 1, 1}, config.temperature));
  kernel_parameters_ = {temperature_};
  for (const auto& part : {encoder_->parameters(), slice_->parameters()}) {
    kernel_parameters_.insert(kernel_parameters_.end(), part.begin(), part.end());
  }
}

Tensor FewShotModel::encoder_input(const Tensor& coordinates) const {
  if (!frequencies_.defined()) return coordinates;
  const Tensor phase = (coordinates.unsqueeze(-1) * frequencies_).flatten(2);
  return at::cat({phase.sin(), phase.cos()}, -1);
}

void FewShotModel::check(const PointSamples& source, const PointSamples& query) const {
  const torch::Dtype type = dtype();
  check_points(source.coordinates, source.weights, config().coordinate_dimension, type,
               "source coordinates");
  check_points(source.values, source.weights, config().value_features, type, "source values");
  check_points(query.coordinates, query.weights, config().coordinate_dimension, type,
               "query coordinates");
}

Tensor FewShotModel::predict(const PointSamples& source, const PointSamples& query) {
  check(source, query);
  // Training only: what a stored model predicts must not depend on the size of a request.
  if (at::GradMode::is_enabled()) {
    const Tensor prediction = predict_by_kernel(source, query);
    if (prediction.defined()) return prediction;
  }
  return predict_by_operations(source, query);
}

Tensor FewShotModel::predict_observed(const PointSamples& source, const PointSamples& query,
                                      AttentionObserver& observer) {
  check(source, query);
  return predict_by_operations(source, query, &observer);
}

Tensor FewShotModel::predict_by_kernel(const PointSamples& source, const PointSamples& query) {
  if (frequencies_.defined()) return {};
  return few_shot_kernel({config().activation, config().ridge, config().relative_ridge},
                         kernel_parameters_, source, query);
}

Tensor FewShotModel::predict_by_operations(const PointSamples& source, const PointSamples& query,
                                           AttentionObserver* observer) {
  const torch::Dtype type = dtype();
  const PointMeasure measure(source.weights, type);
  const Tensor context = clear_absent(source.coordinates, source.weights);
  const Tensor values = clear_absent(source.values, source.weights);
  const Tensor queries = clear_absent(query.coordinates, query.weights);

  // One pass of the encoder for both sets: half the calls where samples are small.
  const auto encoded = encoder_->forward(encoder_input(at::cat({context, queries}, 1)))
                           .split_with_sizes({context.size(1), queries.size(1)}, 1);

  // exp(logit + log weight) up to a factor per group, which cancels in the ratios below; the sums
  // over the context run in float64.
  const Tensor logits = slice_->forward(encoded[0]) / temperature_.clamp(0.1, 5.0) +
                        measure.relative.log().to(type).unsqueeze(-1);
  const Tensor largest = logits.detach().amax(1, true).nan_to_num(0.0, 0.0, 0.0);
  const Tensor groups = (logits - largest).exp().unsqueeze(1);
  const Tensor field = at::cat({encoded[0], values, at::ones_like(values.narrow(2, 0, 1))}, 2);
  const Tensor sums = accumulate(groups, field.unsqueeze(1));

  const std::int64_t latent = encoded[0].size(2);
  const Tensor mass = sums.narrow(3, sums.size(3) - 1, 1);
  const Tensor means = sums.narrow(3, 0, sums.size(3) - 1) / at::where(mass.gt(0), mass, 1.0);
  const Tensor keys = means.narrow(3, 0, latent) / (1.0 + group_mass_floor);
  const Tensor group_values = means.narrow(3, latent, values.size(2));
  if (observer) {
    AttentionRecord record;
    record.query_basis = encoded[1].unsqueeze(1);
    record.queries_act_directly = true;
    record.source_basis =
        groups / at::where(mass.gt(0), mass, 1.0).transpose(-2, -1).to(groups.scalar_type());
    record.basis_sum = BasisSum::points;
    record.source_weights = measure.relative;
    record.query_weights = PointMeasure(query.weights, type).relative;
    record.coefficients = group_values;
    const Tensor identity =
        at::eye(latent, keys.options()).expand({keys.size(0), 1, latent, latent});
    record.transport = transport_matrix(identity, keys, regularisation_);
    record.system = transport_system(keys, regularisation_);
    observer->observe(record);
  }
  return transport(encoded[1].unsqueeze(1), keys, group_values, regularisation_).squeeze(1);
}

}  // namespace funcattn
