#include "plugin/parameters.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/error.h"
#include "core/text.h"
#include "meshio/field_data.h"
#include "meshio/joined_pieces.h"

namespace funcattn {

namespace {

constexpr const char* time_name = "TimeValue";  // VTK's, also that of its writers.

using Values = std::vector<double>;

std::string with_unit(const std::string& text, const InputArray& parameter) {
  return parameter.unit.empty() ? text : text + " " + parameter.unit;
}

std::string range_text(const InputArray& parameter) {
  return with_unit(field_text(parameter.min) + " to " + field_text(parameter.max), parameter);
}

/// "'inflow' (2 components, 1 to 20 m/s in training)"
std::string described(const InputArray& parameter) {
  const std::string count = std::to_string(parameter.components);
  std::string text =
      "'" + parameter.name + "' (" + count + (parameter.components == 1 ? " number" : " numbers");
  if (!parameter.min.empty())
    text += ", " + range_text(parameter) + " in training";
  else if (!parameter.unit.empty())
    text += ", in " + parameter.unit;
  return text + ")";
}

/// A value with the mesh or tree that it stands in.
struct Found {
  std::string origin;
  Values values;
};

void check(const Found& found, const InputArray& parameter) {
  const std::string who = found.origin + ": the parameter " + described(parameter);
  if (found.values.size() != static_cast<std::size_t>(parameter.components))
    throw DataError(who + " has " + std::to_string(found.values.size()) +
                    " numbers in the field data; give it as many as the operator expects");
  for (const double value : found.values)
    if (!std::isfinite(value))
      throw DataError(who + " is " + field_text(found.values) + ", expected finite numbers");
}

void refuse_different(const InputArray& parameter, const std::string& origin, const Found& a,
                      const Found& b) {
  if (a.values != b.values)
    throw DataError(origin + ": the parameter '" + parameter.name + "' is " + field_text(a.values) +
                    " in " + a.origin + " and " + field_text(b.values) + " in " + b.origin +
                    ", but together they are one sample; give the run one value for it, or make "
                    "every block a sample of its own");
}

/// Looks in all of `meshes`, which are one sample.
std::optional<Found> find(const InputArray& parameter, const StageMeshes& meshes, bool per_block) {
  if (parameter.name == time_name && parameter.components == 1 && meshes.time)
    return Found{meshes.origin, {*meshes.time}};
  std::optional<Found> found;
  const auto look = [&](vtkDataObject* data, const std::string& origin) {
    auto values = field_values(data, parameter.name, origin);
    if (!values) return;
    if (const std::string numbers = noted_difference(*data, parameter.name); !numbers.empty())
      throw DataError(origin + ": the parameter '" + parameter.name + "' is " + numbers +
                      ", but together they are one sample; give the run one value for it");
    const Found one{origin, std::move(*values)};
    check(one, parameter);
    if (found) refuse_different(parameter, meshes.origin, *found, one);
    if (!found) found = one;
  };
  for (const Mesh& part : meshes.parts) look(part.vtk(), part.origin());
  // Where every block is a sample, its own value is the nearer one.
  if (!found || !per_block) look(meshes.root, meshes.origin);
  return found;
}

/// What any of the processes that hold the sample found; all of them call it.
std::optional<Found> found_by_all(const InputArray& parameter, const std::string& origin,
                                  std::optional<Found> found, ProcessGroup* processes) {
  if (!processes) return found;
  std::string mine;
  if (found)
    mine = packed_texts(
        {found->origin, std::string(reinterpret_cast<const char*>(found->values.data()),
                                    found->values.size() * sizeof(double))});
  std::optional<Found> first;
  for (const std::string& text : processes->gather(mine)) {
    if (text.empty()) continue;
    const std::vector<std::string> parts = unpacked_texts(text);
    Found one{parts[0], Values(parts[1].size() / sizeof(double))};
    std::memcpy(one.values.data(), parts[1].data(), parts[1].size());
    if (first) refuse_different(parameter, origin, *first, one);
    if (!first) first = std::move(one);
  }
  return first;
}

[[noreturn]] void fail_missing(const InputArray& parameter, const StageMeshes& source) {
  std::string message = source.origin + ": there is no value for the parameter " +
                        described(parameter) +
                        "; put it into the field data of the mesh, or give the run a value for it";
  for (const Association association : {Association::point, Association::cell})
    if (!source.parts.empty() && source.parts.front().has_array(parameter.name, association))
      message += "; the " + std::string(to_string(association)) + " array '" + parameter.name +
                 "' has many values, where one for the whole mesh is needed";
  throw DataError(message);
}

void check_given(const std::vector<InputArray>& parameters, const StageOptions& options) {
  for (const auto& [name, values] : options.parameters) {
    const std::string& wanted = name;  // Structured bindings cannot be captured.
    const auto parameter =
        std::find_if(parameters.begin(), parameters.end(),
                     [&](const InputArray& known) { return known.name == wanted; });
    if (parameter == parameters.end()) {
      std::vector<std::string> names;
      for (const InputArray& known : parameters) names.push_back(known.name);
      throw UsageError("the operator has no parameter '" + name + "'; " +
                       (names.empty() ? "it has none" : "it has " + join(names, ", ")));
    }
    if (values.size() != static_cast<std::size_t>(parameter->components))
      throw UsageError("the parameter " + described(*parameter) + " was given " +
                       std::to_string(values.size()) + " numbers");
    for (const double value : values)
      if (!std::isfinite(value))
        throw UsageError("the parameter " + described(*parameter) + " was given " +
                         field_text(values) + ", expected finite numbers");
  }
}

bool is_outside(const Values& values, const InputArray& parameter) {
  for (std::size_t i = 0; i < parameter.min.size(); ++i)
    if (values[i] < parameter.min[i] || values[i] > parameter.max[i]) return true;
  return false;
}

}  // namespace

std::vector<double> parameter_values(const Contract& contract, const StageMeshes& source,
                                     const StageMeshes* query, const StageOptions& options,
                                     std::vector<std::string>& warnings) {
  const std::vector<InputArray> parameters = contract.parameters();
  check_given(parameters, options);
  Values all;
  for (const InputArray& parameter : parameters) {
    std::optional<Found> found;
    const auto given = options.parameters.find(parameter.name);
    if (given != options.parameters.end()) found = Found{source.origin, given->second};
    ProcessGroup* processes = options.engine.processes;
    if (!found)
      found = found_by_all(parameter, source.origin, find(parameter, source, options.per_block),
                           processes);
    if (!found && query)
      found = found_by_all(parameter, query->origin, find(parameter, *query, false), processes);
    if (!found) fail_missing(parameter, source);
    if (is_outside(found->values, parameter))
      warnings.push_back(found->origin + ": the parameter '" + parameter.name + "' is " +
                         with_unit(field_text(found->values), parameter) + ", training had " +
                         range_text(parameter) + ": the prediction extrapolates");
    all.insert(all.end(), found->values.begin(), found->values.end());
  }
  return all;
}

}  // namespace funcattn
