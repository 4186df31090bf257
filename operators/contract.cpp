#include "operators/contract.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <set>

#include "core/error.h"
#include "core/text.h"

namespace funcattn {

namespace {

constexpr int most_components = 1 << 20;
constexpr std::uint32_t largest_class = std::numeric_limits<std::int32_t>::max();
constexpr const char* axis_names[] = {"x", "y", "z"};

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

// Reads an object of the file, naming the path of whatever is wrong with it.
class JsonObject {
 public:
  JsonObject(const Json& json, std::string path, std::initializer_list<const char*> known)
      : json_(json), path_(std::move(path)) {
    if (!json_.is_object()) fail("is not a table of keys and values");
    for (const auto& [key, value] : json_.items())
      if (std::find(known.begin(), known.end(), key) == known.end())
        fail("has the unknown key '" + key + "'");
  }

  bool has(const char* key) const { return json_.contains(key); }
  const Json& at(const char* key) const {
    if (!has(key)) fail(std::string("has no '") + key + "'");
    return json_[key];
  }
  std::string path_of(const char* key) const { return path_ + "." + key; }

  std::string text(const char* key) const {
    if (!at(key).is_string()) fail(std::string("has a '") + key + "' that is not a text");
    return at(key).get<std::string>();
  }
  double number(const char* key) const {
    if (!at(key).is_number()) fail(std::string("has a '") + key + "' that is not a number");
    return at(key).get<double>();
  }
  /// The value of a class, or what stands for it.
  int class_value(const char* key, const Json& value) const {
    if (!value.is_number_integer() ||
        (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{largest_class}) ||
        std::abs(value.get<std::int64_t>()) > std::int64_t{largest_class})
      fail(std::string("has a '") + key + "' that holds " + value.dump() +
           ", expected whole numbers of 32 bits");
    return value.get<int>();
  }
  std::int64_t integer(const char* key, std::int64_t most) const {
    const Json& value = at(key);
    // Whole numbers made in memory are signed, parsed ones unsigned where they can be.
    if (!value.is_number_integer() ||
        (!value.is_number_unsigned() && value.get<std::int64_t>() < 0) ||
        value.get<std::uint64_t>() > static_cast<std::uint64_t>(most))
      fail(std::string("has the '") + key + "' " + value.dump() +
           ", expected a whole number from 0 to " + std::to_string(most));
    return value.get<std::int64_t>();
  }
  const Json& list(const char* key) const {
    if (!at(key).is_array()) fail(std::string("has a '") + key + "' that is not a list");
    return at(key);
  }
  std::vector<double> numbers(const char* key) const {
    std::vector<double> result;
    for (const Json& item : list(key)) {
      if (!item.is_number()) fail(std::string("has a '") + key + "' that holds " + item.dump());
      result.push_back(item.get<double>());
    }
    return result;
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw OperatorFileError("the " + path_ + " " + what);
  }

 private:
  const Json& json_;
  std::string path_;
};

constexpr std::int64_t largest_exact_integer = std::int64_t{1} << 53;  // of a reader with doubles

Json array_to_json(const ArraySpec& array) {
  return {{"name", array.name},
          {"association", to_string(array.association)},
          {"components", array.components},
          {"unit", array.unit}};
}

constexpr const char* field_association = "field";

void read_array(const JsonObject& object, ArraySpec& array) {
  array.name = object.text("name");
  array.components = static_cast<int>(object.integer("components", most_components));
  if (object.has("unit")) array.unit = object.text("unit");
}

/// @param or_field what else may stand there, for the message
Association read_association(const JsonObject& object, const std::string& or_field) {
  const std::string text = object.text("association");
  for (const Association association : {Association::point, Association::cell})
    if (text == to_string(association)) return association;
  object.fail("has the association '" + text + "', expected 'point' or 'cell'" + or_field);
}

InputRole read_role(const JsonObject& object, InputRole by_default) {
  if (!object.has("role")) return by_default;
  const std::string text = object.text("role");
  for (const InputRole role : {InputRole::value, InputRole::source_flag, InputRole::parameter})
    if (text == to_string(role)) return role;
  object.fail("has the role '" + text + "', expected 'value', 'source_flag' or 'parameter'");
}

Json input_to_json(const InputArray& input) {
  Json json = array_to_json(input);
  json["role"] = to_string(input.role);
  if (input.role != InputRole::parameter) return json;
  json["association"] = field_association;
  if (!input.min.empty()) json["min"] = input.min;
  if (!input.max.empty()) json["max"] = input.max;
  return json;
}

InputArray input_from_json(const Json& json, const std::string& path) {
  const JsonObject object(json, path,
                          {"name", "association", "components", "unit", "role", "min", "max"});
  InputArray input;
  read_array(object, input);
  const bool is_field = object.text("association") == field_association;
  input.role = read_role(object, is_field ? InputRole::parameter : InputRole::value);
  if (is_field != (input.role == InputRole::parameter))
    object.fail("has the association '" + object.text("association") + "' and the role '" +
                to_string(input.role) + "'; parameters, and only they, are 'field' data");
  if (!is_field) input.association = read_association(object, " or 'field'");
  if (object.has("min")) input.min = object.numbers("min");
  if (object.has("max")) input.max = object.numbers("max");
  return input;
}

Json output_to_json(const OutputArray& output) {
  Json json = array_to_json(output);
  if (output.is_class()) {
    const auto count = static_cast<int>(output.classes.size());
    const bool counts_from_0 = output.classes.front() == 0 && output.classes.back() == count - 1;
    json["classes"] = counts_from_0 ? Json(count) : Json(output.classes);
  }
  if (output.ignored) json["ignored"] = *output.ignored;
  return json;
}

OutputArray output_from_json(const Json& json, const std::string& path) {
  const JsonObject object(json, path,
                          {"name", "association", "components", "unit", "classes", "ignored"});
  OutputArray output;
  read_array(object, output);
  output.association = read_association(object, "");
  if (object.has("classes") && !object.at("classes").is_array()) {
    output.classes.resize(static_cast<std::size_t>(object.integer("classes", most_components)));
    std::iota(output.classes.begin(), output.classes.end(), 0);
  } else if (object.has("classes")) {
    for (const Json& item : object.list("classes"))
      output.classes.push_back(object.class_value("classes", item));
  }
  if (object.has("classes") && !output.is_class()) object.fail("has no class in 'classes'");
  if (object.has("ignored")) output.ignored = object.class_value("ignored", object.at("ignored"));
  return output;
}

Json normalisation_to_json(const Normalisation& normalisation) {
  return {{"mean", normalisation.mean}, {"scale", normalisation.scale}};
}

Normalisation normalisation_from_json(const Json& json, const std::string& path) {
  const JsonObject object(json, path, {"mean", "scale"});
  return {object.numbers("mean"), object.numbers("scale")};
}

CoordinateHandling coordinates_from_json(const Json& json, const std::string& path) {
  const JsonObject object(json, path, {"axes", "center", "scale"});
  CoordinateHandling coordinates;
  for (const Json& item : object.list("axes")) {
    const auto axis = std::find(std::begin(axis_names), std::end(axis_names), item);
    if (axis == std::end(axis_names))
      object.fail("has the axis " + item.dump() + ", expected \"x\", \"y\" or \"z\"");
    coordinates.axes.push_back(static_cast<int>(axis - std::begin(axis_names)));
  }
  coordinates.center = object.numbers("center");
  coordinates.scale = object.number("scale");
  return coordinates;
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

Json Contract::to_json() const {
  Json json;
  json["inputs"] = Json::array();
  for (const InputArray& input : inputs) json["inputs"].push_back(input_to_json(input));
  json["outputs"] = Json::array();
  for (const OutputArray& output : outputs) json["outputs"].push_back(output_to_json(output));
  Json axes = Json::array();
  for (const int axis : coordinates.axes) axes.push_back(axis_names[axis]);
  json["coordinates"] = {
      {"axes", std::move(axes)}, {"center", coordinates.center}, {"scale", coordinates.scale}};
  json["input_normalisation"] = normalisation_to_json(input_normalisation);
  json["output_normalisation"] = normalisation_to_json(output_normalisation);
  json["weights"] = weights;
  json["points"] = {{"min", min_points}, {"max", max_points}};
  json["bounds"] = {{"min", bounds_min}, {"max", bounds_max}};
  return json;
}

Contract Contract::from_json(const Json& json) {
  const JsonObject object(json, "contract",
                          {"inputs", "outputs", "coordinates", "input_normalisation",
                           "output_normalisation", "weights", "points", "bounds"});
  Contract contract;
  const auto path_of_item = [&](const char* key, std::size_t index) {
    return object.path_of(key) + "[" + std::to_string(index) + "]";
  };
  for (const Json& item : object.list("inputs"))
    contract.inputs.push_back(
        input_from_json(item, path_of_item("inputs", contract.inputs.size())));
  for (const Json& item : object.list("outputs"))
    contract.outputs.push_back(
        output_from_json(item, path_of_item("outputs", contract.outputs.size())));
  contract.coordinates =
      coordinates_from_json(object.at("coordinates"), object.path_of("coordinates"));
  if (object.has("input_normalisation"))
    contract.input_normalisation = normalisation_from_json(object.at("input_normalisation"),
                                                           object.path_of("input_normalisation"));
  if (object.has("output_normalisation"))
    contract.output_normalisation = normalisation_from_json(object.at("output_normalisation"),
                                                            object.path_of("output_normalisation"));
  if (object.has("weights")) contract.weights = object.text("weights");
  if (object.has("points")) {
    const JsonObject points(object.at("points"), object.path_of("points"), {"min", "max"});
    contract.min_points = points.integer("min", largest_exact_integer);
    contract.max_points = points.integer("max", largest_exact_integer);
  }
  if (object.has("bounds")) {
    const JsonObject bounds(object.at("bounds"), object.path_of("bounds"), {"min", "max"});
    contract.bounds_min = bounds.numbers("min");
    contract.bounds_max = bounds.numbers("max");
  }
  try {
    contract.validate();
  } catch (const UsageError& error) {
    throw OperatorFileError(error.what());
  }
  return contract;
}

}  // namespace funcattn
