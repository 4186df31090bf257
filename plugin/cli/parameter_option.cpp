#include "plugin/cli/parameter_option.h"

#include <sstream>
#include <utility>

#include "core/error.h"
#include "core/text.h"

namespace funcattn {

namespace {

/// A name and its numbers. The last '=' parts them, since names are free.
std::pair<std::string, std::vector<double>> parameter_from_string(const std::string& text) {
  const std::string expected =
      "option '--parameter': '" + text + "' is not of the form NAME=V[,V...]";
  const auto equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) throw UsageError(expected);
  std::vector<double> values;
  std::istringstream stream(text.substr(equals + 1));
  for (std::string word; std::getline(stream, word, ',');) {
    const auto value = parse_double(word);
    if (!value) throw UsageError(expected + ": '" + word + "' is no number");
    values.push_back(*value);
  }
  if (values.empty() || text.back() == ',') throw UsageError(expected + ": a number is missing");
  return {text.substr(0, equals), std::move(values)};
}

}  // namespace

void declare_parameters(OptionTable& table, std::vector<std::string>& texts,
                        const std::string& mesh) {
  table
      .list("parameter", texts,
            "value of the whole mesh that the operator takes, before what the field data of " +
                mesh + " say")
      .placeholder("NAME=V[,V...]")
      .default_text("from " + mesh);
}

std::map<std::string, std::vector<double>> parameters_from_strings(
    const std::vector<std::string>& texts) {
  std::map<std::string, std::vector<double>> parameters;
  for (const std::string& text : texts) {
    auto parameter = parameter_from_string(text);
    const std::string name = parameter.first;
    if (!parameters.insert(std::move(parameter)).second)
      throw UsageError("option '--parameter': '" + name + "' is given twice");
  }
  return parameters;
}

}  // namespace funcattn
