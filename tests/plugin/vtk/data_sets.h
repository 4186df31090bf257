#pragma once

// Data sets of every type with the inputs of the surrogate (tests/plugin/samples.h), and what the
// tests of the filter look at.

#include <vtkCommand.h>
#include <vtkDataSet.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkNew.h>
#include <vtkObject.h>
#include <vtkSmartPointer.h>

#include <string>
#include <vector>

namespace funcattn::test {

vtkSmartPointer<vtkDataSet> make_image();
vtkSmartPointer<vtkDataSet> make_rectilinear_grid();
vtkSmartPointer<vtkDataSet> make_structured_grid();
vtkSmartPointer<vtkDataSet> make_surface();            ///< vtkPolyData
vtkSmartPointer<vtkDataSet> make_unstructured_grid();  ///< make_grid()

/// Blocks "left", a null block, and "nested" with "inner" and a null block in it.
vtkSmartPointer<vtkMultiBlockDataSet> make_blocks();

/// The values of a point or cell array, row after row; empty if there is none.
std::vector<double> values_of(vtkDataSet* data, const char* name, bool cells = false);

/// Collects the texts of one kind of event of an object while it lives.
class EventTexts {
 public:
  EventTexts(vtkObject* object, unsigned long event);
  ~EventTexts();
  const std::vector<std::string>& texts() const { return texts_; }
  std::size_t count() const { return texts_.size(); }
  bool contain(const std::string& part) const;

 private:
  void add(vtkObject* caller, unsigned long event, void* data);
  vtkObject* object_;
  unsigned long tag_;
  std::vector<std::string> texts_;
};

}  // namespace funcattn::test
