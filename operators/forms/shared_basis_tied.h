#pragma once

#include <memory>

#include "operators/forms/residual_network.h"

namespace funcattn {

/// The authors' irregular-mesh network: as SharedBasisModel, but one set of projections, basis map
/// and temperature serves all blocks, each applying it to its LayerNorm output; the temperature is
/// not clamped.
class SharedBasisTiedModel : public ResidualModel {
 public:
  SharedBasisTiedModel(const ModelConfig& config, Initialiser& initialiser);
};

}  // namespace funcattn
