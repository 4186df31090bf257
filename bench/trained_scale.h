#pragma once

#include <cstdint>

#include "operators/model.h"

namespace funcattn {

/// The published irregular-mesh network: width 128, 8 blocks, 8 heads of 64 functions, in three
/// dimensions; 475,089 parameters.
ModelConfig published_network();

/// Brings the initial weights of a model to the scale that training gives them, so that every layer
/// bears on the result and a mistake in a deep one shows. The same for the same seed.
///
/// As initialised, a linear layer shrinks its input to a third of its variance, all basis functions
/// are nearly 1/k everywhere, and LayerNorms and the blend of the transport are neutral. Here
/// linear layers keep the variance, logits are four times as steep, LayerNorm scales are uniform in
/// [0.5, 1.5] with shifts of standard deviation 0.2, and `alpha` is -3: a blend of 0.05.
void scale_as_trained(Model& model, std::uint64_t seed);

}  // namespace funcattn
