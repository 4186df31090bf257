#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <numeric>

#include "core/error.h"
#include "operators/contract.h"
#include "operators/contract_limits.h"

namespace funcattn {

namespace {

constexpr std::uint32_t largest_class = std::numeric_limits<std::int32_t>::max();
constexpr const char* axis_names[] = {"x", "y", "z"};

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

SymmetryGroup symmetries_from_json(const Json& json, const std::string& path) {
  const JsonObject object(json, path, {"group", "center"});
  SymmetryGroup group;
  const std::string name = object.text("group");
  for (const auto kind : {Symmetries::rectangle, Symmetries::square})
    if (name == to_string(kind)) group.kind = kind;
  if (group.kind == Symmetries::none)
    object.fail("has the group '" + name + "', expected 'rectangle' or 'square'");
  const std::vector<double> center = object.numbers("center");
  if (center.size() != group.center.size())
    object.fail("has a 'center' of " + std::to_string(center.size()) + " numbers, expected 2");
  std::copy(center.begin(), center.end(), group.center.begin());
  return group;
}

}  // namespace

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
  if (symmetries.kind != Symmetries::none)
    json["symmetries"] = {{"group", to_string(symmetries.kind)}, {"center", symmetries.center}};
  return json;
}

Contract Contract::from_json(const Json& json) {
  const JsonObject object(json, "contract",
                          {"inputs", "outputs", "coordinates", "input_normalisation",
                           "output_normalisation", "weights", "points", "bounds", "symmetries"});
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
  if (object.has("symmetries"))
    contract.symmetries =
        symmetries_from_json(object.at("symmetries"), object.path_of("symmetries"));
  try {
    contract.validate();
  } catch (const UsageError& error) {
    throw OperatorFileError(error.what());
  }
  return contract;
}

}  // namespace funcattn
