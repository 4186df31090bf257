#include "operators/forms/shared_basis_tied.h"

#include "operators/forms/shared_basis.h"

namespace funcattn {

SharedBasisTiedModel::SharedBasisTiedModel(const ModelConfig& config, Initialiser& initialiser)
    : ResidualModel(config, initialiser) {
  const auto projection = std::make_shared<const BasisProjection>(*this, initialiser, config,
                                                                  "in_project_slice", false);
  ResidualNetworkOptions options;
  options.lift_width = 2 * config.width;
  network_ = std::make_unique<ResidualNetwork>(*this, initialiser, config, options, [&] {
    return std::make_shared<SharedBasisAttention>(initialiser, config, projection);
  });
}

}  // namespace funcattn
