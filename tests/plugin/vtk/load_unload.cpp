// Loads the filter's library, runs it and unloads it three times, as hosts with plugins do; leaves
// with exit status 7, which nothing of the library may change.
// Usage: load_unload LIBRARY OPERATOR MESH.vtp ARRAY

#include <dlfcn.h>
#include <vtkAlgorithm.h>
#include <vtkDataArray.h>
#include <vtkDataSet.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkXMLPolyDataReader.h>

#include <cstdlib>
#include <iostream>
#include <vector>

namespace {

[[noreturn]] void fail(const char* what) {
  std::cerr << what << "\n";
  std::exit(1);
}

template <typename Function>
Function* symbol(void* library, const char* name) {
  void* found = ::dlsym(library, name);
  if (!found) fail(::dlerror());
  return reinterpret_cast<Function*>(found);
}

std::vector<double> run_once(char** arguments) {
  void* library = ::dlopen(arguments[0], RTLD_NOW | RTLD_LOCAL);
  if (!library) fail(::dlerror());
  std::vector<double> values;
  {
    vtkNew<vtkXMLPolyDataReader> reader;
    reader->SetFileName(arguments[2]);
    auto* filter = symbol<vtkAlgorithm*()>(library, "_ZN17vtkNeuralOperator3NewEv")();
    symbol<void(vtkAlgorithm*, const char*)>(library, "_ZN17vtkNeuralOperator11SetFileNameEPKc")(
        filter, arguments[1]);
    filter->SetInputConnection(0, reader->GetOutputPort());
    filter->Update();
    auto* output = vtkDataSet::SafeDownCast(filter->GetOutputDataObject(0));
    vtkDataArray* array = output ? output->GetPointData()->GetArray(arguments[3]) : nullptr;
    if (!array) fail("the filter gave no prediction");
    for (vtkIdType i = 0; i < array->GetNumberOfTuples(); ++i)
      values.push_back(array->GetTuple1(i));
    filter->Delete();
  }
  if (::dlclose(library) != 0) fail(::dlerror());
  return values;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) fail("usage: load_unload LIBRARY OPERATOR MESH.vtp ARRAY");
  const std::vector<double> first = run_once(argv + 1);
  for (int i = 0; i < 2; ++i)
    if (run_once(argv + 1) != first) fail("another run gave other values");
  return first.empty() ? 1 : 7;
}
