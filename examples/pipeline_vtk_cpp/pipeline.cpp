// A VTK pipeline with the stage in its middle: read, clean, predict, threshold, write.
// Usage: pipeline MESH.vtp OPERATOR.safetensors OUTPUT.vtp [LOWER]

#include <vtkCleanPolyData.h>
#include <vtkDataObject.h>
#include <vtkNeuralOperator.h>
#include <vtkNew.h>
#include <vtkPolyData.h>
#include <vtkThresholdPoints.h>
#include <vtkXMLPolyDataReader.h>
#include <vtkXMLPolyDataWriter.h>

#include <cstdlib>
#include <iostream>

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: pipeline MESH.vtp OPERATOR.safetensors OUTPUT.vtp [LOWER]\n";
    return 2;
  }
  vtkNew<vtkXMLPolyDataReader> reader;
  reader->SetFileName(argv[1]);

  vtkNew<vtkCleanPolyData> clean;
  clean->SetInputConnection(reader->GetOutputPort());

  vtkNew<vtkNeuralOperator> predict;
  predict->SetFileName(argv[2]);
  predict->SetInputConnection(clean->GetOutputPort());

  vtkNew<vtkThresholdPoints> threshold;
  threshold->SetInputConnection(predict->GetOutputPort());
  threshold->SetInputArrayToProcess(0, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS,
                                    "y_predicted");
  threshold->ThresholdByUpper(argc > 4 ? std::atof(argv[4]) : 0.0);

  // A filter that failed has an empty output, which is not to be written.
  predict->Update();
  if (*predict->GetLastError()) return 1;  // VTK has printed it.

  vtkNew<vtkXMLPolyDataWriter> writer;
  writer->SetInputConnection(threshold->GetOutputPort());
  writer->SetFileName(argv[3]);
  if (writer->Write() == 0 || writer->GetErrorCode() != 0) {
    std::cerr << "cannot write " << argv[3] << "\n";
    return 1;
  }
  std::cout << argv[3] << ": " << threshold->GetOutput()->GetNumberOfPoints() << " points\n";
  return 0;
}
