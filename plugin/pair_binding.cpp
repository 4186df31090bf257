#include "plugin/pair_binding.h"

#include "core/error.h"
#include "plugin/prediction.h"

namespace funcattn {

namespace {

Eigen::VectorXd weights_of(const Mesh& query, const Contract& contract,
                           const QuerySettings& settings) {
  const WeightChoice choice = settings.weights.empty()
                                  ? query_weight_choice(weight_choice_from_string(contract.weights))
                                  : weight_choice_from_string(settings.weights);
  return quadrature_weights(std::vector<Mesh>{query}, contract.association(), choice);
}

Tensor to_weights(const Eigen::VectorXd& weights) {
  return to_tensor(RowMatrix(weights)).squeeze(1);
}

/// `rows` zeros before `tensor`.
Tensor behind_zeros(std::int64_t rows, const Tensor& tensor) {
  std::vector<std::int64_t> sizes = tensor.sizes().vec();
  sizes[0] = rows;
  return at::cat({at::zeros(sizes, tensor.options()), tensor}, 0);
}

/// @param source, query [n,axes] and [m,axes]
bool boxes_meet(const Tensor& source, const Tensor& query) {
  if (source.size(0) == 0 || source.size(1) == 0) return true;
  const Tensor low = at::maximum(source.amin({0}), query.amin({0}));
  const Tensor high = at::minimum(source.amax({0}), query.amax({0}));
  return low.le(high).all().item<bool>();
}

}  // namespace

Sample PairSample::results() const {
  const auto own = [&](const Tensor& tensor) {
    return tensor.narrow(0, first_result, tensor.size(0) - first_result);
  };
  Sample results;
  results.name = sample.name;
  results.query.coordinates = own(sample.query.coordinates);
  results.query.weights = weights;
  results.query_is_source = false;
  results.targets = own(sample.targets);
  return results;
}

PairSample bind_pair(const Mesh& source, const Mesh& query, const Model& model,
                     const Contract& contract, const QuerySettings& settings) {
  if (query.count(contract.association()) == 0)
    throw DataError(query.origin() + ": the mesh has no " + to_string(contract.association()) +
                    "s; nothing can be learned or measured there");
  StageOptions options;
  options.interpolate_inputs = settings.interpolate_inputs;
  const StageMeshes at{query.origin(), {query}};
  BoundStage bound = bind_stage(model, contract, {source.origin(), {source}}, &at, options);
  const Eigen::VectorXd weights = weights_of(query, contract, settings);
  const Tensor targets = bind_targets(at.parts, contract, weights, true);

  PairSample pair;
  Sample& sample = pair.sample;
  sample.name =
      source.origin() + " at the " + to_string(contract.association()) + "s of " + query.origin();
  sample.query_is_source = false;
  pair.first_result = bound.first_result;
  pair.has_interpolated_inputs = bound.has_interpolated_inputs;
  sample.source = std::move(bound.source);
  sample.query.coordinates = bound.query.coordinates;
  if (!bound.query_is_source) sample.query.values = bound.query.values;
  pair.weights = to_weights(weights);
  const bool computes_with_weights = model.separates_query() && query_needs_inputs(model);
  sample.query.weights =
      computes_with_weights ? bound.query.weights : behind_zeros(pair.first_result, pair.weights);
  sample.targets = behind_zeros(pair.first_result, targets);
  // The operations of training know weights alone.
  sample.source.shares = Tensor();
  const Tensor& places = sample.source.coordinates;
  const Tensor of_source = pair.first_result > 0 ? places.narrow(0, 0, pair.first_result) : places;
  if (!boxes_meet(of_source, pair.results().query.coordinates))
    pair.apart = query.origin() + " has no place in common with the box of its source, " +
                 source.origin() + "; are they a pair?";
  return pair;
}

Tensor result_weights(const Mesh& mesh, const Contract& contract, const QuerySettings& settings) {
  return to_weights(weights_of(mesh, contract, settings));
}

}  // namespace funcattn
