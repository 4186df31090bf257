#include "operators/model_weights.h"

#include <algorithm>

#include "core/error.h"
#include "core/text.h"

namespace funcattn {

namespace {

std::string describe(const Tensor& tensor) {
  const auto dtype = tensor.scalar_type();
  const std::string name = dtype == torch::kFloat32   ? "float32"
                           : dtype == torch::kFloat64 ? "float64"
                                                      : torch::toString(dtype);
  return c10::str(name, " ", tensor.sizes());
}

const Tensor* find(const std::vector<NamedTensor>& tensors, const std::string& name) {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const NamedTensor& entry) { return entry.first == name; });
  return found == tensors.end() ? nullptr : &found->second;
}

void compare(const std::vector<NamedTensor>& found, const std::vector<NamedTensor>& expected,
             Form form) {
  for (const auto& [name, tensor] : expected) {
    const Tensor* other = find(found, name);
    if (!other)
      throw OperatorFileError("tensor '" + name + "' is missing, expected " + describe(tensor));
    if (other->sizes() != tensor.sizes() || other->scalar_type() != tensor.scalar_type())
      throw OperatorFileError("tensor '" + name + "' is " + describe(*other) + ", expected " +
                              describe(tensor) + " for these sizes of the form " + to_string(form));
  }
  for (const auto& [name, tensor] : found)
    if (!find(expected, name))
      throw OperatorFileError("tensor '" + name + "', " + describe(tensor) +
                              ", is not part of the form " + to_string(form) +
                              " with these sizes, expected no such tensor");
}

}  // namespace

std::vector<NamedTensor> model_weights(const Model& model) {
  std::vector<NamedTensor> weights;
  for (const auto& item : model.named_parameters()) weights.emplace_back(item.key(), item.value());
  for (const auto& item : model.named_buffers()) weights.emplace_back(item.key(), item.value());
  return weights;
}

double least_weight_count(const ModelConfig& config) {
  const double width = config.width;
  const double square = width * width;
  const double heads = config.heads;
  const double basis = config.basis;
  const double blocks = config.blocks;
  const double ends = width * (config.in_features() + static_cast<double>(config.out_features));
  const double basis_map = basis * width / std::max(1.0, heads);
  const double mlp = 2 * config.mlp_ratio * square;
  switch (config.form) {
    case Form::paper:
      if (blocks == 0) return 4 * square + 2 * heads * basis * width;
      return ends + 2 * square + blocks * (4 * square + 2 * heads * basis * width + mlp);
    case Form::shared_basis:
      // A pointwise network is the smallest that may stand in the place of the attention.
      return ends + 2 * square +
             blocks * ((config.attention == Attention::functional ? 3 * square + basis_map
                                                                  : 2 * square) +
                       mlp);
    case Form::shared_basis_tied:
      return ends + 4 * square + basis_map + blocks * (square + mlp);
    case Form::segmentation:
      return ends + (1.0 + config.preprocess_depth) * square +
             blocks * (3 * square + basis_map + mlp);
    case Form::few_shot: {
      const double latent = config.latent_features();
      const double coordinates = config.coordinate_dimension;
      const double frequencies = coordinates * config.fourier_features;
      const double inputs = frequencies > 0 ? 2 * frequencies : coordinates;
      const double encoder = config.encoder_layers > 1
                                 ? (inputs + latent + (config.encoder_layers - 2.0) * width) * width
                                 : inputs * latent;
      return frequencies + encoder + basis * latent;
    }
    case Form::sum_coefficients: {
      const double hidden = config.ffn_width > 0 ? config.ffn_width : config.mlp_ratio * width;
      return ends + 3 * square +
             blocks * (4 * heads * square + 2 * heads * heads * width * basis + 2 * width * hidden);
    }
  }
  return 0;
}

std::string describe_non_finite(const std::vector<NamedTensor>& weights) {
  const torch::NoGradGuard no_gradient;
  for (const auto& [name, tensor] : weights) {
    if (!tensor.is_floating_point() || tensor.isfinite().all().item<bool>()) continue;
    const Tensor flat = tensor.reshape({-1});
    const auto index = flat.isfinite().logical_not().nonzero()[0].item<std::int64_t>();
    return "tensor '" + name + "' holds " + format_number(flat[index].item<double>()) +
           " at element " + std::to_string(index) + ", expected finite weights";
  }
  return {};
}

std::shared_ptr<Model> model_from_weights(const ModelConfig& config,
                                          const std::vector<NamedTensor>& weights,
                                          torch::Dtype dtype) {
  config.validate();
  double stored = 0;
  for (const auto& [name, tensor] : weights) stored += static_cast<double>(tensor.numel());
  if (least_weight_count(config) > stored)
    throw OperatorFileError(
        "the tensors hold " + format_number(stored) + " numbers, expected at least " +
        format_number(least_weight_count(config)) + " for the form " + to_string(config.form) +
        " of width " + std::to_string(config.width) + ", " + std::to_string(config.blocks) +
        " blocks and " + std::to_string(config.basis) + " basis functions");

  const std::shared_ptr<Model> model = make_model(config, dtype, 0);
  const std::vector<NamedTensor> targets = model_weights(*model);
  compare(weights, targets, config.form);
  if (const std::string fault = describe_non_finite(weights); !fault.empty())
    throw OperatorFileError(fault);
  const torch::NoGradGuard no_gradient;
  for (const auto& [name, tensor] : targets) Tensor(tensor).copy_(*find(weights, name));
  return model;
}

}  // namespace funcattn
