#pragma once

#include "tests/operators/attention_test_support.h"

// Small models of every form, and points for them.

namespace funcattn::testing {

struct NamedConfig {
  std::string name;
  ModelConfig config;
};

inline ModelConfig base_config(Form form) {
  ModelConfig config;
  config.form = form;
  config.coordinate_dimension = 2;
  config.value_features = 1;
  config.out_features = 2;
  config.width = 12;
  config.heads = 3;
  config.basis = 5;
  config.blocks = 2;
  config.ridge = 1e-2;
  return config;
}

inline std::vector<NamedConfig> all_configs() {
  std::vector<NamedConfig> configs;
  for (const Form form : {Form::shared_basis, Form::shared_basis_tied, Form::segmentation,
                          Form::sum_coefficients, Form::paper}) {
    configs.push_back({to_string(form), base_config(form)});
  }
  for (const auto mixing : {Mixing::softmax, Mixing::none}) {
    ModelConfig mixed = base_config(Form::shared_basis);
    mixed.mixing = mixing;
    configs.push_back({std::string("shared_basis_") + to_string(mixing), mixed});
  }
  for (const Form form : {Form::shared_basis, Form::shared_basis_tied}) {
    for (const auto bases : {Bases::separate_slices, Bases::separate}) {
      ModelConfig config = base_config(form);
      config.bases = bases;
      configs.push_back({std::string(to_string(form)) + "_" + to_string(bases), config});
    }
  }
  ModelConfig waves = base_config(Form::shared_basis);
  waves.sinusoids = 3;
  configs.push_back({"shared_basis_sinusoids", waves});
  ModelConfig blended = base_config(Form::shared_basis);
  blended.blend = 0.2;
  configs.push_back({"shared_basis_blend", blended});
  ModelConfig paper = base_config(Form::paper);
  paper.blocks = 0;
  paper.width = paper.out_features = paper.in_features();
  for (const bool cross : {false, true}) {
    for (const auto kind : {Coefficients::mean, Coefficients::integral}) {
      paper.cross = cross;
      paper.coefficients = kind;
      configs.push_back(
          {std::string(cross ? "paper_cross_" : "paper_self_") + to_string(kind), paper});
    }
  }
  ModelConfig few_shot = base_config(Form::few_shot);
  few_shot.value_features = few_shot.out_features;
  configs.push_back({"few_shot", few_shot});
  few_shot.fourier_features = 3;
  few_shot.latent = 7;
  few_shot.encoder_layers = 2;
  few_shot.relative_ridge = true;
  few_shot.activation = Activation::tanh;
  configs.push_back({"few_shot_fourier", few_shot});
  return configs;
}

/// Models that the engine does not compute.
inline std::vector<NamedConfig> configs_without_engine() {
  std::vector<NamedConfig> configs;
  ModelConfig config = base_config(Form::shared_basis);
  for (const Attention attention : {Attention::softmax, Attention::linear, Attention::ridge,
                                    Attention::pointwise, Attention::fourier}) {
    config.attention = attention;
    configs.push_back({to_string(attention), config});
  }
  config.attention = Attention::softmax;
  config.memory_tokens = 2;
  config.position_bias = PositionBias::distance;
  configs.push_back({"softmax_distance_memory", config});
  config.memory_tokens = 0;
  config.position_bias = PositionBias::learned;
  configs.push_back({"softmax_learned", config});
  ModelConfig frequencies = base_config(Form::shared_basis);
  frequencies.sinusoids = 2;
  frequencies.learned_frequencies = true;
  configs.push_back({"learned_frequencies", frequencies});
  return configs;
}

/// All of them: those with an engine first.
inline std::vector<NamedConfig> every_config() {
  std::vector<NamedConfig> configs = all_configs();
  for (NamedConfig& one : configs_without_engine()) configs.push_back(std::move(one));
  return configs;
}

inline PointSamples random_points(const ModelConfig& config, std::int64_t batch, std::int64_t count,
                                  torch::Dtype dtype, std::uint64_t seed) {
  Draw draw(dtype, seed);
  return {draw.uniform({batch, count, config.coordinate_dimension}, -1, 1),
          draw.normal({batch, count, config.value_features}),
          draw.uniform({batch, count}, 0.2, 1.2)};
}

/// Weights as large as training makes them: with those of a new model the layers after the first
/// hardly matter, and mistakes in them do not show.
inline std::shared_ptr<Model> trained_scale_model(const ModelConfig& config, torch::Dtype dtype) {
  const auto model = make_model(config, dtype, 5);
  const torch::NoGradGuard no_grad;
  Draw draw(dtype, 17);
  for (auto& parameter : model->named_parameters()) {
    Tensor& value = parameter.value();
    if (value.dim() > 1 && parameter.key().find("temperature") == std::string::npos)
      value.mul_(2.0);
    else
      value.add_(draw.normal(value.sizes()), 0.1);
  }
  return model;
}

}  // namespace funcattn::testing
