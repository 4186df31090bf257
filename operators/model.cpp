#include "operators/model.h"

#include <array>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/text.h"
#include "operators/forms/few_shot.h"
#include "operators/forms/paper.h"
#include "operators/forms/segmentation.h"
#include "operators/forms/shared_basis.h"
#include "operators/forms/shared_basis_tied.h"
#include "operators/forms/sum_coefficients.h"

namespace funcattn {

namespace {

constexpr std::array forms{Form::paper,        Form::shared_basis, Form::shared_basis_tied,
                           Form::segmentation, Form::few_shot,     Form::sum_coefficients};
constexpr std::array attentions{Attention::functional, Attention::softmax,   Attention::linear,
                                Attention::ridge,      Attention::pointwise, Attention::fourier};
constexpr std::array position_biases{PositionBias::none, PositionBias::distance,
                                     PositionBias::learned};
constexpr std::array base_choices{Bases::shared, Bases::separate_slices, Bases::separate};
constexpr std::array activations{Activation::relu, Activation::gelu, Activation::silu,
                                 Activation::tanh, Activation::sine};

// Far above any use; a damaged file must not ask for petabytes.
constexpr int largest_size = 1 << 20;

// The one list of what a configuration holds: name in JSON and member.
template <class Config, class Visitor>
void visit_settings(Config& config, Visitor&& visit) {
  visit("form", config.form);
  visit("coordinate_dimension", config.coordinate_dimension);
  visit("value_features", config.value_features);
  visit("out_features", config.out_features);
  visit("width", config.width);
  visit("heads", config.heads);
  visit("basis", config.basis);
  visit("blocks", config.blocks);
  visit("mlp_ratio", config.mlp_ratio);
  visit("ffn_width", config.ffn_width);
  visit("preprocess_depth", config.preprocess_depth);
  visit("cross", config.cross);
  visit("coefficients", config.coefficients);
  visit("ridge", config.ridge);
  visit("relative_ridge", config.relative_ridge);
  visit("temperature", config.temperature);
  visit("activation", config.activation);
  visit("encoder_layers", config.encoder_layers);
  visit("latent", config.latent);
  visit("fourier_features", config.fourier_features);
  visit("fourier_max_frequency", config.fourier_max_frequency);
  visit("reference_points", config.reference_points);
  // Files of before there was a choice have none of these.
  visit.begin_optional();
  visit("mixing", config.mixing);
  visit("bases", config.bases);
  visit("attention", config.attention);
  visit("causal", config.causal);
  visit("position_bias", config.position_bias);
  visit("memory_tokens", config.memory_tokens);
  visit("sinusoids", config.sinusoids);
  // Written only where they are used: all other files can be read by versions of before.
  visit.begin_sparse();
  visit("learned_frequencies", config.learned_frequencies);
  visit("blend", config.blend);
}

struct JsonWriter {
  Json& json;
  bool sparse = false;

  void begin_optional() {}
  void begin_sparse() { sparse = true; }
  void operator()(const char* name, const std::optional<double>& value) {
    if (value) json[name] = *value;
  }
  template <class Value>
  void operator()(const char* name, const Value& value) {
    if (sparse && value == Value()) return;
    if constexpr (std::is_enum_v<Value>) {
      json[name] = to_string(value);
    } else {
      json[name] = value;
    }
  }
};

[[noreturn]] void bad_setting(const char* name, const Json& value, const char* expected) {
  throw OperatorFileError(std::string("model configuration: '") + name + "' is " + value.dump() +
                          "; expected " + expected);
}

struct JsonReader {
  const Json& json;
  bool optional = false;

  void begin_optional() { optional = true; }
  void begin_sparse() {}
  bool has(const char* name) const { return !optional || json.contains(name); }
  void operator()(const char* name, int& value) {
    if (!has(name)) return;
    const Json& found = at(name);
    if (!found.is_number_integer() || found.get<double>() < 0 ||
        found.get<double>() > largest_size) {
      bad_setting(name, found, "an integer from 0 to 1048576");
    }
    value = found.get<int>();
  }
  void operator()(const char* name, double& value) {
    if (!has(name)) return;
    const Json& found = at(name);
    if (!found.is_number()) bad_setting(name, found, "a number");
    value = found.get<double>();
  }
  void operator()(const char* name, bool& value) {
    if (!has(name)) return;
    const Json& found = at(name);
    if (!found.is_boolean()) bad_setting(name, found, "true or false");
    value = found.get<bool>();
  }
  void operator()(const char* name, std::optional<double>& value) {
    if (!has(name)) return;
    value.emplace();
    (*this)(name, *value);
  }
  void operator()(const char* name, Form& value) { value = form_from_string(text(name)); }
  void operator()(const char* name, Activation& value) {
    value = activation_from_string(text(name));
  }
  void operator()(const char* name, Coefficients& value) {
    value = coefficients_from_string(text(name));
  }
  void operator()(const char* name, Mixing& value) {
    if (has(name)) value = mixing_from_string(text(name));
  }
  void operator()(const char* name, Bases& value) {
    if (has(name)) value = bases_from_string(text(name));
  }
  void operator()(const char* name, Attention& value) {
    if (has(name)) value = attention_from_string(text(name));
  }
  void operator()(const char* name, PositionBias& value) {
    if (has(name)) value = position_bias_from_string(text(name));
  }

  const Json& at(const char* name) const {
    const auto found = json.find(name);
    if (found == json.end()) {
      throw OperatorFileError(std::string("model configuration: '") + name + "' is missing");
    }
    return *found;
  }
  std::string text(const char* name) const {
    const Json& found = at(name);
    if (!found.is_string()) bad_setting(name, found, "a name");
    return found.get<std::string>();
  }
};

void require(bool holds, const std::string& message) {
  if (!holds) throw UsageError("model configuration: " + message);
}

void require_at_least(const char* name, int value, int least) {
  require(value >= least && value <= largest_size,
          std::string(name) + " is " + std::to_string(value) + "; it must be from " +
              std::to_string(least) + " to " + std::to_string(largest_size));
}

void require_positive(const char* name, double value) {
  require(std::isfinite(value) && value > 0, std::string(name) + " is " + format_number(value) +
                                                 "; it must be a finite number above 0");
}

void validate_few_shot(const ModelConfig& config) {
  require(config.coordinate_dimension >= 1,
          "few_shot needs coordinates (coordinate_dimension is 0): its encoder sees nothing else");
  require(config.value_features == config.out_features,
          "few_shot maps context values to values of the same kind, but value_features is " +
              std::to_string(config.value_features) + " and out_features is " +
              std::to_string(config.out_features) + "; make them equal");
  require(config.relative_ridge || config.ridge < 1,
          "few_shot blends (1 - ridge) Gram + ridge I, but ridge is " +
              format_number(config.ridge) + "; it must be below 1");
}

void validate_attention(const ModelConfig& config) {
  const std::string name = to_string(config.attention);
  if (config.attention != Attention::functional) {
    require(config.form == Form::shared_basis, "attention is " + name +
                                                   ", which is for the form shared_basis, found " +
                                                   to_string(config.form));
    require(config.mixing == Mixing::functional && config.bases == Bases::shared,
            "attention " + name + " has no learned basis, but mixing is " +
                to_string(config.mixing) + " and bases " + to_string(config.bases) +
                "; leave these away");
  }
  require(config.attention != Attention::fourier || config.coordinate_dimension > 0,
          "attention fourier needs coordinates, but coordinate_dimension is 0");
  const bool is_softmax = config.attention == Attention::softmax;
  const std::string only = " is for softmax attention, but attention is " + name;
  require(is_softmax || !config.causal, "causal" + only);
  require(is_softmax || config.position_bias == PositionBias::none, "position_bias" + only);
  require(is_softmax || config.memory_tokens == 0, "memory_tokens" + only);
  require(config.position_bias == PositionBias::none || config.coordinate_dimension > 0,
          "position_bias needs coordinates, but coordinate_dimension is 0");
}

bool shares_basis(Form form) {
  return form == Form::shared_basis || form == Form::shared_basis_tied ||
         form == Form::segmentation;
}

void validate_blend(const ModelConfig& config) {
  if (!config.blend) return;
  const double blend = *config.blend;
  require(std::isfinite(blend) && blend > 0 && blend <= 1,
          "blend is " + format_number(blend) + "; it must be above 0 and at most 1");
  require(shares_basis(config.form) && config.attention == Attention::functional &&
              config.mixing == Mixing::functional,
          std::string("blend is of the functional transport in forms with a shared basis, found ") +
              "form " + to_string(config.form) + ", attention " + to_string(config.attention) +
              ", mixing " + to_string(config.mixing) +
              "; leave it away, or give --ridge where "
              "the form has a fixed lambda");
}

void validate_frequencies(const ModelConfig& config) {
  require(config.sinusoids == 0 || config.form != Form::few_shot,
          "sinusoids are not for few_shot, which has learned frequencies; set fourier_features");
  require(config.sinusoids == 0 || config.coordinate_dimension > 0,
          "sinusoids are of coordinates, but coordinate_dimension is 0");
  if (!config.learned_frequencies) return;
  require(config.sinusoids > 0,
          "learned_frequencies are those of the sinusoids, but sinusoids is 0; say how many");
  require(shares_basis(config.form) || (config.form == Form::paper && config.blocks > 0),
          std::string("learned_frequencies are for forms with a residual network, found ") +
              to_string(config.form) + (config.blocks == 0 ? " with 0 blocks" : ""));
}

void validate_paper(const ModelConfig& config) {
  require(config.coefficients != Coefficients::sum,
          "paper takes coefficients mean or integral, found sum, which grows with the number of "
          "points; use the form sum_coefficients to reproduce the notebook");
  require(!config.cross || config.blocks == 0, "cross attention is one bare layer, but blocks is " +
                                                   std::to_string(config.blocks) +
                                                   "; set blocks to 0 or cross to false");
  if (config.blocks > 0) return;
  require(config.in_features() == config.width && config.out_features == config.width,
          "a bare paper layer (blocks 0) has as many inputs and outputs as its width, but inputs "
          "are " +
              std::to_string(config.in_features()) + ", outputs " +
              std::to_string(config.out_features) + ", width " + std::to_string(config.width) +
              "; make them equal or set blocks");
}

std::string choices(const std::vector<std::string>& names, const std::string& text) {
  const auto near = closest_match(text, names);
  return near ? "did you mean '" + *near + "'?" : "choose one of " + join(names, ", ");
}

/// The value of an enumeration that has this name.
template <class Values>
typename Values::value_type named(const Values& values, const char* setting,
                                  const std::string& text) {
  std::vector<std::string> names;
  for (const auto value : values) {
    if (text == to_string(value)) return value;
    names.emplace_back(to_string(value));
  }
  throw UsageError(std::string(setting) + ": unknown name '" + text + "'; " + choices(names, text));
}

}  // namespace

const char* to_string(Form form) {
  switch (form) {
    case Form::paper:
      return "paper";
    case Form::shared_basis:
      return "shared_basis";
    case Form::shared_basis_tied:
      return "shared_basis_tied";
    case Form::segmentation:
      return "segmentation";
    case Form::few_shot:
      return "few_shot";
    case Form::sum_coefficients:
      return "sum_coefficients";
  }
  return "";
}

std::vector<std::string> form_names() {
  std::vector<std::string> names;
  for (const Form form : forms) names.emplace_back(to_string(form));
  return names;
}

Form form_from_string(const std::string& text) {
  for (const Form form : forms) {
    if (text == to_string(form)) return form;
  }
  const auto near = closest_match(text, form_names());
  throw UsageError("form: unknown name '" + text + "'; known are " + join(form_names(), ", ") +
                   (near ? "; did you mean '" + *near + "'?" : ""));
}

const char* to_string(Activation activation) {
  switch (activation) {
    case Activation::relu:
      return "relu";
    case Activation::gelu:
      return "gelu";
    case Activation::silu:
      return "silu";
    case Activation::tanh:
      return "tanh";
    case Activation::sine:
      return "sine";
  }
  return "";
}

const char* to_string(Bases bases) {
  switch (bases) {
    case Bases::shared:
      return "shared";
    case Bases::separate_slices:
      return "separate_slices";
    case Bases::separate:
      return "separate";
  }
  return "";
}

Bases bases_from_string(const std::string& text) {
  return named(base_choices, "bases", text);
}

const char* to_string(Attention attention) {
  switch (attention) {
    case Attention::functional:
      return "functional";
    case Attention::softmax:
      return "softmax";
    case Attention::linear:
      return "linear";
    case Attention::ridge:
      return "ridge";
    case Attention::pointwise:
      return "pointwise";
    case Attention::fourier:
      return "fourier";
  }
  return "";
}

Attention attention_from_string(const std::string& text) {
  return named(attentions, "attention", text);
}

const char* to_string(PositionBias bias) {
  switch (bias) {
    case PositionBias::none:
      return "none";
    case PositionBias::distance:
      return "distance";
    case PositionBias::learned:
      return "learned";
  }
  return "";
}

PositionBias position_bias_from_string(const std::string& text) {
  return named(position_biases, "position_bias", text);
}

Activation activation_from_string(const std::string& text) {
  return named(activations, "activation", text);
}

void ModelConfig::validate() const {
  require_at_least("coordinate_dimension", coordinate_dimension, 0);
  require_at_least("value_features", value_features, 0);
  require(in_features() >= 1,
          "coordinate_dimension and value_features are both 0; a point needs at least one feature");
  require_at_least("out_features", out_features, 1);
  require_at_least("width", width, 1);
  require_at_least("heads", heads, 1);
  require_at_least("basis", basis, 1);
  require_at_least("blocks", blocks, form == Form::paper || form == Form::few_shot ? 0 : 1);
  require_at_least("mlp_ratio", mlp_ratio, 1);
  require_at_least("ffn_width", ffn_width, 0);
  require_at_least("preprocess_depth", preprocess_depth, 0);
  require_at_least("encoder_layers", encoder_layers, 1);
  require_at_least("latent", latent, 0);
  require_at_least("fourier_features", fourier_features, 0);
  require_at_least("reference_points", reference_points, 0);
  require_at_least("memory_tokens", memory_tokens, 0);
  require_at_least("sinusoids", sinusoids, 0);
  validate_frequencies(*this);
  require_positive("ridge", ridge);
  require_positive("temperature", temperature);
  require_positive("fourier_max_frequency", fourier_max_frequency);
  if (form != Form::sum_coefficients && form != Form::few_shot) {
    require(width % heads == 0, "width " + std::to_string(width) + " is not divisible by heads " +
                                    std::to_string(heads) + "; each head needs as many channels");
  }
  require(!cross || form == Form::paper, std::string("cross is for the form paper; ") +
                                             to_string(form) + " fixes what its queries are");
  require(mixing == Mixing::functional || shares_basis(form),
          std::string("mixing is ") + funcattn::to_string(mixing) +
              ", which is for forms with a shared basis; " + to_string(form) + " has none");
  require(bases == Bases::shared || shares_basis(form),
          std::string("bases is ") + funcattn::to_string(bases) +
              ", which is for forms with a shared basis; " + to_string(form) + " has none");
  validate_attention(*this);
  validate_blend(*this);
  if (form == Form::few_shot) validate_few_shot(*this);
  if (form == Form::paper) validate_paper(*this);
}

Json ModelConfig::to_json() const {
  Json json = Json::object();
  visit_settings(*this, JsonWriter{json});
  return json;
}

ModelConfig ModelConfig::from_json(const Json& json) {
  if (!json.is_object()) {
    throw OperatorFileError("model configuration: expected a JSON object, found " +
                            std::string(json.type_name()));
  }
  ModelConfig config;
  try {
    JsonReader reader{json};
    visit_settings(config, reader);
    config.validate();
  } catch (const UsageError& error) {
    throw OperatorFileError(error.what());
  }
  const Json known = config.to_json();
  for (const auto& item : json.items()) {
    if (!known.contains(item.key())) {
      throw OperatorFileError("model configuration: unknown setting '" + item.key() +
                              "'; the file may come from a newer version of funcattn");
    }
  }
  return config;
}

Tensor Model::predict_observed(const PointSamples&, const PointSamples&, AttentionObserver&) {
  throw UsageError(
      "the model is of a class of its own, which has no attention layers to look into");
}

std::int64_t Model::parameter_count() const {
  std::int64_t count = 0;
  for (const Tensor& parameter : parameters()) count += parameter.numel();
  return count;
}

torch::Dtype Model::dtype() const {
  return parameters().front().scalar_type();
}

std::shared_ptr<Model> make_model(const ModelConfig& config, torch::Dtype dtype,
                                  std::uint64_t seed) {
  config.validate();
  if (dtype != torch::kFloat32 && dtype != torch::kFloat64) {
    throw UsageError("model: dtype is " + c10::str(dtype) + "; choose float32 or float64");
  }
  Initialiser initialiser(dtype, seed);
  switch (config.form) {
    case Form::paper:
      if (config.blocks == 0) return std::make_shared<PaperLayerModel>(config, initialiser);
      return std::make_shared<PaperModel>(config, initialiser);
    case Form::shared_basis:
      return std::make_shared<SharedBasisModel>(config, initialiser);
    case Form::shared_basis_tied:
      return std::make_shared<SharedBasisTiedModel>(config, initialiser);
    case Form::segmentation:
      return std::make_shared<SegmentationModel>(config, initialiser);
    case Form::few_shot:
      return std::make_shared<FewShotModel>(config, initialiser);
    case Form::sum_coefficients:
      return std::make_shared<SumCoefficientsModel>(config, initialiser);
  }
  throw UsageError("model: unknown form");
}

}  // namespace funcattn
