#include "vtkNeuralOperatorPipeline.h"

#include <vtkAlgorithm.h>
#include <vtkCompositeDataSet.h>
#include <vtkDataSet.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkObjectFactory.h>

#include <string>

#include "core/error.h"
#include "vtkNeuralOperatorInternals.h"

vtkStandardNewMacro(vtkNeuralOperatorPipeline);

namespace {

const char* name_of(int port) {
  return port == 0 ? "input" : "query";
}

std::string class_of_source(vtkAlgorithm* filter, int port) {
  return filter->GetInputAlgorithm(port, 0)->GetClassName();
}

/// What is wrong with the data at a port; empty if nothing is.
NeuralOperatorFailure failure_of_connection(vtkAlgorithm* filter, int port) {
  const int count = filter->GetNumberOfInputConnections(port);
  if (count == 0 && port == 0)
    return {"usage", "the filter has no input; connect a data set or a tree of them to port 0"};
  if (count > 1)
    return {"usage", "the " + std::string(name_of(port)) + " has " + std::to_string(count) +
                         " connections, expected one; join the data before the filter"};
  vtkDataObject* data = count == 1 ? filter->GetInputDataObject(port, 0) : nullptr;
  if (data && !vtkDataSet::SafeDownCast(data) && !vtkCompositeDataSet::SafeDownCast(data))
    return {"data", "the " + std::string(name_of(port)) + " is a " + data->GetClassName() +
                        ", expected a vtkDataSet or a tree of them (vtkCompositeDataSet)"};
  return {};
}

NeuralOperatorFailure failure_upstream(vtkAlgorithm* filter) {
  std::string sources = "the input (" + class_of_source(filter, 0) + ")";
  if (filter->GetNumberOfInputConnections(1) > 0)
    sources += " or of the query (" + class_of_source(filter, 1) + ")";
  return {"data", "there are no data to work on: the update of " + sources +
                      " failed; VTK's error messages say why"};
}

/// Ends the processes that wait for this one.
void tell_others(vtkInformation* output, const std::string& text) {
  const auto group = output ? group_for(output) : nullptr;
  try {
    funcattn::run_together(group.get(), [&] {
      if (group) throw funcattn::DataError(text);
    });
  } catch (const funcattn::Error&) {
    // It has been said here.
  }
}

}  // namespace

vtkTypeBool vtkNeuralOperatorPipeline::Update(int port, vtkInformationVector* requests) {
  auto* filter = vtkNeuralOperator::SafeDownCast(this->GetAlgorithm());
  told_others_ = false;
  const int executions = filter ? filter->Implementation->executions : 0;
  const vtkTypeBool done = this->Superclass::Update(port, requests);
  // It failed before data were asked for, while the others ask for theirs.
  if (!done && filter && !told_others_ && requests &&
      filter->Implementation->executions == executions)
    tell_others(requests->GetInformationObject(port), filter->Implementation->failure.text);
  return done;
}

vtkTypeBool vtkNeuralOperatorPipeline::ProcessRequest(vtkInformation* request,
                                                      vtkInformationVector** inputs,
                                                      vtkInformationVector* outputs) {
  auto* filter = vtkNeuralOperator::SafeDownCast(this->GetAlgorithm());
  if (!filter) return this->Superclass::ProcessRequest(request, inputs, outputs);
  vtkNeuralOperator::Internals& internals = *filter->Implementation;
  const int executions = internals.executions;
  upstream_failed_ = false;
  const vtkTypeBool done = this->Superclass::ProcessRequest(request, inputs, outputs);
  if (done || internals.executions != executions) return done;

  NeuralOperatorFailure failure = failure_of_connection(filter, 0);
  if (failure.text.empty()) failure = failure_of_connection(filter, 1);
  if (failure.text.empty() && upstream_failed_) {
    failure = failure_upstream(filter);
    if (request->Has(REQUEST_DATA())) {
      internals.failed_inputs = vtkNeuralOperator::Internals::inputs_of(*filter);
      internals.source_failure = failure;
    }
  }
  if (failure.text.empty())
    failure = {"usage",
               "VTK refused the request before it reached the filter; its error messages say why"};
  internals.report = {};
  internals.failure = failure;
  internals.incomplete = true;
  if (vtkDataObject* output = vtkDataObject::GetData(outputs, 0)) output->Initialize();
  vtkErrorWithObjectMacro(filter, << failure.text);
  if (request->Has(REQUEST_DATA())) {
    told_others_ = true;
    tell_others(outputs->GetInformationObject(0), failure.text);
  }
  return done;
}

int vtkNeuralOperatorPipeline::ForwardUpstream(vtkInformation* request) {
  const int done = this->Superclass::ForwardUpstream(request);
  upstream_failed_ = !done;
  return done;
}
