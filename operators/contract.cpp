#include "operators/contract.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/error.h"
#include "core/text.h"
#include "operators/contract_limits.h"

namespace funcattn {

namespace {

template <typename Array>
int sum_components(const std::vector<Array>& arrays) {
  int sum = 0;
  for (const Array& array : arrays) sum += array.components;
  return sum;
}

bool is_utf8(const std::string& text) {
  try {
    (void)Json(text).dump();
    return true;
  } catch (const Json::type_error&) {
    return false;
  }
}

void validate_array(const ArraySpec& array, const char* kind, std::set<std::string>& names) {
  const std::string who = std::string("contract: ") + kind + " '" + array.name + "' ";
  if (array.name.empty()) throw UsageError(std::string("contract: an ") + kind + " has no name");
  if (!is_utf8(array.name) || !is_utf8(array.unit))
    throw UsageError(std::string("contract: the name or unit of an ") + kind +
                     " is not valid UTF-8; rename the array");
  if (!names.insert(array.name).second) throw UsageError(who + "stands there twice");
  if (array.components < 1 || array.components > most_components)
    throw UsageError(who + "has " + std::to_string(array.components) +
                     " components, expected 1 to " + std::to_string(most_components));
}

void validate_finite(const std::vector<double>& numbers, const std::string& what) {
  for (const double number : numbers)
    if (!std::isfinite(number))
      throw UsageError("contract: " + what + " holds " + format_number(number) +
                       ", expected finite numbers");
}

void validate_count(std::size_t found, int expected, const std::string& what,
                    const std::string& of_what) {
  if (found != static_cast<std::size_t>(expected))
    throw UsageError("contract: " + what + " holds " + std::to_string(found) +
                     " numbers, expected " + std::to_string(expected) + " (one per " + of_what +
                     ")");
}

void validate_scale(double scale, const std::string& what) {
  if (!(scale > 0) || !std::isfinite(scale))
    throw UsageError("contract: " + what + " holds " + format_number(scale) +
                     ", expected a finite number above 0");
}

void validate_normalisation(const Normalisation& normalisation, int components,
                            const std::string& what) {
  if (normalisation.mean.empty() && normalisation.scale.empty()) return;
  validate_count(normalisation.mean.size(), components, what + " mean", "component");
  validate_count(normalisation.scale.size(), components, what + " scale", "component");
  validate_finite(normalisation.mean, what + " mean");
  for (const double scale : normalisation.scale) validate_scale(scale, what + " scale");
}

void validate_range(const InputArray& input) {
  if (input.min.empty() && input.max.empty()) return;
  const std::string what = "the range of the input '" + input.name + "'";
  if (input.role != InputRole::parameter)
    throw UsageError("contract: " + what + " is recorded, expected only of parameters");
  for (const std::vector<double>* bound : {&input.min, &input.max}) {
    validate_count(bound->size(), input.components, what, "component");
    validate_finite(*bound, what);
  }
  for (std::size_t i = 0; i < input.min.size(); ++i)
    if (input.min[i] > input.max[i])
      throw UsageError("contract: " + what + " is " + format_number(input.min[i]) + " to " +
                       format_number(input.max[i]) + ", expected min <= max");
}

void validate_classes(const OutputArray& output) {
  const std::string who = "contract: output '" + output.name + "' ";
  if (!output.is_class()) {
    if (output.ignored)
      throw UsageError(who + "ignores the class " + std::to_string(*output.ignored) +
                       ", but has no classes");
    return;
  }
  const std::vector<int>& classes = output.classes;
  if (classes.size() < 2)
    throw UsageError(who + "has one class, " + std::to_string(classes.front()) +
                     ", expected at least two");
  if (classes.size() > static_cast<std::size_t>(most_components))
    throw UsageError(who + "has " + std::to_string(classes.size()) + " classes, expected 2 to " +
                     std::to_string(most_components));
  if (output.components != 1)
    throw UsageError(who + "has classes and " + std::to_string(output.components) +
                     " components, expected 1: the class itself");
  for (std::size_t i = 1; i < classes.size(); ++i)
    if (classes[i] <= classes[i - 1])
      throw UsageError(who + "has the class " + std::to_string(classes[i]) + " after " +
                       std::to_string(classes[i - 1]) + ", expected ascending values");
  if (std::binary_search(classes.begin(), classes.end(), no_class))
    throw UsageError(who + "has the class " + std::to_string(no_class) +
                     ", which says that there is none; number that class otherwise, or ignore it");
  if (output.ignored && std::binary_search(classes.begin(), classes.end(), *output.ignored))
    throw UsageError(who + "ignores " + std::to_string(*output.ignored) +
                     ", which is one of its classes");
}

void validate_statistics_of_classes(const std::vector<OutputArray>& outputs,
                                    const Normalisation& normalisation) {
  if (normalisation.mean.empty()) return;
  std::size_t channel = 0;
  for (const OutputArray& output : outputs)
    for (int i = 0; i < output.channels(); ++i, ++channel)
      if (output.is_class() &&
          (normalisation.mean[channel] != 0 || normalisation.scale[channel] != 1))
        throw UsageError("contract: output_normalisation has a mean or scale for the classes of '" +
                         output.name + "', expected 0 and 1");
}

void validate_symmetries(const Contract& contract) {
  const SymmetryGroup& group = contract.symmetries;
  if (group.kind == Symmetries::none) return;
  const std::string who =
      std::string("contract: the symmetries of a ") + to_string(group.kind) + " ";
  if (contract.coordinates.dimension() < 2)
    throw UsageError(who + "map two coordinates, but there are " +
                     std::to_string(contract.coordinates.dimension()));
  validate_finite({group.center.begin(), group.center.end()}, "symmetries center");
  const auto require_scalar = [&](const ArraySpec& array) {
    if (array.components != 1)
      throw UsageError(who + "need arrays of one component, but '" + array.name + "' has " +
                       std::to_string(array.components));
  };
  for (const InputArray& input : contract.inputs) require_scalar(input);
  for (const OutputArray& output : contract.outputs) require_scalar(output);
}

void validate_coordinates(const CoordinateHandling& coordinates) {
  std::set<int> used;
  for (const int axis : coordinates.axes)
    if (axis < 0 || axis > 2 || !used.insert(axis).second)
      throw UsageError("contract: coordinates use the axis " + std::to_string(axis) +
                       ", expected 0, 1 and 2 at most once each");
  validate_count(coordinates.center.size(), coordinates.dimension(), "coordinates center", "axis");
  validate_finite(coordinates.center, "coordinates center");
  validate_scale(coordinates.scale, "coordinates scale");
}

}  // namespace

const char* to_string(InputRole role) {
  switch (role) {
    case InputRole::value:
      return "value";
    case InputRole::source_flag:
      return "source_flag";
    case InputRole::parameter:
      return "parameter";
  }
  return "";
}

int Contract::value_components() const {
  int sum = 0;
  for (const InputArray& input : inputs)
    if (input.role != InputRole::source_flag) sum += input.components;
  return sum;
}

std::vector<InputArray> Contract::parameters() const {
  std::vector<InputArray> found;
  for (const InputArray& input : inputs)
    if (input.role == InputRole::parameter) found.push_back(input);
  return found;
}

int Contract::parameter_components() const {
  return sum_components(parameters());
}

int Contract::output_components() const {
  int sum = 0;
  for (const OutputArray& output : outputs) sum += output.channels();
  return sum;
}

int Contract::target_components() const {
  return sum_components(outputs);
}

Association Contract::association() const {
  std::vector<ArraySpec> arrays;
  for (const InputArray& input : inputs)
    if (input.role != InputRole::parameter) arrays.push_back(input);
  arrays.insert(arrays.end(), outputs.begin(), outputs.end());
  for (const ArraySpec& array : arrays)
    if (array.association != arrays.front().association)
      throw UsageError("contract: '" + arrays.front().name + "' is " +
                       to_string(arrays.front().association) + " data and '" + array.name +
                       "' is " + to_string(array.association) +
                       " data; convert one, an operator works on one kind");
  return arrays.empty() ? Association::point : arrays.front().association;
}

std::optional<InputArray> Contract::source_flag() const {
  const auto flag = std::find_if(inputs.begin(), inputs.end(), [](const InputArray& input) {
    return input.role == InputRole::source_flag;
  });
  if (flag == inputs.end()) return std::nullopt;
  return *flag;
}

void Contract::validate() const {
  std::set<std::string> input_names;
  std::set<std::string> output_names;
  int flags = 0;
  for (const InputArray& input : inputs) {
    validate_array(input, "input", input_names);
    validate_range(input);
    if (input.role != InputRole::source_flag) continue;
    if (++flags > 1) throw UsageError("contract: more than one input is a source_flag");
    if (input.components != 1)
      throw UsageError("contract: the source_flag '" + input.name + "' has " +
                       std::to_string(input.components) + " components, expected 1");
  }
  if (flags > 0 && !parameters().empty())
    throw UsageError("contract: the parameter '" + parameters().front().name +
                     "' stands beside the source_flag '" + source_flag()->name +
                     "', but what has one is linear in the values of its source points and takes "
                     "no parameters");
  for (const OutputArray& output : outputs) {
    validate_array(output, "output", output_names);
    validate_classes(output);
  }
  if (outputs.empty()) throw UsageError("contract: there is no output, expected at least one");
  (void)association();

  validate_coordinates(coordinates);
  validate_symmetries(*this);
  validate_normalisation(input_normalisation, value_components(), "input_normalisation");
  validate_normalisation(output_normalisation, output_components(), "output_normalisation");
  validate_statistics_of_classes(outputs, output_normalisation);
  if (weights != "auto" && weights != "measure" && weights != "uniform" &&
      (weights.rfind("array:", 0) != 0 || weights == "array:" || !is_utf8(weights)))
    throw UsageError("contract: weights are '" + weights +
                     "', expected auto, measure, uniform or array:NAME");
  if (min_points < 0 || max_points < min_points || max_points > largest_exact_integer)
    throw UsageError("contract: the range of points is " + std::to_string(min_points) + " to " +
                     std::to_string(max_points) + ", expected 0 <= min <= max");

  if (bounds_min.empty() && bounds_max.empty()) return;
  validate_count(bounds_min.size(), coordinates.dimension(), "bounds min", "axis");
  validate_count(bounds_max.size(), coordinates.dimension(), "bounds max", "axis");
  validate_finite(bounds_min, "bounds min");
  validate_finite(bounds_max, "bounds max");
  for (std::size_t axis = 0; axis < bounds_min.size(); ++axis)
    if (bounds_min[axis] > bounds_max[axis])
      throw UsageError("contract: bounds min " + format_number(bounds_min[axis]) +
                       " is above max " + format_number(bounds_max[axis]));
}

}  // namespace funcattn
