// filter_in_pieces OPERATOR INPUT.pvtu OUTPUT.pvtu: the filter under a parallel controller, each
// process with its piece.

#include <vtkMPIController.h>
#include <vtkNew.h>
#include <vtkXMLPUnstructuredGridReader.h>
#include <vtkXMLPUnstructuredGridWriter.h>

#include <iostream>

#include "plugin/vtk/module/vtkNeuralOperator.h"

int main(int argc, char** argv) {
  vtkNew<vtkMPIController> controller;
  controller->Initialize(&argc, &argv, 0);
  vtkMultiProcessController::SetGlobalController(controller);
  int status = 2;
  if (argc == 4) {
    vtkNew<vtkXMLPUnstructuredGridReader> reader;
    reader->SetFileName(argv[2]);
    vtkNew<vtkNeuralOperator> filter;
    filter->SetInputConnection(reader->GetOutputPort());
    filter->SetFileName(argv[1]);
    filter->SetThreads(1);
    const int rank = controller->GetLocalProcessId();
    const int size = controller->GetNumberOfProcesses();
    filter->UpdatePiece(rank, size, 0);
    const std::string error = filter->GetLastError() ? filter->GetLastError() : "";
    status = error.empty() ? 0 : 1;
    if (status != 0 && rank == size - 1) std::cout << "last rank: " << error << std::endl;
    if (status == 0) {
      vtkNew<vtkXMLPUnstructuredGridWriter> writer;
      writer->SetInputConnection(filter->GetOutputPort());
      writer->SetFileName(argv[3]);
      writer->SetNumberOfPieces(size);
      writer->SetStartPiece(rank);
      writer->SetEndPiece(rank);
      writer->SetController(controller);
      status = writer->Write() == 1 ? 0 : 1;
    }
  }
  vtkMultiProcessController::SetGlobalController(nullptr);
  controller->Finalize();
  return status;
}
