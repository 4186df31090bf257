#pragma once

// ParaView's pipelines ask for times and pieces in ways of their own.
#ifdef FUNCATTN_FOR_PARAVIEW
#include <vtkPVCompositeDataPipeline.h>
using vtkNeuralOperatorPipelineBase = vtkPVCompositeDataPipeline;
#else
#include <vtkCompositeDataPipeline.h>
using vtkNeuralOperatorPipelineBase = vtkCompositeDataPipeline;
#endif

/// The executive of vtkNeuralOperator. VTK ends a request that an input failed to answer, or whose
/// inputs are missing or of a wrong type, without a word to the filter, whose output would stay as
/// it was: this one tells it.
class vtkNeuralOperatorPipeline : public vtkNeuralOperatorPipelineBase {
 public:
  static vtkNeuralOperatorPipeline* New();
  vtkTypeMacro(vtkNeuralOperatorPipeline, vtkNeuralOperatorPipelineBase)

  using vtkNeuralOperatorPipelineBase::Update;
  vtkTypeBool Update(int port, vtkInformationVector* requests) override;
  vtkTypeBool ProcessRequest(vtkInformation* request, vtkInformationVector** inputs,
                             vtkInformationVector* outputs) override;

 protected:
  using vtkNeuralOperatorPipelineBase::ForwardUpstream;
  int ForwardUpstream(vtkInformation* request) override;

 private:
  bool upstream_failed_ = false;  ///< In the request at hand.
  bool told_others_ = false;      ///< In the update at hand.
};
