#pragma once

#include <memory>
#include <vector>

#include "operators/model.h"
#include "operators/safetensors.h"

// How weights get out of a model and into a new one. Internal: shared by the operator file and the
// import of published weights.

namespace funcattn {

/// Parameters, then buffers, under their names; they share memory with the model.
std::vector<NamedTensor> model_weights(const Model& model);

/// A lower bound, within a factor of two for models of some size, on the number of weights that
/// `config` implies. Costs nothing, so that absurd sizes are found before anything is built of
/// them.
double least_weight_count(const ModelConfig& config);

/// "tensor 'x' holds nan at element 3" for the first weight that is not finite, or empty.
std::string describe_non_finite(const std::vector<NamedTensor>& weights);

/// A model of `config` with copies of `weights`. Sizes, names, shapes and dtypes are compared both
/// ways, and the values for being finite, before a weight is copied. Throws OperatorFileError
/// naming the tensor, what was found and what was expected; UsageError if `config` is
/// contradictory.
std::shared_ptr<Model> model_from_weights(const ModelConfig& config,
                                          const std::vector<NamedTensor>& weights,
                                          torch::Dtype dtype);

}  // namespace funcattn
