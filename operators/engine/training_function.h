#pragma once

#include "operators/model.h"

namespace funcattn {

/// Model::predict with a backward that computes bases anew, tile by tile, instead of keeping them:
/// a tenth of the memory and a fraction of the time. Gradients reach the parameters of the model;
/// they can be taken once. Sums of gradients are bit-equal for the same number of threads.
///
/// Undefined where it does not apply: no gradients recorded, another device, a form without such a
/// backward, or features that require gradients.
/// @param features [B,N,F], as point_features() gives them @param weights [B,N]
Tensor predict_for_training(const Model& model, const Tensor& features, const Tensor& weights);

}  // namespace funcattn
