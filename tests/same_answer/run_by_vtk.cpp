// Runs vtkNeuralOperator in a pipeline and prints its predictions.

#include <vtkDataObject.h>
#include <vtkNeuralOperator.h>
#include <vtkNew.h>

#include <iostream>

#include "meshio/reader.h"
#include "tests/same_answer/prediction_text.h"

int main(int argc, char** argv) {
  try {
    if (argc != 3) throw std::runtime_error("usage: run_by_vtk OPERATOR MESH");
    vtkNew<vtkNeuralOperator> filter;
    filter->SetFileName(argv[1]);
    filter->SetInputDataObject(0, funcattn::read_mesh_tree(argv[2]).vtk());
    filter->Update();
    if (*filter->GetLastError()) return 1;
    std::cout << funcattn::test::prediction_text({filter->GetOutputDataObject(0), argv[2]});
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
