#include "operators/forms/shared_basis_tied.h"

#include "operators/engine/training_function.h"
#include "operators/forms/shared_basis.h"

namespace funcattn {

SharedBasisTiedModel::SharedBasisTiedModel(const ModelConfig& config, Initialiser& initialiser)
    : Model(config) {
  const auto projection = std::make_shared<const BasisProjection>(*this, initialiser, config,
                                                                  "in_project_slice", false);
  ResidualNetworkOptions options;
  options.lift_width = 2 * config.width;
  network_ = std::make_unique<ResidualNetwork>(*this, initialiser, config, options, [&] {
    return std::make_shared<SharedBasisAttention>(initialiser, config, projection);
  });
}

Tensor SharedBasisTiedModel::predict(const PointSamples& source, const PointSamples&) {
  const Tensor features = point_features(source, config(), dtype(), "source");
  const Tensor by_panels = predict_for_training(*this, features, source.weights);
  if (by_panels.defined()) return by_panels;
  return network_->forward(features, PointMeasure(source.weights, dtype()));
}

}  // namespace funcattn
