#include "operators/published.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "operators/model_weights.h"
#include "operators/published_sizes.h"

namespace funcattn {

namespace {

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool has_unused_parameters(Form form) {
  return form == Form::shared_basis || form == Form::shared_basis_tied ||
         form == Form::segmentation;
}

// The published code keeps the identity of its blend in the file; another matrix would have been
// used by nobody but whoever trained with it.
void require_identity(const std::string& name, const Tensor& tensor) {
  const bool is_square = tensor.dim() >= 2 && tensor.size(-1) == tensor.size(-2) &&
                         tensor.numel() == tensor.size(-1) * tensor.size(-2);
  if (!is_square || !tensor.reshape({tensor.size(-1), -1})
                         .eq(torch::eye(tensor.size(-1), tensor.options()))
                         .all()
                         .item<bool>())
    throw OperatorFileError("tensor '" + name +
                            "' is not the identity, expected [1,c,c] with ones on the diagonal");
}

bool is_unused(const std::string& name, const Tensor& tensor) {
  if (name == "I_d" || ends_with(name, ".I_d")) {
    require_identity(name, tensor);
    return true;
  }
  return name.rfind("mlp_new.", 0) == 0 || name.find(".mlp_new.") != std::string::npos;
}

// The published network registers one encoder under three names.
std::vector<NamedTensor> merge_encoders(const PublishedWeights& weights) {
  const auto& tensors = weights.tensors();
  std::vector<NamedTensor> merged;
  for (const auto& [name, tensor] : tensors) {
    const bool is_copy = name.rfind("to_k.", 0) == 0 || name.rfind("to_v.", 0) == 0;
    if (!is_copy) merged.emplace_back(name, tensor);
    if (name.rfind("to_q.", 0) != 0 && !is_copy) continue;
    for (const char* encoder : {"to_q.", "to_k.", "to_v."}) {
      const std::string twin = encoder + name.substr(5);
      const auto other =
          std::find_if(tensors.begin(), tensors.end(),
                       [&](const NamedTensor& entry) { return entry.first == twin; });
      if (other == tensors.end())
        throw OperatorFileError("tensor '" + twin + "' is missing, expected a copy of '" + name +
                                "'");
      if (!other->second.equal(tensor))
        throw OperatorFileError("tensors '" + name + "' and '" + twin +
                                "' differ, expected three copies of one encoder");
    }
  }
  return merged;
}

std::vector<NamedTensor> select_weights(const PublishedWeights& weights, Form form,
                                        torch::Dtype dtype, std::vector<std::string>& skipped) {
  std::vector<NamedTensor> selected;
  if (form == Form::few_shot)
    selected = merge_encoders(weights);
  else
    for (const auto& [name, tensor] : weights.tensors()) {
      if (has_unused_parameters(form) && is_unused(name, tensor))
        skipped.push_back(name);
      else
        selected.emplace_back(name, tensor);
    }
  for (auto& [name, tensor] : selected)
    if (tensor.is_floating_point()) tensor = tensor.to(dtype);
  return selected;
}

Association given_association(const ImportOptions& options) {
  if (!options.inputs.empty()) return options.inputs.front().association;
  if (!options.outputs.empty()) return options.outputs.front().association;
  return Association::point;
}

int sum_components(const std::vector<ArraySpec>& arrays) {
  int sum = 0;
  for (const ArraySpec& array : arrays) sum += array.components;
  return sum;
}

void require_components(const std::vector<ArraySpec>& arrays, int expected, const char* what) {
  if (sum_components(arrays) != expected)
    throw UsageError(std::string("the ") + what + " given have " +
                     std::to_string(sum_components(arrays)) + " components together, expected " +
                     std::to_string(expected) + " for these weights");
}

std::vector<ArraySpec> default_inputs(Form form, int components, Association association) {
  if (components == 0) return {};
  if (form == Form::few_shot || (form == Form::sum_coefficients && components == 1))
    return {{"y_context", association, components, ""}};
  std::vector<ArraySpec> inputs;
  for (int i = 0; i < components; ++i)
    inputs.push_back({"input_" + std::to_string(i), association, 1, ""});
  return inputs;
}

const char* default_output(Form form) {
  switch (form) {
    case Form::segmentation:
      return "label";
    case Form::few_shot:
    case Form::sum_coefficients:
      return "y";
    default:
      return "output";
  }
}

/// Published segmentation ends in one logit per class: the class is what it predicts, unless the
/// arrays given have as many components as there are logits.
bool gives_classes(const ModelConfig& config, const std::vector<ArraySpec>& outputs) {
  return config.form == Form::segmentation && config.out_features > 1 &&
         (outputs.empty() || (outputs.size() == 1 && outputs.front().components == 1));
}

Contract make_contract(const ModelConfig& config, const ImportOptions& options) {
  const Association association = given_association(options);
  const int components = config.value_features;
  Contract contract;
  for (const ArraySpec& input : options.inputs.empty()
                                    ? default_inputs(config.form, components, association)
                                    : options.inputs)
    contract.inputs.push_back({input, InputRole::value});
  if (!options.inputs.empty()) require_components(options.inputs, components, "inputs");
  if (config.form == Form::few_shot)
    contract.inputs.push_back({{"context", association, 1, ""}, InputRole::source_flag});

  if (gives_classes(config, options.outputs)) {
    OutputArray label{{default_output(config.form), association, 1, ""}};
    if (!options.outputs.empty()) label = {options.outputs.front()};
    label.classes.resize(static_cast<std::size_t>(config.out_features));
    std::iota(label.classes.begin(), label.classes.end(), 0);
    contract.outputs.push_back(std::move(label));
  } else {
    for (const ArraySpec& output : options.outputs) contract.outputs.push_back({output});
    if (contract.outputs.empty())
      contract.outputs.push_back(
          {{default_output(config.form), association, config.out_features, ""}});
    else
      require_components(options.outputs, config.out_features, "outputs");
  }

  for (int axis = 0; axis < config.coordinate_dimension; ++axis) {
    contract.coordinates.axes.push_back(axis);
    contract.coordinates.center.push_back(0.0);
  }
  return contract;
}

}  // namespace

ImportResult import_published(const Safetensors& file, Form form, const ImportOptions& options) {
  if (options.dtype != torch::kFloat32 && options.dtype != torch::kFloat64)
    throw UsageError("an operator is float32 or float64, found " + c10::str(options.dtype));
  const PublishedWeights weights(file);
  const ModelConfig config = published_config(weights, file, form, options);
  std::vector<std::string> skipped;
  const std::vector<NamedTensor> selected = select_weights(weights, form, options.dtype, skipped);
  const std::shared_ptr<Model> model = model_from_weights(config, selected, options.dtype);
  Json training = {
      {"task", std::string("imported from published weights of the form ") + to_string(form)}};
  return {Operator(model, make_contract(config, options), std::move(training)), std::move(skipped)};
}

}  // namespace funcattn
