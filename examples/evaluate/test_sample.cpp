#include "examples/evaluate/test_sample.h"

#include <utility>

#include "meshio/reader.h"
#include "plugin/binding.h"
#include "plugin/parameters.h"

namespace funcattn {

namespace {

StageMeshes alone(const Mesh& mesh) {
  return {mesh.origin(), {mesh}};
}

/// [n, axes]
Tensor places_of(const Mesh& mesh, const Contract& contract) {
  const Tensor places = at::empty(
      {mesh.count(contract.association()), contract.coordinates.dimension()}, torch::kFloat64);
  mesh.copy_coordinates(contract.association(), contract.coordinates.axes,
                        places.data_ptr<double>());
  return places;
}

/// @param query null: the sample is one mesh
std::vector<std::string> unlike_training(const Mesh& source, const Mesh* query,
                                         const Contract& contract) {
  std::vector<std::string> warnings;
  const StageMeshes at = alone(query ? *query : source);
  (void)parameter_values(contract, alone(source), query ? &at : nullptr, {}, warnings);
  for (const Mesh* mesh : {&source, query}) {
    if (!mesh) continue;
    for (std::string& text : box_warnings(mesh->origin(), places_of(*mesh, contract), contract))
      warnings.push_back(std::move(text));
    for (std::string& text : unseen_axis_warnings(mesh->origin(), {*mesh}, contract))
      warnings.push_back(std::move(text));
  }
  return warnings;
}

}  // namespace

void SampleWarnings::add(const std::vector<std::string>& warnings) {
  if (warnings.empty()) return;
  if (++samples_ == 1) first_ = warnings;
}

std::vector<std::string> SampleWarnings::texts() const {
  std::vector<std::string> texts = first_;
  if (samples_ > 1) texts.back() += "; so it is with " + std::to_string(samples_) + " samples";
  return texts;
}

TestSample read_test_sample(const SampleFiles& files, std::size_t index, const Model& model,
                            const Contract& contract, const QuerySettings& errors) {
  Mesh source = read_mesh(files.sources[index]);
  const auto source_points = static_cast<double>(source.count(contract.association()));
  if (!files.queries.empty()) {
    Mesh query = read_mesh(files.queries[index]);
    const PairSample pair = bind_pair(source, query, model, contract, errors);
    std::vector<std::string> warnings = unlike_training(source, &query, contract);
    return {std::move(query),
            pair.sample,
            pair.results(),
            pair.first_result,
            source_points,
            pair.weights,
            true,
            std::move(warnings),
            pair.has_interpolated_inputs};
  }
  const auto bound_with = [&](const std::string& weights) {
    return bind_sample(source, contract, weight_choice_from_string(weights), true);
  };
  const Sample sample = bound_with(contract.weights);
  const Tensor error_weights =
      errors.weights.empty() ? Tensor() : bound_with(errors.weights).query.weights;
  std::vector<std::string> warnings = unlike_training(source, nullptr, contract);
  return {std::move(source), sample,        sample, 0,
          source_points,     error_weights, false,  std::move(warnings)};
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
