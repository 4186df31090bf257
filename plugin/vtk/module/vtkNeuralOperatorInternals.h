#pragma once

// What vtkNeuralOperator hides: texts and lists that its users set, the operator, and what came of
// the last execution.

#include <vtkDataObject.h>
#include <vtkNew.h>
#include <vtkStringArray.h>
#include <vtkTimeStamp.h>
#include <vtkWeakPointer.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/process_group.h"
#include "plugin/stage_cache.h"
#include "vtkNeuralOperator.h"

/// An exception as VTK's users see it.
struct NeuralOperatorFailure {
  std::string kind;
  std::string text;
};

/// The processes of the global controller, where each of them is asked for its piece; else null.
std::unique_ptr<funcattn::ProcessGroup> group_for(vtkInformation* output);

struct vtkNeuralOperator::Internals {
  std::string file_name;
  std::string weights;
  std::string weight_array;
  std::string suffix = "_predicted";
  std::string spill_folder;
  std::string device = "cpu";
  std::vector<std::string> outputs;
  std::map<std::string, std::vector<double>> parameters;
  std::vector<std::pair<std::string, std::string>> parameter_texts;
  std::vector<int> inspected_blocks;

  std::shared_ptr<const funcattn::OperatorStage> stage;
  std::string loaded_file;
  funcattn::FileState loaded_state;

  funcattn::FileState seen_state;  ///< Of the file when its time was last asked for.
  vtkTimeStamp file_time;
  bool incomplete = false;  ///< The last execution gave no result and is due again.
  int executions = 0;       ///< So far, failed ones included.

  // VTK takes what a source leaves that failed for its result, and does not ask it again.
  struct Input {
    vtkWeakPointer<vtkDataObject> data;
    vtkMTimeType time;  ///< Of its making.
  };
  std::vector<Input> failed_inputs;  ///< Of the update that a source failed; empty: none did.
  NeuralOperatorFailure source_failure;

  NeuralOperatorFailure failure;
  funcattn::StageReport report;

  std::string described;              ///< The text that was handed out last.
  vtkNew<vtkStringArray> name_array;  ///< The names that were handed out last.

  /// Loads the operator, if that has not happened or its file has changed. Throws as the
  /// constructor of OperatorStage does, and UsageError where no file is set.
  void load();

  static std::vector<Input> inputs_of(vtkNeuralOperator& filter);
  /// Throws DataError where the inputs are still those of the update that a source failed.
  void check_inputs(vtkNeuralOperator& filter);

  /// What SetParameter() and AddParameterText() gave. Throws UsageError for texts that are no
  /// numbers and for parameters that are given twice.
  std::map<std::string, std::vector<double>> given_parameters() const;

  /// The options of the stage. Throws UsageError for values that no property can have.
  funcattn::StageOptions options(const vtkNeuralOperator& filter) const;

  // What the contract says of "inputs", "outputs" or "parameters".

  /// Null where the operator cannot be loaded or has no such array.
  const funcattn::Json* array(const std::string& list, int index);
  int count(const std::string& list);
  std::string text(const std::string& list, int index, const char* key);
  int components(const std::string& list, int index);
  int association(const std::string& list, int index);
  /// A component of "min" or "max" of a parameter; NaN where there is none.
  double bound(int index, const char* key, int component);
  /// For people, a line per array.
  const char* description(const std::string& list);

 private:
  std::vector<const funcattn::Json*> arrays(const std::string& list);
};
