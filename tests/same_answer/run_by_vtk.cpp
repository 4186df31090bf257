// vtkNeuralOperator as a front end: prints what it makes of a mesh that VTK reads.
// Usage: run_by_vtk OPERATOR MESH

#include <vtkDataObject.h>
#include <vtkNew.h>
#include <vtkXMLGenericDataObjectReader.h>
#include <vtkXMLMultiBlockDataReader.h>

#include <iostream>
#include <string>

#include "tests/same_answer/prediction_text.h"
#include "vtkNeuralOperator.h"

namespace {

/// Multi-block files have a reader of their own.
vtkSmartPointer<vtkXMLReader> reader_of(const std::string& mesh) {
  if (mesh.rfind(".vtm") == mesh.size() - 4)
    return vtkSmartPointer<vtkXMLMultiBlockDataReader>::New();
  return vtkSmartPointer<vtkXMLGenericDataObjectReader>::New();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: run_by_vtk OPERATOR MESH\n";
    return 2;
  }
  const auto reader = reader_of(argv[2]);
  reader->SetFileName(argv[2]);
  vtkNew<vtkNeuralOperator> filter;
  filter->SetInputConnection(reader->GetOutputPort());
  filter->SetFileName(argv[1]);
  filter->SetThreads(1);
  filter->Update();
  if (*filter->GetLastError() != '\0') return 1;  // It has said what.
  std::cout << funcattn::test::prediction_text({filter->GetOutputDataObject(0), "the result"});
  return 0;
}
