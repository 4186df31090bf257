#include "plugin/cli/import_command.h"

#include "core/error.h"
#include "core/text.h"
#include "operators/operator_file.h"
#include "operators/published.h"

namespace funcattn {

namespace {

Association association_from_string(const std::string& text) {
  return text == "cell" ? Association::cell : Association::point;
}

std::vector<ArraySpec> array_specs(const std::vector<std::string>& texts,
                                   const std::string& association) {
  std::vector<ArraySpec> specs;
  for (const std::string& text : texts)
    specs.push_back(array_spec_from_string(text, association_from_string(association)));
  return specs;
}

/// The form that was asked for, or the one that the file's metadata names.
Form form_of(const Safetensors& file, const ImportCommandOptions& options) {
  if (!options.form.empty()) return form_from_string(options.form);
  if (const std::string* recorded = file.find_metadata("form")) return form_from_string(*recorded);
  throw UsageError("'" + options.file.string() +
                   "' does not say of which form its weights are; give --form, one of " +
                   join(form_names(), ", "));
}

/// import_published() with the file's name in its errors.
ImportResult import_named(const std::filesystem::path& path, const Safetensors& file, Form form,
                          const ImportOptions& options) {
  try {
    return import_published(file, form, options);
  } catch (const OperatorFileError& error) {
    throw OperatorFileError("cannot import '" + path.string() + "': " + error.what());
  } catch (const UsageError& error) {
    throw UsageError("cannot import '" + path.string() + "': " + error.what());
  }
}

}  // namespace

ArraySpec array_spec_from_string(const std::string& text, Association association) {
  ArraySpec spec;
  spec.name = text;
  spec.association = association;
  const auto colon = text.rfind(':');
  if (colon != std::string::npos) {
    const auto components = parse_integer(std::string_view(text).substr(colon + 1));
    if (components && (*components < 1 || *components > 1000000))
      throw UsageError("array '" + text + "' has " + std::to_string(*components) +
                       " components, expected 1 to 1000000");
    if (components) {
      spec.name = text.substr(0, colon);
      spec.components = static_cast<int>(*components);
    }
  }
  if (spec.name.empty())
    throw UsageError("array '" + text + "' has no name, expected NAME or NAME:COMPONENTS");
  return spec;
}

void ImportCommandOptions::validate() const {
  (void)array_specs(inputs, association);
  (void)array_specs(outputs, association);
  if (association == "cell" && inputs.empty() && outputs.empty())
    throw UsageError(
        "option '--association' needs the arrays that it is about: give --inputs or "
        "--outputs");
}

std::vector<std::string> ImportCommand::examples() const {
  return {
      "funcattn import weights.safetensors --form shared_basis --heads 8 --inputs velocity:3 "
      "--outputs pressure -o pressure.safetensors"};
}

void ImportCommand::describe(OptionTable& table) {
  table.positional("FILE", options_.file, "safetensors file with the published parameter names");
  table.group("Form");
  table.value("form", options_.form, "published form")
      .choices(form_names())
      .placeholder("FORM")
      .default_text("as in the file's metadata");
  table.value("heads", options_.heads, "attention heads")
      .at_least(1)
      .default_text("metadata, or from the shapes");
  table.value("ridge", options_.ridge, "regularisation lambda")
      .at_least(0)
      .default_text("metadata");
  table.value("temperature", options_.temperature, "temperature of the basis (paper only)")
      .above(0)
      .default_text("metadata");
  table.value("coefficients", options_.coefficients, "how coefficients are formed (paper only)")
      .choices({"mean", "integral"})
      .default_text("metadata");
  table.value("cross", options_.cross, "1: queries differ from the source (paper only)")
      .at_least(0)
      .at_most(1)
      .default_text("metadata");
  table.value("dtype", options_.dtype, "number type of the operator")
      .choices({"float32", "float64"});
  table.group("Arrays");
  table.list("inputs", options_.inputs, "input arrays in the order of the network's features")
      .placeholder("NAME[:COMPONENTS]")
      .default_text("as the form has");
  table.list("outputs", options_.outputs, "output arrays")
      .placeholder("NAME[:COMPONENTS]")
      .default_text("as the form has");
  table.value("association", options_.association, "where the arrays sit")
      .choices({"point", "cell"});
  table
      .value("coordinates", options_.coordinates,
             "how many leading features are the coordinates x, y, z")
      .at_least(0)
      .at_most(3)
      .default_text("as the form has");
  table.group("Output");
  table.value("output,o", options_.output, "operator file to write").required();
}

int ImportCommand::run(Console& console) {
  std::error_code ignored;
  if (std::filesystem::equivalent(options_.file, options_.output, ignored))
    throw UsageError("the operator '" + options_.output.string() +
                     "' would replace the weights it is made of; give another --output");
  const Safetensors file = read_safetensors(options_.file);
  ImportOptions import;
  import.heads = options_.heads.value_or(import.heads);
  import.ridge = options_.ridge.value_or(import.ridge);
  import.temperature = options_.temperature.value_or(import.temperature);
  import.coefficients = options_.coefficients;
  import.cross = options_.cross.value_or(import.cross);
  import.dtype = options_.dtype == "float32" ? torch::kFloat32 : torch::kFloat64;
  import.coordinate_dimension = options_.coordinates.value_or(import.coordinate_dimension);
  import.inputs = array_specs(options_.inputs, options_.association);
  import.outputs = array_specs(options_.outputs, options_.association);
  const ImportResult result = import_named(options_.file, file, form_of(file, options_), import);
  save_operator(options_.output, result.op);
  for (const std::string& name : result.skipped)
    console.warn("skipped '" + name + "': the form never uses it");
  console.results() << options_.output.string() << ": "
                    << to_string(result.op.model().config().form) << ", "
                    << result.op.model().parameter_count() << " parameters, "
                    << result.skipped.size() << " tensors skipped\n";
  return 0;
}

}  // namespace funcattn
