// What the operator file says, asked for through the filter.

#include <vtkDataObject.h>

#include <cmath>
#include <limits>

#include "core/text.h"
#include "vtkNeuralOperatorInternals.h"

using funcattn::Json;

namespace {

int association_of(const Json& array) {
  const std::string name = array.at("association");
  if (name == "point") return vtkDataObject::POINT;
  if (name == "cell") return vtkDataObject::CELL;
  return vtkDataObject::FIELD;
}

/// "3", or "(0, 1, 2)".
std::string text_of(const Json& numbers) {
  std::vector<std::string> texts;
  for (const Json& number : numbers) texts.push_back(funcattn::format_number(number.get<double>()));
  return texts.size() == 1 ? texts.front() : "(" + funcattn::join(texts, ", ") + ")";
}

}  // namespace

std::vector<const Json*> vtkNeuralOperator::Internals::arrays(const std::string& list) {
  std::vector<const Json*> found;
  try {
    load();
  } catch (const std::exception&) {
    return found;  // Reported when the filter executes, and by LoadOperator().
  }
  const bool only_parameters = list == "parameters";
  for (const Json& array : stage->contract().at(only_parameters ? "inputs" : list))
    if (!only_parameters || array.at("role") == "parameter") found.push_back(&array);
  return found;
}

const Json* vtkNeuralOperator::Internals::array(const std::string& list, int index) {
  const std::vector<const Json*> found = arrays(list);
  if (index < 0 || index >= static_cast<int>(found.size())) return nullptr;
  return found[static_cast<std::size_t>(index)];
}

int vtkNeuralOperator::Internals::count(const std::string& list) {
  return static_cast<int>(arrays(list).size());
}

std::string vtkNeuralOperator::Internals::text(const std::string& list, int index,
                                               const char* key) {
  const Json* found = array(list, index);
  return found ? found->value(key, std::string()) : std::string();
}

int vtkNeuralOperator::Internals::components(const std::string& list, int index) {
  const Json* found = array(list, index);
  return found ? found->at("components").get<int>() : 0;
}

int vtkNeuralOperator::Internals::association(const std::string& list, int index) {
  const Json* found = array(list, index);
  return found ? association_of(*found) : static_cast<int>(vtkDataObject::POINT);
}

double vtkNeuralOperator::Internals::bound(int index, const char* key, int component) {
  const Json* found = array("parameters", index);
  if (!found || !found->contains(key) || component < 0 ||
      component >= static_cast<int>(found->at(key).size()))
    return std::numeric_limits<double>::quiet_NaN();
  return found->at(key).at(static_cast<std::size_t>(component)).get<double>();
}

const char* vtkNeuralOperator::Internals::description(const std::string& list) {
  std::vector<std::string> lines;
  for (const Json* found : arrays(list)) {
    const int number = found->at("components").get<int>();
    std::string line = found->at("name").get<std::string>() + ": ";
    if (list != "parameters") line += found->at("association").get<std::string>() + ", ";
    line += std::to_string(number) + (number == 1 ? " component" : " components");
    const std::string unit = found->value("unit", std::string());
    if (!unit.empty()) line += ", " + unit;
    if (list == "parameters" && found->contains("min") && !found->at("min").empty())
      line += ", " + text_of(found->at("min")) + " to " + text_of(found->at("max"));
    lines.push_back(line);
  }
  described = funcattn::join(lines, "\n");
  return described.c_str();
}

std::string vtkNeuralOperator::GetContract() {
  return this->Implementation->array("outputs", 0) ? this->Implementation->stage->contract().dump()
                                                   : std::string();
}

const char* vtkNeuralOperator::GetOperatorInputs() {
  return this->Implementation->description("inputs");
}

const char* vtkNeuralOperator::GetOperatorOutputs() {
  return this->Implementation->description("outputs");
}

int vtkNeuralOperator::GetNumberOfOperatorInputs() {
  return this->Implementation->count("inputs");
}

std::string vtkNeuralOperator::GetOperatorInputName(int index) {
  return this->Implementation->text("inputs", index, "name");
}

std::string vtkNeuralOperator::GetOperatorInputUnit(int index) {
  return this->Implementation->text("inputs", index, "unit");
}

int vtkNeuralOperator::GetOperatorInputComponents(int index) {
  return this->Implementation->components("inputs", index);
}

int vtkNeuralOperator::GetOperatorInputAssociation(int index) {
  return this->Implementation->association("inputs", index);
}

int vtkNeuralOperator::GetNumberOfOperatorOutputs() {
  return this->Implementation->count("outputs");
}

std::string vtkNeuralOperator::GetOperatorOutputName(int index) {
  return this->Implementation->text("outputs", index, "name");
}

std::string vtkNeuralOperator::GetOperatorOutputUnit(int index) {
  return this->Implementation->text("outputs", index, "unit");
}

int vtkNeuralOperator::GetOperatorOutputComponents(int index) {
  return this->Implementation->components("outputs", index);
}

int vtkNeuralOperator::GetOperatorOutputAssociation(int index) {
  return this->Implementation->association("outputs", index);
}

vtkStringArray* vtkNeuralOperator::GetOperatorOutputNames() {
  vtkStringArray* names = this->Implementation->name_array;
  names->Reset();
  for (int i = 0; i < this->GetNumberOfOperatorOutputs(); ++i)
    names->InsertNextValue(this->GetOperatorOutputName(i));
  return names;
}

int vtkNeuralOperator::GetNumberOfOperatorParameters() {
  return this->Implementation->count("parameters");
}

std::string vtkNeuralOperator::GetOperatorParameterName(int index) {
  return this->Implementation->text("parameters", index, "name");
}

std::string vtkNeuralOperator::GetOperatorParameterUnit(int index) {
  return this->Implementation->text("parameters", index, "unit");
}

int vtkNeuralOperator::GetOperatorParameterComponents(int index) {
  return this->Implementation->components("parameters", index);
}

double vtkNeuralOperator::GetOperatorParameterMinimum(int index, int component) {
  return this->Implementation->bound(index, "min", component);
}

double vtkNeuralOperator::GetOperatorParameterMaximum(int index, int component) {
  return this->Implementation->bound(index, "max", component);
}

const char* vtkNeuralOperator::GetOperatorParameters() {
  return this->Implementation->description("parameters");
}
