#pragma once

#include <memory>

#include "operators/forms/residual_network.h"

namespace funcattn {

/// The authors' surface segmentation: class logits per point. The parts of the residual network are
/// named `feature_extractor.*`; there is no final LayerNorm, `last_lin` maps to the classes.
class SegmentationModel : public ResidualModel {
 public:
  SegmentationModel(const ModelConfig& config, Initialiser& initialiser);

 private:
  Tensor head(const Tensor& x) const override { return last_lin_->forward(x); }

  std::shared_ptr<Linear> last_lin_;
};

}  // namespace funcattn
