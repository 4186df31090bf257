#include "operators/published_sizes.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "core/error.h"
#include "core/text.h"

namespace funcattn {

namespace {

using Keys = std::vector<const char*>;  // the names that one quantity has in different files

// Takes each size from where it stands and compares the places with each other.
class SizeReader {
 public:
  SizeReader(const PublishedWeights& weights, const Safetensors& file, Form form)
      : weights_(weights), file_(file), form_(form) {}

  int axis(const std::string& tensor, int axis, const Keys& keys) const {
    return agreed(weights_.size(tensor, axis), keys, "tensor '" + tensor + "' has");
  }
  int blocks(const std::string& prefix) const {
    return agreed(weights_.count(prefix), {"layers", "blocks"},
                  "the tensors '" + prefix + "*' give");
  }
  int ratio(const std::string& tensor, int axis, int divisor, const Keys& keys) const {
    const int size = weights_.size(tensor, axis);
    if (divisor < 1 || size % divisor != 0 || size == 0)
      throw OperatorFileError("tensor '" + tensor + "' has " + std::to_string(size) +
                              " rows, expected a multiple of " + std::to_string(divisor));
    return agreed(size / divisor, keys, "tensor '" + tensor + "' gives");
  }
  int heads(const std::string& temperature, int option) const {
    return heads(
        agreed(weights_.element_count(temperature), {"heads"}, "tensor '" + temperature + "' has"),
        option);
  }
  int heads(int inferred, int option) const {
    if (option > 0 && option != inferred)
      throw UsageError("heads are given as " + std::to_string(option) + ", but the weights have " +
                       std::to_string(inferred) + "; leave the option out");
    return inferred;
  }

  // For what no shape tells.
  double number(double option, bool is_given, const Keys& keys, const char* flag) const {
    if (is_given) return option;
    const auto [key, text] = stored(keys);
    if (!key) throw UsageError(unknown(keys, flag));
    const auto value = parse_double(*text);
    if (!value)
      throw OperatorFileError("the metadata '" + std::string(key) + "' is '" + *text +
                              "', expected a number");
    return *value;
  }
  int integer(int option, bool is_given, const Keys& keys, const char* flag) const {
    if (is_given) return option;
    const auto value = stored_integer(keys);
    if (!value) throw UsageError(unknown(keys, flag));
    return *value;
  }
  Coefficients coefficients(const std::string& option) const {
    if (!option.empty()) return coefficients_from_string(option);
    const Keys keys = {"coefficients"};
    const auto [key, text] = stored(keys);
    if (!key) throw UsageError(unknown(keys, "--coefficients"));
    try {
      return coefficients_from_string(*text);
    } catch (const UsageError& error) {
      throw OperatorFileError("the metadata 'coefficients': " + std::string(error.what()));
    }
  }
  std::optional<int> stored_integer(const Keys& keys) const {
    const auto [key, text] = stored(keys);
    if (!key) return std::nullopt;
    const auto value = parse_integer(*text);
    if (!value || *value < 0 || *value > std::numeric_limits<int>::max())
      throw OperatorFileError("the metadata '" + std::string(key) + "' is '" + *text +
                              "', expected a whole number from 0");
    return static_cast<int>(*value);
  }

 private:
  int agreed(std::int64_t inferred, const Keys& keys, const std::string& what) const {
    if (inferred > std::numeric_limits<int>::max())
      throw OperatorFileError(what + " an impossible size");
    const auto value = stored_integer(keys);
    if (value && *value != inferred)
      throw OperatorFileError(what + " " + std::to_string(inferred) + ", but the metadata '" +
                              stored(keys).first + "' is " + std::to_string(*value));
    return static_cast<int>(inferred);
  }
  std::pair<const char*, const std::string*> stored(const Keys& keys) const {
    for (const char* key : keys)
      if (const std::string* text = file_.find_metadata(key)) return {key, text};
    return {nullptr, nullptr};
  }
  std::string unknown(const Keys& keys, const char* flag) const {
    return std::string("weights of the form ") + to_string(form_) + " do not tell the " +
           std::string(flag + 2) + ", and the file's metadata has no '" + keys.front() +
           "'; give " + flag;
  }

  const PublishedWeights& weights_;
  const Safetensors& file_;
  Form form_;
};

const Keys width_keys = {"width", "latent"};
const Keys basis_keys = {"basis", "groups"};
const Keys ridge_keys = {"ridge", "reg_lambda"};
const Keys in_keys = {"in_features"};
const Keys out_keys = {"out_features", "classes"};
const Keys ratio_keys = {"mlp_ratio"};

double ridge(const SizeReader& read, const ImportOptions& options) {
  return read.number(options.ridge, options.ridge >= 0, ridge_keys, "--ridge");
}

// An option without effect would let its user believe that it had one.
void refuse_inapplicable(Form form, const ImportOptions& options) {
  const bool is_paper = form == Form::paper;
  const bool has_ridge = is_paper || form == Form::few_shot || form == Form::sum_coefficients;
  const auto refuse = [&](bool is_given, bool applies, const char* flag, const char* why) {
    if (is_given && !applies)
      throw UsageError(std::string(flag) + " does not apply to the form " + to_string(form) + ": " +
                       why + "; leave it out");
  };
  refuse(options.heads > 0, form != Form::few_shot, "--heads", "it has no heads");
  refuse(options.ridge >= 0, has_ridge, "--ridge", "its regularisation is learned");
  refuse(options.temperature >= 0, is_paper, "--temperature",
         form == Form::sum_coefficients ? "it has none" : "it is learned");
  refuse(!options.coefficients.empty(), is_paper, "--coefficients", "their kind is fixed");
  refuse(options.cross >= 0, is_paper, "--cross", "what its queries are is fixed");
}

// Features of a point are counted in value_features; the caller splits off the coordinates.
void read_paper(const SizeReader& read, const ImportOptions& options, ModelConfig& config) {
  config.width = read.axis("q.weight", 1, width_keys);
  config.value_features = config.width;
  config.out_features = read.axis("out.weight", 0, out_keys);
  config.heads = read.integer(options.heads, options.heads > 0, {"heads"}, "--heads");
  config.basis = read.ratio("basis_q.weight", 0, config.heads, basis_keys);
  config.blocks = 0;
  config.ridge = ridge(read, options);
  config.temperature =
      read.number(options.temperature, options.temperature >= 0, {"temperature"}, "--temperature");
  config.coefficients = read.coefficients(options.coefficients);
  config.cross = read.integer(options.cross, options.cross >= 0, {"cross"}, "--cross") != 0;
}

void read_residual_network(const SizeReader& read, const std::string& prefix, ModelConfig& config) {
  config.width = read.axis(prefix + "placeholder", 0, width_keys);
  config.value_features = read.axis(prefix + "preprocess.linear_pre.0.weight", 1, in_keys);
  config.blocks = read.blocks(prefix + "blocks.");
  config.mlp_ratio =
      read.ratio(prefix + "blocks.0.mlp.linear_pre.0.weight", 0, config.width, ratio_keys);
}

std::string last_block_output(const ModelConfig& config) {
  return "blocks." + std::to_string(config.blocks - 1) + ".mlp2.weight";
}

void read_shared_basis(const SizeReader& read, const ImportOptions& options, ModelConfig& config) {
  read_residual_network(read, "", config);
  config.heads = read.heads("blocks.0.Attn.temperature", options.heads);
  config.basis = read.axis("blocks.0.Attn.slice1.weight", 0, basis_keys);
  config.out_features = read.axis(last_block_output(config), 0, out_keys);
}

void read_shared_basis_tied(const SizeReader& read, const ImportOptions& options,
                            ModelConfig& config) {
  read_residual_network(read, "", config);
  config.heads = read.heads("temperature", options.heads);
  config.basis = read.axis("in_project_slice.weight", 0, basis_keys);
  config.out_features = read.axis(last_block_output(config), 0, out_keys);
}

void read_segmentation(const SizeReader& read, const PublishedWeights& weights,
                       const ImportOptions& options, ModelConfig& config) {
  const std::string prefix = "feature_extractor.";
  read_residual_network(read, prefix, config);
  config.preprocess_depth = weights.count(prefix + "preprocess.linears.");
  config.heads = read.heads(prefix + "blocks.0.SelfAttn.temperature", options.heads);
  config.basis = read.axis(prefix + "blocks.0.SelfAttn.slice1.weight", 0, basis_keys);
  config.out_features = read.axis("last_lin.weight", 0, out_keys);
}

void read_few_shot(const SizeReader& read, const PublishedWeights& weights,
                   const ImportOptions& options, ModelConfig& config) {
  config.width = read.axis("to_q.0.weight", 0, width_keys);
  config.coordinate_dimension = read.axis("to_q.0.weight", 1, in_keys);
  config.encoder_layers = (weights.count("to_q.") + 1) / 2;  // activations take the odd numbers
  config.basis = read.axis("slice.weight", 0, basis_keys);
  config.heads = 1;
  config.blocks = 1;
  config.ridge = ridge(read, options);
  config.activation = Activation::relu;
  config.out_features = 0;
  for (const ArraySpec& output : options.outputs) config.out_features += output.components;
  if (options.outputs.empty()) config.out_features = read.stored_integer(out_keys).value_or(1);
  config.value_features = config.out_features;
}

void read_sum_coefficients(const SizeReader& read, const ImportOptions& options,
                           ModelConfig& config) {
  const std::string block = "transformer_stack.0.";
  config.width = read.axis("shared_kq_encoder.0.weight", 0, width_keys);
  config.value_features = read.axis("shared_kq_encoder.0.weight", 1, in_keys);
  config.blocks = read.blocks("transformer_stack.");
  config.heads = read.heads(read.ratio(block + "attn.q_proj.weight", 0, config.width, {"heads"}),
                            options.heads);
  config.basis = read.ratio(block + "attn.q_basis_proj.weight", 0, config.heads, basis_keys);
  config.ffn_width = read.axis(block + "ffn.0.weight", 0, {"ffn"});
  config.out_features = read.axis("output_proj.weight", 0, out_keys);
  config.ridge = ridge(read, options);
}

// How many leading features are coordinates where the options do not say.
int default_coordinates(Form form, int features) {
  switch (form) {
    case Form::segmentation:
      return std::min(features, 3);
    case Form::sum_coefficients:
      return std::min(features, 1);
    default:
      return 0;
  }
}

void split_features(const ImportOptions& options, ModelConfig& config) {
  const int asked = options.coordinate_dimension;
  if (config.form == Form::few_shot) {
    const int features = config.coordinate_dimension;
    if (features > 3 || (asked >= 0 && asked != features))
      throw UsageError("few_shot takes coordinates only: the weights have " +
                       std::to_string(features) + " of at most 3" +
                       (asked >= 0 ? ", but " + std::to_string(asked) + " are given" : ""));
    return;
  }
  const int features = config.value_features;
  const int coordinates = asked >= 0 ? asked : default_coordinates(config.form, features);
  if (coordinates > std::min(features, 3))
    throw UsageError(std::to_string(coordinates) + " coordinates are given, expected at most " +
                     std::to_string(std::min(features, 3)) + ": the weights have " +
                     std::to_string(features) + " features per point");
  config.coordinate_dimension = coordinates;
  config.value_features = features - coordinates;
}

}  // namespace

PublishedWeights::PublishedWeights(const Safetensors& file) {
  const std::string prefix = "weights.";
  for (const auto& [name, tensor] : file.tensors)
    if (name.rfind(prefix, 0) == 0) tensors_.emplace_back(name.substr(prefix.size()), tensor);
  if (tensors_.empty()) tensors_ = file.tensors;
}

const Tensor& PublishedWeights::at(const std::string& name) const {
  const auto found = std::find_if(tensors_.begin(), tensors_.end(),
                                  [&](const NamedTensor& entry) { return entry.first == name; });
  if (found == tensors_.end())
    throw OperatorFileError("tensor '" + name + "' is missing; is this the right form?");
  return found->second;
}

int PublishedWeights::size(const std::string& name, int axis) const {
  const Tensor& tensor = at(name);
  if (tensor.dim() <= axis || tensor.size(axis) > std::numeric_limits<int>::max())
    throw OperatorFileError("tensor '" + name + "' has the shape " + c10::str(tensor.sizes()) +
                            ", expected at least " + std::to_string(axis + 1) + " axes");
  return static_cast<int>(tensor.size(axis));
}

std::int64_t PublishedWeights::element_count(const std::string& name) const {
  return at(name).numel();
}

int PublishedWeights::count(const std::string& prefix) const {
  int count = 0;
  for (const auto& [name, tensor] : tensors_) {
    if (name.rfind(prefix, 0) != 0) continue;
    const std::size_t end = name.find('.', prefix.size());
    if (end == std::string::npos) continue;
    const auto index = parse_integer(name.substr(prefix.size(), end - prefix.size()));
    if (index && *index >= 0 && *index < 1'000'000)
      count = std::max(count, static_cast<int>(*index) + 1);
  }
  return count;
}

ModelConfig published_config(const PublishedWeights& weights, const Safetensors& file, Form form,
                             const ImportOptions& options) {
  const std::string* stored_form = file.find_metadata("form");
  if (stored_form && *stored_form != to_string(form))
    throw OperatorFileError("the metadata 'form' is '" + *stored_form + "', but '" +
                            to_string(form) + "' is asked for");
  refuse_inapplicable(form, options);
  const SizeReader read(weights, file, form);
  ModelConfig config;
  config.form = form;
  config.reference_points = 0;
  switch (form) {
    case Form::paper:
      read_paper(read, options, config);
      break;
    case Form::shared_basis:
      read_shared_basis(read, options, config);
      break;
    case Form::shared_basis_tied:
      read_shared_basis_tied(read, options, config);
      break;
    case Form::segmentation:
      read_segmentation(read, weights, options, config);
      break;
    case Form::few_shot:
      read_few_shot(read, weights, options, config);
      break;
    case Form::sum_coefficients:
      read_sum_coefficients(read, options, config);
      break;
  }
  split_features(options, config);
  return config;
}

}  // namespace funcattn
