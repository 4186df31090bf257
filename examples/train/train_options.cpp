#include "examples/train/train_options.h"

#include <algorithm>

#include "core/error.h"
#include "core/text.h"
#include "plugin/cli/model_settings.h"

namespace funcattn {

namespace {

// Defaults as the help shows them.
std::string shown(const char* text) {
  return text;
}
std::string shown(double number) {
  return format_number(number);
}

/// Nothing: learned.
std::optional<double> blend_from_string(const std::string& text) {
  if (text == "learned") return {};
  const std::optional<double> number = parse_double(text);
  if (!number)
    throw UsageError("--blend is '" + text +
                     "'; give 'learned', or a number above 0 and at most 1");
  return number;
}

}  // namespace

void ModelOptions::describe(OptionTable& table) {
  const Recipe files = general_recipe();
  table.group("Model (defaults of --data; --task sine has its own)");
  table.value("form", form, "form of Functional Attention")
      .choices(form_names())
      .default_text(shown(to_string(files.model.form)));
  table.value("width", width, "channels of a point")
      .at_least(1)
      .default_text(shown(files.model.width));
  table.value("heads", heads, "attention heads; width must be divisible by it")
      .at_least(1)
      .default_text(shown(files.model.heads));
  table.value("basis", basis, "basis functions per head; groups in few_shot")
      .at_least(1)
      .default_text(shown(files.model.basis));
  table.value("blocks", blocks, "attention blocks")
      .at_least(1)
      .default_text(shown(files.model.blocks));
  table.value("mlp-ratio", mlp_ratio, "hidden width of a block's MLP over width")
      .at_least(1)
      .default_text(shown(files.model.mlp_ratio));
  table.value("ffn-width", ffn_width, "hidden width of the FFN in sum_coefficients")
      .at_least(1)
      .default_text(shown("mlp-ratio x width"));
  table.value("coefficients", coefficients, "how paper forms coefficients")
      .choices({"mean", "integral"})
      .default_text(shown(to_string(files.model.coefficients)));
  table.value("mixing", mixing, "the k x k step of forms with a shared basis")
      .choices({"functional", "softmax", "none"})
      .default_text(shown(to_string(files.model.mixing)));
  table
      .value(
          "attention", attention,
          "in the blocks of shared_basis: functional attention, or in its place softmax over the "
          "points, linear (Galerkin), ridge regression in feature space, nothing, or functional "
          "attention in a fixed basis of cosines")
      .choices({"functional", "softmax", "linear", "ridge", "pointwise", "fourier"})
      .default_text(shown(to_string(files.model.attention)));
  table
      .value(
          "position-bias", position_bias,
          "of softmax attention: logits that fall with the distance, or are shifted by a learned "
          "function of the difference of coordinates")
      .choices({"none", "distance", "learned"})
      .default_text(shown(to_string(files.model.position_bias)));
  table.value("memory-tokens", memory_tokens, "of softmax attention: learned tokens per head")
      .at_least(0)
      .default_text(shown(files.model.memory_tokens));
  table.flag("causal", causal,
             "softmax attention: a point sees itself and the points before it in their order");
  table
      .value("sinusoids", sinusoids,
             "features sin(pi m x), cos(pi m x), m = 1 ... N, of each coordinate beside itself")
      .at_least(0)
      .default_text(shown(files.model.sinusoids));
  table.flag("learn-frequencies", learn_frequencies,
             "the sinusoids' frequencies are learned, those above being where they begin");
  table
      .value("bases", bases,
             "of forms with a shared basis: one for projection and reconstruction, separate maps "
             "to the basis, or separate features and maps")
      .choices({"shared", "separate_slices", "separate"})
      .default_text(shown(to_string(files.model.bases)));
  table.value("ridge", ridge, "fixed regularisation lambda")
      .above(0)
      .default_text(shown(files.model.ridge));
  table
      .value("ridge-scale", ridge_scale,
             "ridge as it is, or times the mean diagonal of the Gram matrix")
      .choices({"absolute", "relative"})
      .default_text(shown(files.model.relative_ridge ? "relative" : "absolute"));
  table
      .value(
          "blend", blend,
          "the a of (1 - a) Gram + a I in forms with a shared basis: learned, one in each block, "
          "or a number above 0 and at most 1 for all")
      .placeholder("learned|A")
      .default_text(shown("learned"));
  table.value("temperature", temperature, "initial temperature of the basis")
      .above(0)
      .default_text(shown(files.model.temperature));
  table.value("activation", activation, "of few_shot's encoder")
      .choices({"relu", "gelu", "silu", "tanh", "sine"})
      .default_text(shown(to_string(files.model.activation)));
  table.value("encoder-layers", encoder_layers, "linear layers of few_shot's encoder")
      .at_least(1)
      .default_text(shown(files.model.encoder_layers));
  table.value("latent", latent, "features that few_shot's encoder hands on")
      .at_least(1)
      .default_text(shown("width"));
  table
      .value("fourier-features", fourier_features,
             "learned frequencies per coordinate in few_shot; 0: none")
      .at_least(0)
      .default_text(shown(files.model.fourier_features));
  table.value("fourier-max-frequency", fourier_max_frequency, "largest initial angular frequency")
      .above(0)
      .default_text(shown(files.model.fourier_max_frequency));
}

ModelConfig ModelOptions::apply(ModelConfig recipe) const {
  const auto take = [](auto& target, const auto& given) {
    if (given) target = *given;
  };
  if (form) recipe.form = form_from_string(*form);
  take(recipe.width, width);
  take(recipe.heads, heads);
  take(recipe.basis, basis);
  take(recipe.blocks, blocks);
  take(recipe.mlp_ratio, mlp_ratio);
  take(recipe.ffn_width, ffn_width);
  take(recipe.ridge, ridge);
  take(recipe.temperature, temperature);
  take(recipe.encoder_layers, encoder_layers);
  take(recipe.latent, latent);
  take(recipe.fourier_features, fourier_features);
  take(recipe.fourier_max_frequency, fourier_max_frequency);
  if (ridge_scale) recipe.relative_ridge = *ridge_scale == "relative";
  if (activation) recipe.activation = activation_from_string(*activation);
  if (mixing) recipe.mixing = mixing_from_string(*mixing);
  take(recipe.memory_tokens, memory_tokens);
  take(recipe.sinusoids, sinusoids);
  recipe.causal = recipe.causal || causal;
  recipe.learned_frequencies = recipe.learned_frequencies || learn_frequencies;
  if (blend) recipe.blend = blend_from_string(*blend);
  if (attention) recipe.attention = attention_from_string(*attention);
  if (position_bias) recipe.position_bias = position_bias_from_string(*position_bias);
  if (bases) recipe.bases = bases_from_string(*bases);
  if (coefficients) recipe.coefficients = coefficients_from_string(*coefficients);
  return recipe;
}

std::vector<std::string> ModelOptions::without_effect(const ModelConfig& config) const {
  const std::pair<const char*, bool> given[] = {
      {"width", width.has_value()},
      {"heads", heads.has_value()},
      {"basis", basis.has_value()},
      {"blocks", blocks.has_value()},
      {"mlp_ratio", mlp_ratio.has_value()},
      {"ffn_width", ffn_width.has_value()},
      {"encoder_layers", encoder_layers.has_value()},
      {"latent", latent.has_value()},
      {"fourier_features", fourier_features.has_value()},
      {"ridge", ridge.has_value()},
      {"temperature", temperature.has_value()},
      {"fourier_max_frequency", fourier_max_frequency.has_value()},
      {"activation", activation.has_value()},
      {"coefficients", coefficients.has_value()},
      {"relative_ridge", ridge_scale.has_value()}};
  const Json used = settings_in_use(config.to_json());
  std::vector<std::string> idle;
  for (const auto& [setting, is_given] : given) {
    if (!is_given || used.contains(setting)) continue;
    std::string option = setting == std::string("relative_ridge") ? "ridge_scale" : setting;
    std::replace(option.begin(), option.end(), '_', '-');
    idle.push_back("--" + option);
  }
  return idle;
}

void OptimisationOptions::describe(OptionTable& table) {
  const Recipe files = general_recipe();
  table.group("Optimisation by AdamW (defaults of --data; --task sine has its own)");
  table.value("steps", steps, "optimiser steps")
      .at_least(1)
      .instead_of("epochs")
      .default_text(shown("by --epochs"));
  table.value("epochs", epochs, "passes over the training set, instead of --steps")
      .at_least(1)
      .instead_of("steps")
      .default_text(shown(files.epochs));
  table.value("batch", batch, "samples per step, of all processes together")
      .at_least(1)
      .default_text(shown(files.batch));
  table.value("lr", learning_rate, "peak learning rate")
      .above(0)
      .default_text(shown(files.schedule.peak));
  table.value("schedule", schedule, "course of the learning rate")
      .choices({"constant", "cosine", "one_cycle"})
      .default_text(shown(to_string(files.schedule.kind)));
  table.value("warmup", warmup, "steps of linear rise (constant, cosine)")
      .at_least(0)
      .default_text(shown(files.schedule.warmup_steps));
  table.value("rise", rise, "share of the steps in which the rate rises (one_cycle)")
      .above(0)
      .at_most(0.999)
      .default_text(shown(files.schedule.rise_fraction));
  table.value("final-lr", final_fraction, "last learning rate over peak")
      .at_least(0)
      .at_most(1)
      .default_text(shown(files.schedule.final_fraction));
  table.value("beta2", beta2, "decay of the mean squared gradient")
      .above(0)
      .at_most(0.999999)
      .default_text(shown(files.beta2));
  table.value("clip", clip, "largest norm of the gradient; 0: not clipped")
      .at_least(0)
      .default_text(shown(files.clip));
  table.value("weight-decay", weight_decay, "decoupled decay of the weight matrices")
      .at_least(0)
      .default_text(shown(files.weight_decay));
  table
      .value("ema", average,
             "decay of the moving average of the weights, which is what is validated and saved; 0: "
             "the weights themselves")
      .at_least(0)
      .at_most(0.999999)
      .default_text(shown(files.average));
  table
      .value("orthogonality", orthogonality,
             "weight of a penalty on basis functions that are not orthogonal over the points; "
             "above 0, training is by tensor operations")
      .at_least(0)
      .default_text(shown(files.orthogonality));
  table
      .value("loss", loss,
             "what is minimised; cross_entropy makes classes of targets that are whole numbers")
      .choices({"mse", "relative_l2", "log_relative_l2", "cross_entropy"})
      .default_text(std::string(to_string(files.loss)) +
                    ", or cross_entropy where dataset.json names classes");
  table
      .value("label-smoothing", label_smoothing,
             "share of the truth that cross_entropy spreads over all classes")
      .at_least(0)
      .at_most(0.999)
      .only_with("data")
      .default_text("0");
}

Recipe Recipe::with(const ModelOptions& model_options,
                    const OptimisationOptions& optimisation) const {
  Recipe result = *this;
  result.model = model_options.apply(model);
  if (optimisation.steps && optimisation.epochs)
    throw UsageError("--steps and --epochs are both given; give one of them");
  if (optimisation.steps || optimisation.epochs) {
    result.steps = optimisation.steps.value_or(0);
    result.epochs = optimisation.epochs.value_or(0);
  }
  result.batch = optimisation.batch.value_or(batch);
  result.beta2 = optimisation.beta2.value_or(beta2);
  result.clip = optimisation.clip.value_or(clip);
  result.weight_decay = optimisation.weight_decay.value_or(weight_decay);
  result.schedule.peak = optimisation.learning_rate.value_or(schedule.peak);
  result.schedule.final_fraction = optimisation.final_fraction.value_or(schedule.final_fraction);
  result.average = optimisation.average.value_or(average);
  result.orthogonality = optimisation.orthogonality.value_or(orthogonality);
  result.schedule.rise_fraction = optimisation.rise.value_or(schedule.rise_fraction);
  if (optimisation.schedule) {
    result.schedule.kind = schedule_from_string(*optimisation.schedule);
    if (result.schedule.kind == ScheduleKind::one_cycle) result.schedule.warmup_steps = 0;
  }
  if (optimisation.rise && result.schedule.kind != ScheduleKind::one_cycle)
    throw UsageError(std::string("--rise is for the schedule one_cycle, but the schedule is ") +
                     to_string(result.schedule.kind) + "; give --warmup, or --schedule one_cycle");
  if (optimisation.warmup) result.schedule.warmup_steps = *optimisation.warmup;
  if (optimisation.loss) result.loss = loss_from_string(*optimisation.loss);
  result.label_smoothing = optimisation.label_smoothing.value_or(label_smoothing);
  return result;
}

Recipe general_recipe() {
  Recipe recipe;
  recipe.model.form = Form::shared_basis;
  recipe.model.width = 64;
  recipe.model.heads = 8;
  recipe.model.basis = 32;
  recipe.model.blocks = 4;
  recipe.model.mlp_ratio = 2;
  recipe.epochs = 20;
  recipe.batch = 8;
  recipe.loss = Loss::relative_l2;
  recipe.schedule.kind = ScheduleKind::one_cycle;
  recipe.schedule.peak = 2e-3;
  recipe.weight_decay = 1e-5;
  return recipe;
}

}  // namespace funcattn
