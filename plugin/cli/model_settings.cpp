#include "plugin/cli/model_settings.h"

#include <set>
#include <string>

namespace funcattn {

namespace {

using Names = std::set<std::string>;

Names of_residual_network(const Json& model, const std::string& form) {
  Names names = {"width", "blocks", "mlp_ratio", "sinusoids", "learned_frequencies"};
  if (form == "segmentation") names.insert("preprocess_depth");
  if (form == "shared_basis") names.insert("attention");
  const std::string attention = model.value("attention", "functional");
  if (attention != "pointwise") names.insert("heads");
  if (attention == "functional") {
    names.insert({"basis", "temperature", "reference_points", "mixing", "bases"});
    if (model.value("mixing", "functional") == "functional")
      names.insert({"relative_ridge", "blend"});
  } else if (attention == "softmax") {
    names.insert({"causal", "position_bias", "memory_tokens"});
    if (model.value("memory_tokens", 0) > 0) names.insert("reference_points");
  } else if (attention == "ridge") {
    names.insert({"ridge", "relative_ridge"});
  } else if (attention == "fourier") {
    names.insert({"basis", "ridge", "relative_ridge"});
  }
  return names;
}

Names names_in_use(const Json& model) {
  const std::string form = model.value("form", "");
  if (form == "few_shot") {
    Names names = {"width",      "basis",          "ridge",  "relative_ridge",  "temperature",
                   "activation", "encoder_layers", "latent", "fourier_features"};
    if (model.value("fourier_features", 0) > 0) names.insert("fourier_max_frequency");
    return names;
  }
  if (form == "sum_coefficients") {
    Names names = {"width", "heads",          "basis",     "blocks",
                   "ridge", "relative_ridge", "sinusoids", "ffn_width"};
    if (model.value("ffn_width", 0) == 0) names.insert("mlp_ratio");
    return names;
  }
  if (form == "paper") {
    Names names = {"width", "heads",          "basis",       "blocks",    "coefficients",
                   "ridge", "relative_ridge", "temperature", "sinusoids", "learned_frequencies"};
    names.insert(model.value("blocks", 0) > 0 ? "mlp_ratio" : "cross");
    if (model.value("coefficients", "mean") == "mean") names.insert("reference_points");
    return names;
  }
  return of_residual_network(model, form);
}

}  // namespace

Json settings_in_use(const Json& model) {
  Names names = names_in_use(model);
  names.insert({"form", "coordinate_dimension", "value_features", "out_features"});
  Json settings = Json::object();
  for (const auto& [key, value] : model.items())
    if (names.count(key) > 0) settings[key] = value;
  return settings;
}

}  // namespace funcattn
