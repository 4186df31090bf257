/**
 * @class vtkNeuralOperator
 * @brief predicts fields on a mesh with a trained Functional Attention operator
 *
 * The input is handed on with the arrays that the operator predicts added to its point or cell
 * data, under the names that the operator file records with Suffix appended. The input may be any
 * vtkDataSet, of any number of points, or a composite data set: its structure is kept, with null
 * blocks and metadata, and its leaves are one sample together, since the operator is global
 * (PerBlock makes each a sample of its own). The input itself is never modified.
 *
 * With a second input the operator is built on the first and evaluated on the second, which is then
 * what is handed on.
 *
 * The operator is read once and kept; filters of one process that name the same file share it.
 * Every time step that is asked for is computed from the input at that step, and keeps its time.
 * The filter executes again when a property, the input or the file on disk (its size, modification
 * time or identity) has changed, and after an execution that failed or was aborted.
 *
 * Errors are reported by ErrorEvent, those too that keep VTK from executing the filter (no input,
 * one of a wrong type, one whose source failed); the output is then empty and the filter works
 * again once the reason is gone. Progress is reported, and SetAbortExecute(1) from an observer of
 * it stops the computation, with an empty output.
 *
 * The operator must see all points at once. A pipeline that asks for one of several pieces, as
 * processes of a parallel host do, gets an error instead of an answer that depends on the cut.
 */

#ifndef vtkNeuralOperator_h
#define vtkNeuralOperator_h

#include "vtkFunctionalAttentionModule.h"  // For the export macro
#include "vtkPassInputTypeAlgorithm.h"

#include <memory>  // For std::unique_ptr
#include <string>  // For std::string

class vtkStringArray;

class VTKFUNCTIONALATTENTION_EXPORT vtkNeuralOperator : public vtkPassInputTypeAlgorithm {
 public:
  static vtkNeuralOperator* New();
  vtkTypeMacro(vtkNeuralOperator, vtkPassInputTypeAlgorithm)
  void PrintSelf(ostream& os, vtkIndent indent) override;

  ///@{
  /** The operator file (.safetensors). */
  void SetFileName(VTK_FILEPATH const char* name);
  VTK_FILEPATH const char* GetFileName();
  ///@}

  /** The mesh at whose points (or cells) the operator is evaluated; optional. */
  void SetQueryConnection(vtkAlgorithmOutput* query) { this->SetInputConnection(1, query); }

  ///@{
  /**
   * How much of the domain each point or cell stands for: "auto", "uniform", "measure", "density",
   * "array:NAME", or "array" for the array named by WeightArray. "recorded", or empty, the default:
   * the choice that the operator was trained with.
   */
  void SetWeights(const char* weights);
  const char* GetWeights();
  void SetWeightArray(const char* name);
  const char* GetWeightArray();
  ///@}

  ///@{
  /**
   * Names in the contract of the outputs to hand on; all of them where none is added, the default.
   * A name that the operator does not have is an error of the execution.
   */
  void AddOutputArray(const char* name);
  void RemoveOutputArray(const char* name);
  void ClearOutputArrays();
  int GetNumberOfOutputArrays();
  std::string GetOutputArrayName(int index);
  ///@}
  ///@{
  /** The same for hosts with a list of names to tick, which are all of the operator's outputs. */
  void SetOutputArrayStatus(const char* name, int status);
  int GetNumberOfOperatorOutputArrays();
  const char* GetOperatorOutputArrayName(int index);
  int GetOperatorOutputArrayStatus(const char* name);
  ///@}

  ///@{
  /**
   * Values of the operator's parameters, one number per component. They count more than the field
   * data of the input, where those that are not set must stand. Unknown names and other counts than
   * the contract's are errors of the execution; values outside the training range a warning.
   */
  void SetParameter(const char* name, double value);
  void SetParameter(const char* name, int components, const double* values)
      VTK_SIZEHINT(values, components);
  void RemoveParameter(const char* name);
  void ClearParameters();
  ///@}
  /**
   * The same with the numbers as text, separated by commas or blanks, as hosts with a table of rows
   * have them: a parameter that is given twice is an error, and a row without name and values none.
   */
  void AddParameterText(const char* name, const char* values);

  ///@{
  /**
   * What computes: "cpu", the default; "cuda" or "cuda:N", which must be there; "auto": a GPU where
   * there is one. GetUsedDevice() says where the last execution was.
   */
  void SetDevice(const char* device);
  const char* GetDevice();
  const char* GetUsedDevice();
  ///@}

  ///@{
  /**
   * Add the basis functions of the operator's blocks as arrays beside the prediction, and the
   * transport matrices as field data (docs/inspect.md). They change no prediction. Default: off.
   */
  vtkSetMacro(AddBasis, bool);
  vtkGetMacro(AddBasis, bool);
  vtkBooleanMacro(AddBasis, bool);
  vtkSetMacro(AddTransport, bool);
  vtkGetMacro(AddTransport, bool);
  vtkBooleanMacro(AddTransport, bool);
  ///@}

  ///@{
  /** Blocks, from 1, that AddBasis and AddTransport are about; all where none is added. */
  void AddInspectedBlock(int block);
  void ClearInspectedBlocks();
  ///@}

  enum NanPolicyType { NAN_ERROR = 0, NAN_MASK = 1, NAN_DROP = 2 };
  ///@{
  /**
   * What to do about points (or cells) whose coordinates or inputs hold NaN or Inf: refuse the
   * input (NAN_ERROR, the default), leave them out and give them NaN (NAN_MASK), or remove them
   * from the output as well (NAN_DROP).
   */
  vtkSetMacro(NanPolicy, int);
  vtkGetMacro(NanPolicy, int);
  ///@}

  ///@{
  /** Appended to the names of the predicted arrays. Default: "_predicted". */
  void SetSuffix(const char* suffix);
  const char* GetSuffix();
  ///@}

  ///@{
  /** Replace arrays that have a predicted name, instead of refusing the input. Default: off. */
  vtkSetMacro(Overwrite, bool);
  vtkGetMacro(Overwrite, bool);
  vtkBooleanMacro(Overwrite, bool);
  ///@}

  ///@{
  /**
   * Of predicted classes, also hand on the share of each class, as an array NAME_probability with
   * one component per class. Default: off.
   */
  vtkSetMacro(Probabilities, bool);
  vtkGetMacro(Probabilities, bool);
  vtkBooleanMacro(Probabilities, bool);
  ///@}

  ///@{
  /** Every leaf of a composite data set is a sample of its own. Default: off. */
  vtkSetMacro(PerBlock, bool);
  vtkGetMacro(PerBlock, bool);
  vtkBooleanMacro(PerBlock, bool);
  ///@}

  ///@{
  /** Inputs that the query mesh lacks are interpolated from the first input. Default: off. */
  vtkSetMacro(InterpolateInputs, bool);
  vtkGetMacro(InterpolateInputs, bool);
  vtkBooleanMacro(InterpolateInputs, bool);
  ///@}

  ///@{
  /**
   * Point arrays where the operator needs cell arrays (or the reverse) are averaged, and the
   * prediction is handed back on both. Default: off.
   */
  vtkSetMacro(ConvertAssociation, bool);
  vtkGetMacro(ConvertAssociation, bool);
  vtkBooleanMacro(ConvertAssociation, bool);
  ///@}

  ///@{
  /** Threads to compute with; 0, the default: the cores that this process may use. */
  vtkSetMacro(Threads, int);
  vtkGetMacro(Threads, int);
  ///@}

  enum ActivationMemoryType { RESIDENT = 0, SPILLED = 1, RECOMPUTED = 2 };
  ///@{
  /**
   * Where the features of the points wait between two blocks of the network: in memory (RESIDENT,
   * the default), in a temporary file in SpillFolder (SPILLED), or nowhere, computed anew for every
   * block (RECOMPUTED). Changes no result.
   */
  vtkSetMacro(ActivationMemory, int);
  vtkGetMacro(ActivationMemory, int);
  void SetSpillFolder(VTK_FILEPATH const char* folder);
  VTK_FILEPATH const char* GetSpillFolder();
  ///@}

  ///@{
  /** Points that are worked on together; 0, the default, chooses. Changes only the speed. */
  vtkSetMacro(TilePoints, int);
  vtkGetMacro(TilePoints, int);
  ///@}

  /** @name The operator
   * What the file in FileName needs and gives. These load it if that has not happened; they give 0
   * or an empty text where it cannot be loaded.
   */
  ///@{
  /** Loads the file in FileName, if it is not loaded. 1, or 0 after an ErrorEvent. */
  int LoadOperator();
  /** Arrays, coordinates, units and ranges as JSON (docs/operator_file.md). */
  std::string GetContract();
  ///@{
  /** For people, a line per array: "load: point, 1 component, Pa". Valid until the next call. */
  const char* GetOperatorInputs();
  const char* GetOperatorOutputs();
  ///@}
  int GetNumberOfOperatorInputs();
  std::string GetOperatorInputName(int index);
  std::string GetOperatorInputUnit(int index);
  int GetOperatorInputComponents(int index);
  /** vtkDataObject::POINT, CELL or FIELD. */
  int GetOperatorInputAssociation(int index);
  int GetNumberOfOperatorOutputs();
  std::string GetOperatorOutputName(int index);
  std::string GetOperatorOutputUnit(int index);
  int GetOperatorOutputComponents(int index);
  int GetOperatorOutputAssociation(int index);
  /** The names of the outputs. Valid until the next call. */
  vtkStringArray* GetOperatorOutputNames();
  ///@{
  /**
   * The inputs that are parameters: one value for the whole mesh. The range is that of training;
   * where it is not recorded, it is NaN.
   */
  int GetNumberOfOperatorParameters();
  std::string GetOperatorParameterName(int index);
  std::string GetOperatorParameterUnit(int index);
  int GetOperatorParameterComponents(int index);
  double GetOperatorParameterMinimum(int index, int component);
  double GetOperatorParameterMaximum(int index, int component);
  /** A line per parameter: "angle: 1 component, deg, 0 to 10". Valid until the next call. */
  const char* GetOperatorParameters();
  ///@}
  ///@}

  /** @name The last execution */
  ///@{
  /**
   * What the last update or LoadOperator() failed for; empty if it did not. An update fails where
   * the execution does and where VTK does not get as far.
   */
  const char* GetLastError();
  /**
   * Kind of that error: "usage", "file", "operator_file", "data", "numeric", "cancelled", "memory"
   * or "internal"; empty if there was none.
   */
  const char* GetLastErrorKind();
  /** What was remarkable about the last execution: data outside the training range and such. */
  int GetNumberOfWarnings();
  std::string GetWarning(int index);
  ///@{
  /** What it chose for want of something else: the CPU where Device is "auto" and no GPU is there.
   */
  int GetNumberOfNotes();
  std::string GetNote(int index);
  ///@}
  /** Points (or cells) that were masked or dropped by the NaN policy. */
  vtkIdType GetNumberOfUnusable();
  ///@}

  vtkMTimeType GetMTime() override;

 protected:
  vtkNeuralOperator();
  ~vtkNeuralOperator() override;

  vtkExecutive* CreateDefaultExecutive() override;
  int FillInputPortInformation(int port, vtkInformation* info) override;
  int RequestDataObject(vtkInformation* request, vtkInformationVector** inputs,
                        vtkInformationVector* outputs) override;
  int RequestUpdateExtent(vtkInformation* request, vtkInformationVector** inputs,
                          vtkInformationVector* outputs) override;
  int RequestData(vtkInformation* request, vtkInformationVector** inputs,
                  vtkInformationVector* outputs) override;

  int NanPolicy = NAN_ERROR;
  bool Overwrite = false;
  bool Probabilities = false;
  bool PerBlock = false;
  bool InterpolateInputs = false;
  bool ConvertAssociation = false;
  bool AddBasis = false;
  bool AddTransport = false;
  int Threads = 0;
  int ActivationMemory = RESIDENT;
  int TilePoints = 0;

 private:
  vtkNeuralOperator(const vtkNeuralOperator&) = delete;
  void operator=(const vtkNeuralOperator&) = delete;

  friend class vtkNeuralOperatorPipeline;
  struct Internals;
  std::unique_ptr<Internals> Implementation;
};

#endif
