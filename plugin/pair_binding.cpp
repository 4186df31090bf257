#include "plugin/pair_binding.h"

#include <vtkDataSet.h>

#include <algorithm>
#include <cmath>

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

/// Along the axes, up to what single precision leaves of lengths and places.
bool boxes_meet(const Mesh& source, const Mesh& query, const std::vector<int>& axes) {
  double of_source[6], of_query[6];
  source.vtk()->GetBounds(of_source);
  query.vtk()->GetBounds(of_query);
  double longest = 0, farthest = 0;
  for (const int axis : axes)
    for (const double* box : {of_source, of_query}) {
      const double low = box[2 * axis], high = box[2 * axis + 1];
      if (low > high) return true;  // There is no point.
      longest = std::max(longest, high - low);
      farthest = std::max({farthest, std::abs(low), std::abs(high)});
    }
  const double tolerance = 1e-6 * longest + 4e-7 * farthest;
  return std::all_of(axes.begin(), axes.end(), [&](int axis) {
    return of_source[2 * axis] <= of_query[2 * axis + 1] + tolerance &&
           of_query[2 * axis] <= of_source[2 * axis + 1] + tolerance;
  });
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
  if (!boxes_meet(source, query, contract.coordinates.axes))
    pair.apart = query.origin() + " and its source " + source.origin() +
                 " have no place in common; look whether they belong together";
  return pair;
}

Tensor result_weights(const Mesh& mesh, const Contract& contract, const QuerySettings& settings) {
  return to_weights(weights_of(mesh, contract, settings));
}

}  // namespace funcattn
