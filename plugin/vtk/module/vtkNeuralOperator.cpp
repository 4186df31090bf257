#include "vtkNeuralOperator.h"

#include <vtkDataObject.h>
#include <vtkErrorCode.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkObjectFactory.h>
#include <vtkSmartPointer.h>
#include <vtkStreamingDemandDrivenPipeline.h>

#include <algorithm>
#include <exception>
#include <new>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/memory_error.h"
#include "plugin/stage_cache.h"

vtkStandardNewMacro(vtkNeuralOperator);

namespace {

using funcattn::Json;

/// An exception as VTK's users see it.
struct Failure {
  std::string kind;
  std::string text;
};

/// To be called in a catch block.
Failure current_failure() {
  try {
    throw;
  } catch (const funcattn::UsageError& error) {
    return {"usage", error.what()};
  } catch (const funcattn::OperatorFileError& error) {
    return {"operator_file", error.what()};
  } catch (const funcattn::FileError& error) {
    return {"file", error.what()};
  } catch (const funcattn::MemoryError& error) {
    return {"memory", error.what()};
  } catch (const funcattn::DataError& error) {
    return {"data", error.what()};
  } catch (const funcattn::NumericError& error) {
    return {"numeric", error.what()};
  } catch (const funcattn::Cancelled& error) {
    return {"cancelled", error.what()};
  } catch (const std::bad_alloc&) {
    return {"memory",
            "there is not enough memory for this input; spilled or recomputed activation memory "
            "needs less"};
  } catch (const std::exception& error) {
    return {"internal", error.what()};
  } catch (...) {
    return {"internal", "an unknown exception was thrown"};
  }
}

template <typename Choice>
Choice choice_of(int value, int count, const char* property, const char* meanings) {
  if (value < 0 || value >= count)
    throw funcattn::UsageError(std::string(property) + " is " + std::to_string(value) +
                               ", expected " + meanings);
  return static_cast<Choice>(value);
}

/// Progress over samples that each go from 0 to 1, as one that never goes back.
class TotalProgress {
 public:
  explicit TotalProgress(std::size_t samples) : samples_(samples) {}
  double of(double fraction) {
    if (fraction < last_) ++done_;
    last_ = fraction;
    const double total = (done_ + fraction) / static_cast<double>(samples_);
    return total < 1 ? total : 1;
  }

 private:
  std::size_t samples_;
  double done_ = 0;
  double last_ = 0;
};

int association_of(const Json& array) {
  const std::string name = array.at("association");
  if (name == "point") return vtkDataObject::POINT;
  if (name == "cell") return vtkDataObject::CELL;
  return vtkDataObject::FIELD;
}

}  // namespace

struct vtkNeuralOperator::Internals {
  std::string file_name;
  std::string weights;
  std::string weight_array;
  std::string suffix = "_predicted";
  std::string spill_folder;

  std::shared_ptr<const funcattn::OperatorStage> stage;
  std::string loaded_file;
  funcattn::FileState loaded_state;

  funcattn::FileState seen_state;  ///< Of the file when its time was last asked for.
  vtkTimeStamp file_time;
  bool incomplete = false;  ///< The last execution gave no result and is due again.

  Failure failure;
  funcattn::StageReport report;
  std::string described;  ///< The text that description() handed out last.

  void load() {
    if (file_name.empty())
      throw funcattn::UsageError("no operator file is set; set FileName to a .safetensors file");
    const funcattn::FileState state = funcattn::state_of(file_name);
    if (stage && loaded_file == file_name && loaded_state == state) return;
    stage.reset();
    stage = funcattn::shared_stage(file_name);
    loaded_file = file_name;
    loaded_state = state;
  }

  /// Null where the operator cannot be loaded or has no such array.
  const Json* array(const char* list, int index) {
    try {
      load();
      const Json& arrays = stage->contract().at(list);
      if (index >= 0 && index < static_cast<int>(arrays.size()))
        return &arrays.at(static_cast<std::size_t>(index));
    } catch (const std::exception&) {
      // Reported when the filter executes, and by LoadOperator().
    }
    return nullptr;
  }

  int count(const char* list) {
    return array(list, 0) ? static_cast<int>(stage->contract().at(list).size()) : 0;
  }

  std::string text(const char* list, int index, const char* key) {
    const Json* found = array(list, index);
    return found ? found->value(key, std::string()) : std::string();
  }

  int components(const char* list, int index) {
    const Json* found = array(list, index);
    return found ? found->at("components").get<int>() : 0;
  }

  /// A line per array.
  const char* description(const char* list) {
    described.clear();
    for (int i = 0; i < count(list); ++i) {
      const Json& found = *array(list, i);
      const int number = components(list, i);
      if (i > 0) described += "\n";
      described += found.at("name").get<std::string>() + ": " +
                   found.at("association").get<std::string>() + ", " + std::to_string(number) +
                   (number == 1 ? " component" : " components");
      const std::string unit = text(list, i, "unit");
      if (!unit.empty()) described += ", " + unit;
    }
    return described.c_str();
  }

  int association(const char* list, int index) {
    const Json* found = array(list, index);
    return found ? association_of(*found) : static_cast<int>(vtkDataObject::POINT);
  }
};

vtkNeuralOperator::vtkNeuralOperator() : Implementation(std::make_unique<Internals>()) {
  this->SetNumberOfInputPorts(2);
}

vtkNeuralOperator::~vtkNeuralOperator() = default;

// The properties that are texts: modified only where they change.
#define FUNCATTN_TEXT_PROPERTY(Name, member)             \
  void vtkNeuralOperator::Set##Name(const char* value) { \
    const std::string text = value ? value : "";         \
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
#undef FUNCATTN_TEXT_PROPERTY

int vtkNeuralOperator::LoadOperator() {
  try {
    this->Implementation->load();
    this->Implementation->failure = {};
    return 1;
  } catch (...) {
    this->Implementation->failure = current_failure();
    vtkErrorMacro(<< this->Implementation->failure.text);
    return 0;
  }
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

const char* vtkNeuralOperator::GetLastError() {
  return this->Implementation->failure.text.c_str();
}

const char* vtkNeuralOperator::GetLastErrorKind() {
  return this->Implementation->failure.kind.c_str();
}

int vtkNeuralOperator::GetNumberOfWarnings() {
  return static_cast<int>(this->Implementation->report.warnings.size());
}

std::string vtkNeuralOperator::GetWarning(int index) {
  const auto& warnings = this->Implementation->report.warnings;
  if (index < 0 || index >= static_cast<int>(warnings.size())) return {};
  return warnings[static_cast<std::size_t>(index)];
}

vtkIdType vtkNeuralOperator::GetNumberOfUnusable() {
  return this->Implementation->report.unusable;
}

vtkMTimeType vtkNeuralOperator::GetMTime() {
  Internals& internals = *this->Implementation;
  if (internals.incomplete) this->Modified();
  if (!internals.file_name.empty()) {
    const funcattn::FileState state = funcattn::state_of(internals.file_name);
    if (state != internals.seen_state) {
      internals.seen_state = state;
      internals.file_time.Modified();
    }
  }
  return std::max(this->Superclass::GetMTime(), internals.file_time.GetMTime());
}

int vtkNeuralOperator::FillInputPortInformation(int port, vtkInformation* info) {
  // Composite first: VTK would otherwise run the filter once per block.
  info->Remove(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE());
  info->Append(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkCompositeDataSet");
  info->Append(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkDataSet");
  if (port == 1) info->Set(vtkAlgorithm::INPUT_IS_OPTIONAL(), 1);
  return 1;
}

int vtkNeuralOperator::RequestDataObject(vtkInformation*, vtkInformationVector** inputs,
                                         vtkInformationVector* outputs) {
  vtkDataObject* query = vtkDataObject::GetData(inputs[1], 0);
  vtkDataObject* pattern = query ? query : vtkDataObject::GetData(inputs[0], 0);
  if (!pattern) return 0;
  vtkDataObject* output = vtkDataObject::GetData(outputs, 0);
  if (output && output->GetDataObjectType() == pattern->GetDataObjectType()) return 1;
  const auto created = vtkSmartPointer<vtkDataObject>::Take(pattern->NewInstance());
  outputs->GetInformationObject(0)->Set(vtkDataObject::DATA_OBJECT(), created);
  return 1;
}

int vtkNeuralOperator::RequestInformation(vtkInformation*, vtkInformationVector**,
                                          vtkInformationVector*) {
  return 1;
}

int vtkNeuralOperator::RequestUpdateExtent(vtkInformation*, vtkInformationVector** inputs,
                                           vtkInformationVector*) {
  using Pipeline = vtkStreamingDemandDrivenPipeline;
  for (int port = 0; port < this->GetNumberOfInputPorts(); ++port) {
    vtkInformation* info = inputs[port]->GetInformationObject(0);
    if (!info) continue;
    if (info->Has(Pipeline::WHOLE_EXTENT()))
      info->Set(Pipeline::UPDATE_EXTENT(), info->Get(Pipeline::WHOLE_EXTENT()), 6);
    info->Set(Pipeline::UPDATE_PIECE_NUMBER(), 0);
    info->Set(Pipeline::UPDATE_NUMBER_OF_PIECES(), 1);
    info->Set(Pipeline::UPDATE_NUMBER_OF_GHOST_LEVELS(), 0);
  }
  return 1;
}

int vtkNeuralOperator::RequestData(vtkInformation*, vtkInformationVector** inputs,
                                   vtkInformationVector* outputs) {
  using Pipeline = vtkStreamingDemandDrivenPipeline;
  Internals& internals = *this->Implementation;
  internals.report = {};
  internals.failure = {};
  internals.incomplete = true;
  vtkInformation* info = outputs->GetInformationObject(0);
  vtkDataObject* output = vtkDataObject::GetData(info);
  try {
    const int pieces = info->Has(Pipeline::UPDATE_NUMBER_OF_PIECES())
                           ? info->Get(Pipeline::UPDATE_NUMBER_OF_PIECES())
                           : 1;
    if (pieces > 1)
      throw funcattn::UsageError(
          "piece " + std::to_string(info->Get(Pipeline::UPDATE_PIECE_NUMBER())) + " of " +
          std::to_string(pieces) +
          " was asked for, but the operator needs all points at once; let one process ask for "
          "the whole data, and cut the result");
    internals.load();

    funcattn::StageOptions options;
    options.weights =
        internals.weights == "array" ? "array:" + internals.weight_array : internals.weights;
    if (options.weights == "recorded") options.weights.clear();
    options.suffix = internals.suffix;
    options.overwrite = this->Overwrite;
    options.nan = choice_of<funcattn::NanPolicy>(this->NanPolicy, 3, "NanPolicy",
                                                 "0 (error), 1 (mask) or 2 (drop)");
    options.per_block = this->PerBlock;
    options.convert_association = this->ConvertAssociation;
    options.interpolate_inputs = this->InterpolateInputs;
    options.threads = this->Threads;
    options.engine.memory =
        choice_of<funcattn::ActivationMemory>(this->ActivationMemory, 3, "ActivationMemory",
                                              "0 (resident), 1 (spilled) or 2 (recomputed)");
    options.engine.spill_folder = internals.spill_folder;
    options.engine.tile_points = this->TilePoints;

    const funcattn::MeshTree source(vtkDataObject::GetData(inputs[0], 0), "input");
    vtkDataObject* query = vtkDataObject::GetData(inputs[1], 0);
    TotalProgress progress(this->PerBlock ? std::max<std::size_t>(1, source.leaves().size()) : 1);
    options.progress = [&](double fraction) {
      this->UpdateProgress(progress.of(fraction));
      return this->GetAbortExecute() == 0;
    };
    funcattn::TreeResult result =
        query ? internals.stage->run(source, funcattn::MeshTree(query, "query"), options)
              : internals.stage->run(source, options);

    vtkDataObject* predicted = result.tree.vtk();
    if (output->GetDataObjectType() != predicted->GetDataObjectType()) {
      const auto created = vtkSmartPointer<vtkDataObject>::Take(predicted->NewInstance());
      info->Set(vtkDataObject::DATA_OBJECT(), created);
      output = created;
    }
    output->ShallowCopy(predicted);
    if (source.time())
      output->GetInformation()->Set(vtkDataObject::DATA_TIME_STEP(), *source.time());
    internals.report = std::move(result);
  } catch (...) {
    internals.failure = current_failure();
    output->Initialize();
    // Whoever asked for an end knows; VTK's own filters report no error for it either.
    if (internals.failure.kind == "cancelled") return 1;
    vtkErrorMacro(<< internals.failure.text);
    return 0;
  }
  internals.incomplete = false;
  for (const std::string& warning : internals.report.warnings) vtkWarningMacro(<< warning);
  return 1;
}

void vtkNeuralOperator::PrintSelf(ostream& os, vtkIndent indent) {
  this->Superclass::PrintSelf(os, indent);
  const Internals& internals = *this->Implementation;
  const std::pair<const char*, const std::string&> texts[] = {
      {"FileName", internals.file_name},       {"Weights", internals.weights},
      {"WeightArray", internals.weight_array}, {"Suffix", internals.suffix},
      {"SpillFolder", internals.spill_folder}, {"LastError", internals.failure.text}};
  for (const auto& [name, value] : texts) os << indent << name << ": " << value << "\n";
  const std::pair<const char*, int> numbers[] = {{"NanPolicy", this->NanPolicy},
                                                 {"Overwrite", this->Overwrite},
                                                 {"PerBlock", this->PerBlock},
                                                 {"InterpolateInputs", this->InterpolateInputs},
                                                 {"ConvertAssociation", this->ConvertAssociation},
                                                 {"Threads", this->Threads},
                                                 {"ActivationMemory", this->ActivationMemory},
                                                 {"TilePoints", this->TilePoints}};
  for (const auto& [name, value] : numbers) os << indent << name << ": " << value << "\n";
}
