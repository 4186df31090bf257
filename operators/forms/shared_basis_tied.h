#pragma once

#include <memory>

#include "operators/forms/residual_network.h"

namespace funcattn {

/// The authors' irregular-mesh network: as SharedBasisModel, but one set of projections, basis map
/// and temperature serves all blocks, each applying it to its LayerNorm output; the temperature is
/// not clamped.
class SharedBasisTiedModel : public Model {
 public:
  SharedBasisTiedModel(const ModelConfig& config, Initialiser& initialiser);
  bool follows_config() const override { return true; }
  Tensor predict(const PointSamples& source, const PointSamples& query) override;

 private:
  std::unique_ptr<ResidualNetwork> network_;
};

}  // namespace funcattn
