#include "operators/training/training_state.h"

#include <cmath>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text.h"

namespace funcattn {

namespace fs = std::filesystem;

namespace {

constexpr const char* format_name = "funcattn-training-state";

/// JSON has no NaN: it is written as null.
double number_or_nan(const Json& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

Json number_or_null(const std::optional<double>& number) {
  return number ? Json(*number) : Json(nullptr);
}

std::optional<double> optional_number(const Json& json, const char* key) {
  if (!json.contains(key) || json.at(key).is_null()) return std::nullopt;
  return json.at(key).get<double>();
}

std::string describe(const Tensor& tensor) {
  std::ostringstream text;
  text << tensor.scalar_type() << " " << tensor.sizes();
  return text.str();
}

std::string dotted(std::string pointer) {
  if (!pointer.empty()) pointer.erase(0, 1);
  for (char& c : pointer)
    if (c == '/') c = '.';
  return pointer;
}

}  // namespace

void write_training_state(const fs::path& path, const TrainingState& state) {
  const Json json{{"step", state.step},
                  {"seconds", state.seconds},
                  {"loss_sum", state.loss_sum},
                  {"loss_count", state.loss_count},
                  {"final_loss", state.final_loss},
                  {"accuracy_sum", state.accuracy_sum},
                  {"accuracy_count", state.accuracy_count},
                  {"final_accuracy", number_or_null(state.final_accuracy)},
                  {"best_validation", number_or_null(state.best_validation)},
                  {"best_accuracy", number_or_null(state.best_accuracy)},
                  {"best_step", state.best_step},
                  {"batches", state.batches},
                  {"course", state.course}};
  Safetensors file = state.tensors;
  file.metadata = {{"format", format_name},
                   {"format_version", std::to_string(training_state_version)},
                   {"state", json.dump()}};
  write_safetensors(path, file);
}

TrainingState read_training_state(const fs::path& path) {
  const std::string where = "training state '" + path.string() + "'";
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    throw FileError("cannot resume: " + where +
                    " does not exist; give the state file of an earlier run, or start a new run");
  TrainingState state;
  state.tensors = read_safetensors(path);
  const std::string* format = state.tensors.find_metadata("format");
  if (format == nullptr || *format != format_name)
    throw OperatorFileError(where + " is not a training state: its format is " +
                            (format == nullptr ? "missing" : "'" + *format + "'") + ", expected '" +
                            format_name + "'; give the state file, not the operator file");
  const std::string* version = state.tensors.find_metadata("format_version");
  if (version == nullptr || *version != std::to_string(training_state_version))
    throw OperatorFileError(where + " has version " + (version == nullptr ? "none" : *version) +
                            ", expected " + std::to_string(training_state_version) +
                            "; resume with the library that wrote it");
  if (state.tensors.find_metadata("checksum") == nullptr)
    throw OperatorFileError(where + " has no checksum; it is damaged, start a new run");
  const std::string* text = state.tensors.find_metadata("state");
  try {
    const Json json = Json::parse(text == nullptr ? std::string() : *text);
    state.step = json.at("step").get<std::int64_t>();
    state.seconds = json.at("seconds").get<double>();
    state.loss_sum = json.at("loss_sum").get<double>();
    state.loss_count = json.at("loss_count").get<std::int64_t>();
    state.final_loss = number_or_nan(json.at("final_loss"));
    // States of before classes have none of accuracy.
    state.accuracy_sum = json.value("accuracy_sum", 0.0);
    state.accuracy_count = json.value("accuracy_count", std::int64_t{0});
    state.final_accuracy = optional_number(json, "final_accuracy");
    state.best_accuracy = optional_number(json, "best_accuracy");
    (void)json.at("best_validation");
    state.best_validation = optional_number(json, "best_validation");
    state.best_step = json.at("best_step").get<std::int64_t>();
    state.batches = json.at("batches");
    state.course = json.at("course");
  } catch (const Json::exception& error) {
    throw OperatorFileError(where + " is damaged: " + error.what() + "; start a new run");
  }
  return state;
}

std::vector<Difference> differences_of(const Json& first, const Json& second) {
  const auto entries = [](const Json& course) {
    std::map<std::string, std::string> texts;
    const Json flat = course.flatten();
    for (const auto& [pointer, value] : flat.items()) texts[dotted(pointer)] = value.dump();
    return texts;
  };
  const auto before = entries(first);
  const auto now = entries(second);
  std::vector<Difference> differences;
  for (const auto& [name, value] : before) {
    const auto found = now.find(name);
    const std::string other = found == now.end() ? "absent" : found->second;
    if (other != value) differences.push_back({name, value, other});
  }
  for (const auto& [name, value] : now)
    if (before.count(name) == 0) differences.push_back({name, "absent", value});
  return differences;
}

namespace {

constexpr double statistics_tolerance = 1e-9;  ///< Of the scale.

bool agree(const Json& one, const Json& other) {
  for (const char* key : {"mean", "scale"}) {
    if (one.at(key).size() != other.at(key).size()) return false;
    for (std::size_t i = 0; i < one.at(key).size(); ++i) {
      const double difference = one.at(key)[i].get<double>() - other.at(key)[i].get<double>();
      if (!(std::abs(difference) <= statistics_tolerance * one.at("scale")[i].get<double>()))
        return false;
    }
  }
  return true;
}

/// The course with the statistics of another where they are the same but for rounding.
Json with_agreeing_statistics(Json course, const Json& other) {
  for (const char* key : {"input_normalisation", "output_normalisation"}) {
    const Json::json_pointer place = Json::json_pointer("/contract/" + std::string(key));
    if (course.contains(place) && other.contains(place) && agree(course.at(place), other.at(place)))
      course[place] = other.at(place);
  }
  return course;
}

}  // namespace

void require_same_course(const Json& stored, const Json& present, const fs::path& path) {
  std::vector<std::string> differences;
  bool of_data = false;
  for (const Difference& one : differences_of(stored, with_agreeing_statistics(present, stored))) {
    differences.push_back(one.name + " was " + one.first + ", now " + one.second);
    of_data = of_data || one.name.rfind("contract.", 0) == 0;
  }
  if (differences.empty()) return;
  throw UsageError(
      "cannot resume from '" + path.string() + "': " + join(differences, "; ") +
      (of_data ? "; the contract follows from the data: give the data and options of that run"
               : "; give the options of that run") +
      ", or start a new run");
}

NamedTensors state_tensors(const Model& model, const FlatParameters& parameters,
                           const AdamW& optimiser, const WeightAverage& average) {
  NamedTensors tensors;
  for (const auto& item : model.named_parameters())
    tensors.emplace_back("weights." + item.key(), item.value().detach());
  for (const auto& item : model.named_buffers())
    tensors.emplace_back("weights." + item.key(), item.value().detach());
  for (const auto& slot : parameters.slots()) {
    const auto add = [&](const char* kind, const Tensor& flat) {
      tensors.emplace_back(kind + slot.name, FlatParameters::view(flat, slot));
    };
    add("first_moment.", optimiser.first_moment());
    add("second_moment.", optimiser.second_moment());
    if (average.averages()) add("average.", average.values());
  }
  return tensors;
}

void restore_tensors(const Safetensors& stored, const NamedTensors& live, const fs::path& path) {
  const std::string where = "training state '" + path.string() + "' does not fit the model: ";
  for (const auto& [name, tensor] : live) {
    const Tensor* found = stored.find(name);
    if (found == nullptr) throw OperatorFileError(where + "tensor '" + name + "' is missing");
    if (found->sizes() != tensor.sizes() || found->scalar_type() != tensor.scalar_type())
      throw OperatorFileError(where + "tensor '" + name + "' is " + describe(*found) +
                              ", expected " + describe(tensor));
  }
  if (stored.tensors.size() != live.size()) {
    std::map<std::string, Tensor> known(live.begin(), live.end());
    for (const auto& [name, tensor] : stored.tensors)
      if (known.count(name) == 0)
        throw OperatorFileError(where + "it has no tensor '" + name + "'");
  }
  const torch::NoGradGuard no_grad;
  for (const auto& [name, tensor] : live) tensor.copy_(*stored.find(name));
}

}  // namespace funcattn
