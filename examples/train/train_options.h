#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "operators/model.h"
#include "operators/training/trainer.h"
#include "plugin/cli/option_table.h"

namespace funcattn {

/// Sizes and switches of the model as given by the user; what is not given is left to the recipe of
/// the task.
struct ModelOptions {
  std::optional<std::string> form;
  std::optional<int> width, heads, basis, blocks, mlp_ratio, ffn_width, encoder_layers, latent,
      fourier_features, memory_tokens, sinusoids;
  std::optional<double> ridge, temperature, fourier_max_frequency;
  std::optional<std::string> activation, coefficients, mixing, bases, attention, position_bias,
      ridge_scale, blend;
  bool causal = false;
  bool learn_frequencies = false;

  void describe(OptionTable& table);
  /// `recipe` with what was given in its place. Throws UsageError for unknown names.
  ModelConfig apply(ModelConfig recipe) const;
  /// The options given that have no effect on this network.
  std::vector<std::string> without_effect(const ModelConfig& config) const;
};

/// The same for the optimisation.
struct OptimisationOptions {
  std::optional<std::int64_t> steps, epochs, warmup;
  std::optional<int> batch;
  std::optional<double> learning_rate, beta2, clip, weight_decay, final_fraction, rise, average,
      label_smoothing, orthogonality;
  std::optional<std::string> schedule, loss;

  void describe(OptionTable& table);
};

/// What a task trains with where the user says nothing.
struct Recipe {
  ModelConfig model;
  std::int64_t steps = 0;  ///< 0: by epochs.
  std::int64_t epochs = 0;
  int batch = 16;
  Loss loss = Loss::relative_l2;
  double label_smoothing = 0.0;
  Schedule schedule;
  double clip = 1.0;
  double weight_decay = 0.0;
  double beta2 = 0.999;
  double average = 0.0;        ///< Decay of the averaged weights; 0: none.
  double orthogonality = 0.0;  ///< Weight of the bases' defect in the loss.

  /// With what was given in its place. Throws UsageError where steps and epochs are both given.
  Recipe with(const ModelOptions& model_options, const OptimisationOptions& optimisation) const;
};

/// Recipe for folders of VTK files: pre-norm blocks on a shared basis.
Recipe general_recipe();

}  // namespace funcattn
