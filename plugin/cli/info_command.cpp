#include "plugin/cli/info_command.h"

#include "core/text.h"
#include "operators/classes.h"
#include "operators/operator_file.h"
#include "plugin/cli/model_settings.h"
#include "plugin/cli/text_table.h"

namespace funcattn {

namespace {

/// A JSON value as people would write it: numbers short, lists in one line.
std::string plain(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return format_significant(value.get<double>(), 6);
  if (!value.is_array()) return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::vector<std::string> items;
  for (const Json& item : value) items.push_back(plain(item));
  return items.empty() ? "none" : join(items, ", ");
}

/// Keys and values in two columns; tables inside are flattened to "outer.inner".
void add_rows(TextTable& table, const Json& object, const std::string& prefix) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object())
      add_rows(table, value, prefix + key + ".");
    else
      table.add({prefix + key, plain(value)});
  }
}

void print_section(std::ostream& stream, const std::string& title, const Json& object) {
  stream << "\n" << title << "\n";
  if (object.empty()) {
    stream << "  not recorded\n";
    return;
  }
  TextTable table({"", ""});
  add_rows(table, object, "");
  table.print_rows(stream, 2);
}

/// "one of 259 classes (1 to 259), 0 ignored"
std::string output_role(const Contract& contract, const std::string& name) {
  for (const OutputArray& output : contract.outputs)
    if (output.name == name && output.is_class())
      return "one of " + describe_classes(output) +
             (output.ignored ? ", " + std::to_string(*output.ignored) + " ignored" : "");
  return "prediction";
}

void print_arrays(std::ostream& stream, const Json& all, const std::string& title) {
  const Json& arrays = all.at(title);
  const Contract contract = Contract::from_json(all);
  stream << "\n" << title << "\n";
  if (arrays.empty()) {
    stream << "  none\n";
    return;
  }
  TextTable table({"name", "association", "components", "unit", "role"});
  for (const Json& array : arrays) {
    const std::string unit = array.value("unit", "");
    table.add({plain(array.at("name")), plain(array.at("association")),
               plain(array.at("components")), unit.empty() ? "unknown" : unit,
               title == "outputs" ? output_role(contract, array.at("name"))
                                  : array.value("role", "value")});
  }
  table.print(stream, 2);
}

std::string range(const Json& low, const Json& high) {
  return plain(low) + " to " + plain(high);
}

/// One per component.
std::string ranges(const Json& low, const Json& high) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < low.size(); ++i) texts.push_back(range(low[i], high[i]));
  return join(texts, ", ");
}

void print_training_range(std::ostream& stream, const Json& contract) {
  stream << "\ntraining range\n";
  TextTable table({"", ""});
  const Json& points = contract.at("points");
  table.add({"points per sample",
             points.at("max") == 0 ? "unknown" : range(points.at("min"), points.at("max"))});
  const Json& axes = contract.at("coordinates").at("axes");
  const Json& low = contract.at("bounds").at("min");
  const Json& high = contract.at("bounds").at("max");
  for (std::size_t i = 0; i < axes.size(); ++i)
    table.add({plain(axes[i]), i < low.size() ? range(low[i], high[i]) : "unknown"});
  for (const Json& input : contract.at("inputs"))
    if (input.at("role") == "parameter")
      table.add({plain(input.at("name")),
                 input.contains("min") ? ranges(input.at("min"), input.at("max")) : "unknown"});
  table.add({"weights", plain(contract.at("weights"))});
  table.print_rows(stream, 2);
}

void print_text(std::ostream& stream, const Json& description) {
  TextTable table({"", ""});
  for (const char* key : {"file", "form", "parameters", "dtype"})
    table.add({key, plain(description.at(key))});
  table.add({"size", plain(description.at("size")) + " bytes"});
  table.add({"format", "version " + plain(description.at("format_version")) +
                           ", written by funcattn " + plain(description.at("library_version"))});
  table.add({"checksum", plain(description.at("checksum")) + " (verified)"});
  table.print_rows(stream);

  const Json& contract = description.at("contract");
  print_arrays(stream, contract, "inputs");
  print_arrays(stream, contract, "outputs");
  print_section(stream, "coordinates", contract.at("coordinates"));
  if (contract.contains("symmetries"))
    print_section(stream, "predicts the mean over symmetries", contract.at("symmetries"));
  print_training_range(stream, contract);
  print_section(stream, "model", settings_in_use(description.at("model")));
  print_section(stream, "training", description.at("training"));
}

}  // namespace

std::vector<std::string> InfoCommand::examples() const {
  return {"funcattn info disk.safetensors", "funcattn info disk.safetensors --json"};
}

void InfoCommand::describe(OptionTable& table) {
  table.positional("FILE", options_.file, "operator file");
  table.group("Output");
  table.flag("json", options_.json, "everything as JSON");
}

int InfoCommand::run(Console& console) {
  const Json description = describe_operator(options_.file);
  if (options_.json)
    console.print_json(description);
  else
    print_text(console.results(), description);
  return 0;
}

}  // namespace funcattn
