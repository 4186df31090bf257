// The properties of the filter that are texts and lists, and what the stage gets of them.

#include <vtkObjectFactory.h>

#include <algorithm>
#include <cctype>

#include "core/error.h"
#include "core/text.h"
#include "vtkNeuralOperatorInternals.h"

namespace {

using Values = std::vector<double>;

bool is_blank(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isspace(c); });
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words(1);
  const bool commas = text.find(',') != std::string::npos;
  for (const char c : text) {
    const bool blank = std::isspace(static_cast<unsigned char>(c));
    if (c == ',' || (blank && !commas && !words.back().empty()))
      words.emplace_back();
    else if (!blank)
      words.back() += c;
  }
  if (!commas && words.size() > 1 && words.back().empty()) words.pop_back();
  return words;
}

Values numbers_of(const std::string& name, const std::string& text) {
  Values values;
  for (const std::string& word : words_of(text)) {
    const auto value = funcattn::parse_double(word);
    if (!value)
      throw funcattn::UsageError("the parameter '" + name + "' was given '" + text +
                                 "', expected numbers, separated by commas or blanks");
    values.push_back(*value);
  }
  return values;
}

template <typename Choice>
Choice choice_of(int value, int count, const char* property, const char* meanings) {
  if (value < 0 || value >= count)
    throw funcattn::UsageError(std::string(property) + " is " + std::to_string(value) +
                               ", expected " + meanings);
  return static_cast<Choice>(value);
}

std::string or_empty(const char* text) {
  return text ? text : "";
}

}  // namespace

// Modified only where they change.
#define FUNCATTN_TEXT_PROPERTY(Name, member)             \
  void vtkNeuralOperator::Set##Name(const char* value) { \
    const std::string text = or_empty(value);            \
    if (this->Implementation->member == text) return;    \
    this->Implementation->member = text;                 \
    this->Modified();                                    \
  }                                                      \
  const char* vtkNeuralOperator::Get##Name() {           \
    return this->Implementation->member.c_str();         \
  }
FUNCATTN_TEXT_PROPERTY(FileName, file_name)
FUNCATTN_TEXT_PROPERTY(Weights, weights)
FUNCATTN_TEXT_PROPERTY(WeightArray, weight_array)
FUNCATTN_TEXT_PROPERTY(Suffix, suffix)
FUNCATTN_TEXT_PROPERTY(SpillFolder, spill_folder)
FUNCATTN_TEXT_PROPERTY(Device, device)
#undef FUNCATTN_TEXT_PROPERTY

void vtkNeuralOperator::AddOutputArray(const char* name) {
  auto& outputs = this->Implementation->outputs;
  if (std::find(outputs.begin(), outputs.end(), or_empty(name)) != outputs.end()) return;
  outputs.push_back(or_empty(name));
  this->Modified();
}

void vtkNeuralOperator::RemoveOutputArray(const char* name) {
  auto& outputs = this->Implementation->outputs;
  const auto found = std::find(outputs.begin(), outputs.end(), or_empty(name));
  if (found == outputs.end()) return;
  outputs.erase(found);
  this->Modified();
}

void vtkNeuralOperator::ClearOutputArrays() {
  if (this->Implementation->outputs.empty()) return;
  this->Implementation->outputs.clear();
  this->Modified();
}

int vtkNeuralOperator::GetNumberOfOutputArrays() {
  return static_cast<int>(this->Implementation->outputs.size());
}

std::string vtkNeuralOperator::GetOutputArrayName(int index) {
  if (index < 0 || index >= this->GetNumberOfOutputArrays()) return {};
  return this->Implementation->outputs[static_cast<std::size_t>(index)];
}

void vtkNeuralOperator::SetOutputArrayStatus(const char* name, int status) {
  if (status)
    this->AddOutputArray(name);
  else
    this->RemoveOutputArray(name);
}

int vtkNeuralOperator::GetNumberOfOperatorOutputArrays() {
  return this->GetNumberOfOperatorOutputs();
}

const char* vtkNeuralOperator::GetOperatorOutputArrayName(int index) {
  this->Implementation->described = this->GetOperatorOutputName(index);
  return this->Implementation->described.c_str();
}

int vtkNeuralOperator::GetOperatorOutputArrayStatus(const char* name) {
  const auto& outputs = this->Implementation->outputs;
  return std::find(outputs.begin(), outputs.end(), or_empty(name)) != outputs.end() ? 1 : 0;
}

void vtkNeuralOperator::SetParameter(const char* name, double value) {
  this->SetParameter(name, 1, &value);
}

void vtkNeuralOperator::SetParameter(const char* name, int components, const double* values) {
  const Values given = components > 0 ? Values(values, values + components) : Values();
  auto& parameters = this->Implementation->parameters;
  const auto [place, added] = parameters.try_emplace(or_empty(name), given);
  if (!added && place->second == given) return;
  place->second = given;
  this->Modified();
}

void vtkNeuralOperator::AddParameterText(const char* name, const char* values) {
  if (is_blank(or_empty(name)) && is_blank(or_empty(values))) return;
  this->Implementation->parameter_texts.emplace_back(or_empty(name), or_empty(values));
  this->Modified();
}

void vtkNeuralOperator::RemoveParameter(const char* name) {
  const std::string removed = or_empty(name);
  bool changed = this->Implementation->parameters.erase(removed) > 0;
  auto& texts = this->Implementation->parameter_texts;
  const auto rest = std::remove_if(texts.begin(), texts.end(),
                                   [&](const auto& text) { return text.first == removed; });
  changed = changed || rest != texts.end();
  texts.erase(rest, texts.end());
  if (changed) this->Modified();
}

void vtkNeuralOperator::ClearParameters() {
  Internals& internals = *this->Implementation;
  if (internals.parameters.empty() && internals.parameter_texts.empty()) return;
  internals.parameters.clear();
  internals.parameter_texts.clear();
  this->Modified();
}

void vtkNeuralOperator::AddInspectedBlock(int block) {
  auto& blocks = this->Implementation->inspected_blocks;
  if (std::find(blocks.begin(), blocks.end(), block) != blocks.end()) return;
  blocks.push_back(block);
  this->Modified();
}

void vtkNeuralOperator::ClearInspectedBlocks() {
  if (this->Implementation->inspected_blocks.empty()) return;
  this->Implementation->inspected_blocks.clear();
  this->Modified();
}

std::map<std::string, Values> vtkNeuralOperator::Internals::given_parameters() const {
  std::map<std::string, Values> given = parameters;
  for (const auto& [name, text] : parameter_texts)
    if (!given.emplace(name, numbers_of(name, text)).second)
      throw funcattn::UsageError("the parameter '" + name + "' is given twice");
  return given;
}

funcattn::StageOptions vtkNeuralOperator::Internals::options(
    const vtkNeuralOperator& filter) const {
  funcattn::StageOptions options;
  options.weights = weights == "array" ? "array:" + weight_array : weights;
  if (options.weights == "recorded") options.weights.clear();
  options.suffix = suffix;
  options.outputs = outputs;
  options.parameters = given_parameters();
  if (!device.empty()) options.device = device;
  options.overwrite = filter.Overwrite;
  options.probabilities = filter.Probabilities;
  options.nan = choice_of<funcattn::NanPolicy>(filter.NanPolicy, 3, "NanPolicy",
                                               "0 (error), 1 (mask) or 2 (drop)");
  options.per_block = filter.PerBlock;
  options.convert_association = filter.ConvertAssociation;
  options.interpolate_inputs = filter.InterpolateInputs;
  options.add_basis = filter.AddBasis;
  options.add_transport = filter.AddTransport;
  options.inspection.blocks = inspected_blocks;
  options.threads = filter.Threads;
  options.engine.memory =
      choice_of<funcattn::ActivationMemory>(filter.ActivationMemory, 3, "ActivationMemory",
                                            "0 (resident), 1 (spilled) or 2 (recomputed)");
  options.engine.spill_folder = spill_folder;
  options.engine.tile_points = filter.TilePoints;
  return options;
}
