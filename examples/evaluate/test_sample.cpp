#include "examples/evaluate/test_sample.h"

#include <algorithm>
#include <cstring>
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
std::vector<SampleWarning> unlike_training(const Mesh& source, const Mesh* query,
                                           const Contract& contract) {
  std::vector<SampleWarning> warnings;
  const auto add = [&](const std::string& mesh, const std::vector<std::string>& texts) {
    for (const std::string& text : texts) warnings.push_back({mesh, text});
  };
  std::vector<std::string> of_parameters;
  const StageMeshes at = alone(query ? *query : source);
  (void)parameter_values(contract, alone(source), query ? &at : nullptr, {}, of_parameters);
  add(source.origin(), of_parameters);
  for (const Mesh* mesh : {&source, query}) {
    if (!mesh || (mesh == query && query->origin() == source.origin())) continue;
    add(mesh->origin(), box_warnings(mesh->origin(), places_of(*mesh, contract), contract));
    add(mesh->origin(), unseen_axis_warnings(mesh->origin(), {*mesh}, contract));
  }
  return warnings;
}

}  // namespace

void SampleWarnings::add(const std::vector<SampleWarning>& warnings) {
  for (const auto& [mesh, text, other] : warnings) {
    std::string alike = text.rfind(mesh, 0) == 0 ? text.substr(mesh.size()) : text;
    if (const std::size_t at = alike.find(other); at != std::string::npos)
      alike.erase(at, other.size());
    alike.erase(std::remove_if(alike.begin(), alike.end(),
                               [](char c) { return std::strchr("0123456789.+-", c) != nullptr; }),
                alike.end());
    auto kind = std::find_if(kinds_.begin(), kinds_.end(),
                             [&](const Kind& one) { return one.alike == alike; });
    if (kind == kinds_.end()) kind = kinds_.insert(kinds_.end(), {alike, text, 0});
    ++kind->count;
  }
}

std::vector<std::string> SampleWarnings::texts() const {
  std::vector<std::string> texts;
  for (const Kind& kind : kinds_)
    texts.push_back(kind.count == 1
                        ? kind.first
                        : kind.first + "; so it is with " + std::to_string(kind.count) + " meshes");
  return texts;
}

TestSample read_test_sample(const SampleFiles& files, std::size_t index, const Model& model,
                            const Contract& contract, const QuerySettings& errors) {
  Mesh source = read_mesh(files.sources[index]);
  const auto source_points = static_cast<double>(source.count(contract.association()));
  if (!files.queries.empty()) {
    Mesh query = read_mesh(files.queries[index]);
    const PairSample pair = bind_pair(source, query, model, contract, errors);
    std::vector<SampleWarning> warnings = unlike_training(source, &query, contract);
    if (!pair.apart.empty()) warnings.push_back({query.origin(), pair.apart, source.origin()});
    return {std::move(query), pair.sample,  pair.results(),      pair.first_result,
            source_points,    pair.weights, std::move(warnings), pair.has_interpolated_inputs};
  }
  Sample sample = bind_sample(source, contract, weight_choice_from_string(contract.weights), false);
  const Tensor error_weights =
      errors.weights.empty() ? Tensor() : result_weights(source, contract, errors);
  const Tensor& used = error_weights.defined() ? error_weights : sample.query.weights;
  sample.targets = bind_targets({source}, contract, to_matrix(used.unsqueeze(1)).col(0));
  std::vector<SampleWarning> warnings = unlike_training(source, nullptr, contract);
  return {std::move(source), sample, sample, 0, source_points, error_weights, std::move(warnings)};
}

Tensor domain_weights(const TestSample& test, const Contract& contract) {
  if (weight_choice_from_string(contract.weights).kind != WeightKind::uniform)
    return test.results.query.weights;
  // Where the truth is known.
  return result_weights(test.mesh, contract, {"auto", false}) * test.results.query.weights.gt(0);
}

}  // namespace funcattn
