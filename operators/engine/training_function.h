#pragma once

#include "core/process_group.h"
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

/// As predict_for_training() where several processes hold points of each sample, N of which are
/// here, maybe none: all call it and its backward together. The gradients of all are to be added
/// up. Throws UsageError where it does not apply, as require_learning_from_pieces() does.
/// @param shares as in PointSamples
Tensor predict_in_pieces_for_training(const Model& model, const Tensor& features,
                                      const Tensor& weights, const Tensor& shares,
                                      ProcessGroup& processes);

/// Throws UsageError for models that predict_in_pieces_for_training() does not know.
void require_learning_from_pieces(const Model& model);

}  // namespace funcattn
