#pragma once

#include <vtkCompositeDataPipeline.h>

/// The executive of vtkNeuralOperator. VTK ends a request that an input failed to answer, or whose
/// inputs are missing or of a wrong type, without a word to the filter, whose output would stay as
/// it was: this one tells it.
class vtkNeuralOperatorPipeline : public vtkCompositeDataPipeline {
 public:
  static vtkNeuralOperatorPipeline* New();
  vtkTypeMacro(vtkNeuralOperatorPipeline, vtkCompositeDataPipeline)

  vtkTypeBool ProcessRequest(vtkInformation* request, vtkInformationVector** inputs,
                             vtkInformationVector* outputs) override;

 protected:
  using vtkCompositeDataPipeline::ForwardUpstream;
  int ForwardUpstream(vtkInformation* request) override;

 private:
  bool upstream_failed_ = false;  ///< In the request at hand.
};
