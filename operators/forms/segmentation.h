#pragma once

#include <memory>

#include "operators/forms/residual_network.h"

namespace funcattn {

/// The authors' surface segmentation: class logits per point. The parts of the residual network are
/// named `feature_extractor.*`; there is no final LayerNorm, `last_lin` maps to the classes.
class SegmentationModel : public Model {
 public:
  SegmentationModel(const ModelConfig& config, Initialiser& initialiser);
  bool follows_config() const override { return true; }
  Tensor predict(const PointSamples& source, const PointSamples& query) override;

 private:
  std::unique_ptr<ResidualNetwork> network_;
  std::shared_ptr<Linear> last_lin_;
};

}  // namespace funcattn
