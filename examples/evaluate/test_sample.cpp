#include "examples/evaluate/test_sample.h"

#include "meshio/reader.h"
#include "plugin/binding.h"

namespace funcattn {

TestSample read_test_sample(const SampleFiles& files, std::size_t index, const Model& model,
                            const Contract& contract, const QuerySettings& errors) {
  Mesh source = read_mesh(files.sources[index]);
  const auto source_points = static_cast<double>(source.count(contract.association()));
  if (!files.queries.empty()) {
    Mesh query = read_mesh(files.queries[index]);
    const PairSample pair = bind_pair(source, query, model, contract, errors);
    return {std::move(query), pair.sample, pair.results(), pair.first_result, source_points,
            pair.weights,     true};
  }
  const auto bound_with = [&](const std::string& weights) {
    return bind_sample(source, contract, weight_choice_from_string(weights), true);
  };
  const Sample sample = bound_with(contract.weights);
  const Tensor error_weights =
      errors.weights.empty() ? Tensor() : bound_with(errors.weights).query.weights;
  return {std::move(source), sample, sample, 0, source_points, error_weights, false};
}

Tensor domain_weights(const TestSample& test, const Contract& contract) {
  if (weight_choice_from_string(contract.weights).kind != WeightKind::uniform)
    return test.results.query.weights;
  if (!test.is_pair)
    return bind_sample(test.mesh, contract, {WeightKind::automatic, ""}, true).query.weights;
  // Where the truth is known.
  return pair_weights(test.mesh, contract, {"auto", false}) * test.results.query.weights.gt(0);
}

}  // namespace funcattn
