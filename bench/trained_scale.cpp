#include "bench/trained_scale.h"

#include <cmath>

#include "core/random.h"

namespace funcattn {

namespace {

constexpr double steeper_logits = 4.0;
constexpr double blend_logit = -3.0;
constexpr double shift_deviation = 0.2;

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

template <typename Draw>
void fill(Tensor& parameter, const Draw& draw) {
  std::vector<double> numbers(static_cast<std::size_t>(parameter.numel()));
  for (double& number : numbers) number = draw();
  parameter.copy_(torch::tensor(numbers, torch::kFloat64).view(parameter.sizes()));
}

}  // namespace

ModelConfig published_network() {
  ModelConfig config;
  config.form = Form::shared_basis_tied;
  config.coordinate_dimension = 3;
  config.width = 128;
  config.heads = 8;
  config.basis = 64;
  config.blocks = 8;
  return config;
}

void scale_as_trained(Model& model, std::uint64_t seed) {
  const torch::NoGradGuard no_grad;
  RandomGenerator random(seed);
  for (auto& entry : model.named_parameters()) {
    const std::string& name = entry.key();
    Tensor parameter = entry.value();
    if (contains(name, "alpha")) {
      parameter.fill_(blend_logit);
    } else if (contains(name, "ln_")) {
      if (contains(name, "weight"))
        fill(parameter, [&] { return random.uniform(0.5, 1.5); });
      else
        fill(parameter, [&] { return shift_deviation * random.normal(); });
    } else if (contains(name, "slice")) {
      parameter.mul_(steeper_logits);
    } else if (parameter.dim() == 2) {
      parameter.mul_(std::sqrt(3.0));  // Uniform in +-1/sqrt(in) has a third of the variance 1/in.
    }
  }
}

}  // namespace funcattn
