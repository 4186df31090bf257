#include "vtkNeuralOperator.h"

#include <vtkDataObject.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkMultiProcessController.h>
#include <vtkObjectFactory.h>
#include <vtkSmartPointer.h>
#include <vtkStreamingDemandDrivenPipeline.h>

#include <algorithm>
#include <exception>
#include <new>
#include <utility>
#include <vector>

#include "core/affinity.h"
#include "core/error.h"
#include "core/memory_error.h"
#include "core/text.h"
#include "plugin/controller_group.h"
#include "vtkNeuralOperatorInternals.h"
#include "vtkNeuralOperatorPipeline.h"

vtkStandardNewMacro(vtkNeuralOperator);

namespace {

/// To be called in a catch block.
NeuralOperatorFailure current_failure() {
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

/// Empty where there is none.
std::string text_at(const std::vector<std::string>& texts, int index) {
  const bool exists = index >= 0 && index < static_cast<int>(texts.size());
  return exists ? texts[static_cast<std::size_t>(index)] : std::string();
}

int pieces_of(vtkInformation* output) {
  using Pipeline = vtkStreamingDemandDrivenPipeline;
  return output->Has(Pipeline::UPDATE_NUMBER_OF_PIECES())
             ? output->Get(Pipeline::UPDATE_NUMBER_OF_PIECES())
             : 1;
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

}  // namespace

std::unique_ptr<funcattn::ProcessGroup> group_for(vtkInformation* output) {
  auto group = funcattn::group_of(vtkMultiProcessController::GetGlobalController());
  if (group && pieces_of(output) != group->size()) group = nullptr;
  return group;
}

vtkNeuralOperator::vtkNeuralOperator() : Implementation(std::make_unique<Internals>()) {
  this->SetNumberOfInputPorts(2);
}

vtkNeuralOperator::~vtkNeuralOperator() = default;

void vtkNeuralOperator::Internals::load() {
  if (file_name.empty())
    throw funcattn::UsageError("no operator file is set; set FileName to a .safetensors file");
  const funcattn::FileState state = funcattn::state_of(file_name);
  if (stage && loaded_file == file_name && loaded_state == state) return;
  stage.reset();
  stage = funcattn::shared_stage(file_name);
  loaded_file = file_name;
  loaded_state = state;
}

std::vector<vtkNeuralOperator::Internals::Input> vtkNeuralOperator::Internals::inputs_of(
    vtkNeuralOperator& filter) {
  std::vector<Input> inputs;
  for (int port = 0; port < filter.GetNumberOfInputPorts(); ++port)
    if (vtkDataObject* data = filter.GetInputDataObject(port, 0))
      inputs.push_back({data, data->GetUpdateTime()});
  return inputs;
}

void vtkNeuralOperator::Internals::check_inputs(vtkNeuralOperator& filter) {
  const std::vector<Input> inputs = inputs_of(filter);
  const auto same = [](const Input& a, const Input& b) {
    return a.data == b.data && a.time == b.time;
  };
  if (!failed_inputs.empty() &&
      std::equal(inputs.begin(), inputs.end(), failed_inputs.begin(), failed_inputs.end(), same))
    throw funcattn::DataError(source_failure.text);
  failed_inputs.clear();
}

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

const char* vtkNeuralOperator::GetUsedDevice() {
  return this->Implementation->report.device.c_str();
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
  return text_at(this->Implementation->report.warnings, index);
}

int vtkNeuralOperator::GetNumberOfNotes() {
  return static_cast<int>(this->Implementation->report.notes.size());
}

std::string vtkNeuralOperator::GetNote(int index) {
  return text_at(this->Implementation->report.notes, index);
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

vtkExecutive* vtkNeuralOperator::CreateDefaultExecutive() {
#ifndef FUNCATTN_FOR_PARAVIEW
  if (vtkAlgorithm::DefaultExecutivePrototype) return this->Superclass::CreateDefaultExecutive();
#endif
  return vtkNeuralOperatorPipeline::New();
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

int vtkNeuralOperator::RequestUpdateExtent(vtkInformation*, vtkInformationVector** inputs,
                                           vtkInformationVector* outputs) {
  using Pipeline = vtkStreamingDemandDrivenPipeline;
  // Each process then works on its own piece, which is asked of the inputs as of this filter.
  if (group_for(outputs->GetInformationObject(0))) return 1;
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
  ++internals.executions;
  vtkInformation* info = outputs->GetInformationObject(0);
  vtkDataObject* output = vtkDataObject::GetData(info);
  const std::unique_ptr<funcattn::ProcessGroup> group = group_for(info);
  const bool speaks = !group || group->is_first();
  try {
    const int pieces = pieces_of(info);
    if (pieces > 1 && !group)
      throw funcattn::UsageError(
          "piece " + std::to_string(info->Get(Pipeline::UPDATE_PIECE_NUMBER())) + " of " +
          std::to_string(pieces) +
          " was asked for, but the operator needs all points at once; let one process ask for "
          "the whole data, and cut the result, or let as many processes as pieces share a global "
          "vtkMultiProcessController");
    funcattn::run_together(group.get(), [&] {
      internals.check_inputs(*this);
      internals.load();
    });

    funcattn::StageOptions options = internals.options(*this);
    options.engine.processes = group.get();
    if (group && options.threads < 1) options.threads = funcattn::available_cores(*group);
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
    if (speaks) vtkErrorMacro(<< internals.failure.text);
    return 0;
  }
  internals.incomplete = false;
  if (speaks)
    for (const std::string& warning : internals.report.warnings) vtkWarningMacro(<< warning);
  return 1;
}

void vtkNeuralOperator::PrintSelf(ostream& os, vtkIndent indent) {
  this->Superclass::PrintSelf(os, indent);
  const Internals& internals = *this->Implementation;
  const std::pair<const char*, const std::string&> texts[] = {
      {"FileName", internals.file_name},       {"Weights", internals.weights},
      {"WeightArray", internals.weight_array}, {"Suffix", internals.suffix},
      {"SpillFolder", internals.spill_folder}, {"Device", internals.device},
      {"LastError", internals.failure.text}};
  for (const auto& [name, value] : texts) os << indent << name << ": " << value << "\n";
  const std::pair<const char*, int> numbers[] = {{"NanPolicy", this->NanPolicy},
                                                 {"Overwrite", this->Overwrite},
                                                 {"Probabilities", this->Probabilities},
                                                 {"PerBlock", this->PerBlock},
                                                 {"InterpolateInputs", this->InterpolateInputs},
                                                 {"ConvertAssociation", this->ConvertAssociation},
                                                 {"AddBasis", this->AddBasis},
                                                 {"AddTransport", this->AddTransport},
                                                 {"Threads", this->Threads},
                                                 {"ActivationMemory", this->ActivationMemory},
                                                 {"TilePoints", this->TilePoints}};
  for (const auto& [name, value] : numbers) os << indent << name << ": " << value << "\n";
  os << indent << "OutputArrays: " << funcattn::join(internals.outputs, ", ") << "\n";
  os << indent << "Parameters:";
  for (const auto& [name, values] : internals.parameters) {
    os << " " << name << " =";
    for (const double value : values) os << " " << funcattn::format_number(value);
    os << ";";
  }
  for (const auto& [name, text] : internals.parameter_texts)
    os << " " << name << " = " << text << ";";
  os << "\n" << indent << "InspectedBlocks:";
  for (const int block : internals.inspected_blocks) os << " " << block;
  os << "\n";
}
