#include "operators/forms/segmentation.h"

#include "operators/forms/shared_basis.h"

namespace funcattn {

SegmentationModel::SegmentationModel(const ModelConfig& config, Initialiser& initialiser)
    : ResidualModel(config, initialiser) {
  ResidualNetworkOptions options;
  options.attention_name = "SelfAttn";
  options.lift_width = config.width;
  options.lift_depth = config.preprocess_depth;
  options.ends_in_output = false;
  const auto extractor =
      register_module("feature_extractor", std::make_shared<torch::nn::Module>());
  network_ = std::make_unique<ResidualNetwork>(*extractor, initialiser, config, options, [&] {
    return std::make_shared<SharedBasisAttention>(initialiser, config, nullptr);
  });
  last_lin_ = register_module(
      "last_lin", std::make_shared<Linear>(initialiser, config.width, config.out_features));
}

}  // namespace funcattn
