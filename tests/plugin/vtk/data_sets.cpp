#include "tests/plugin/vtk/data_sets.h"

#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDoubleArray.h>
#include <vtkFloatArray.h>
#include <vtkImageData.h>
#include <vtkInformation.h>
#include <vtkInformationStringKey.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkRectilinearGrid.h>
#include <vtkStructuredGrid.h>

#include <algorithm>
#include <cmath>

#include "tests/plugin/samples.h"

namespace funcattn::test {

namespace {

void add_inputs(vtkDataSet* data, vtkIdType count, bool cells) {
  vtkNew<vtkFloatArray> load;
  load->SetName("load");
  vtkNew<vtkDoubleArray> force;
  force->SetName("force");
  force->SetNumberOfComponents(3);
  for (vtkIdType i = 0; i < count; ++i) {
    const auto t = static_cast<double>(i);
    load->InsertNextValue(static_cast<float>(std::sin(t)));
    force->InsertNextTuple3(std::cos(t), 0.01 * t, 2);
  }
  vtkDataSetAttributes* fields = data->GetPointData();
  if (cells) fields = data->GetCellData();
  fields->AddArray(load);
  fields->AddArray(force);
}

vtkSmartPointer<vtkDataSet> with_inputs(vtkDataSet* data) {
  add_inputs(data, data->GetNumberOfPoints(), false);
  add_inputs(data, data->GetNumberOfCells(), true);
  return data;
}

}  // namespace

vtkSmartPointer<vtkDataSet> make_image() {
  vtkNew<vtkImageData> image;
  image->SetExtent(2, 7, 0, 4, 0, 0);
  image->SetOrigin(-0.2, 0, 0);
  image->SetSpacing(0.125, 0.25, 1);
  return with_inputs(image);
}

vtkSmartPointer<vtkDataSet> make_rectilinear_grid() {
  vtkNew<vtkRectilinearGrid> grid;
  grid->SetDimensions(4, 3, 1);
  vtkNew<vtkDoubleArray> x;
  for (const double value : {0.0, 0.1, 0.4, 1.0}) x->InsertNextValue(value);
  vtkNew<vtkDoubleArray> y;
  for (const double value : {0.0, 0.5, 0.6}) y->InsertNextValue(value);
  vtkNew<vtkDoubleArray> z;
  z->InsertNextValue(0);
  grid->SetXCoordinates(x);
  grid->SetYCoordinates(y);
  grid->SetZCoordinates(z);
  return with_inputs(grid);
}

vtkSmartPointer<vtkDataSet> make_structured_grid() {
  vtkNew<vtkStructuredGrid> grid;
  grid->SetDimensions(5, 4, 1);
  vtkNew<vtkPoints> points;
  for (int j = 0; j < 4; ++j)
    for (int i = 0; i < 5; ++i) points->InsertNextPoint(0.2 * i + 0.03 * j, 0.3 * j, 0);
  grid->SetPoints(points);
  return with_inputs(grid);
}

vtkSmartPointer<vtkDataSet> make_surface() {
  vtkNew<vtkPolyData> surface;
  vtkNew<vtkPoints> points;
  vtkNew<vtkCellArray> polygons;
  for (int i = 0; i < 12; ++i) points->InsertNextPoint(0.08 * i, 0.5 + 0.4 * std::sin(i), 0);
  for (vtkIdType i = 0; i + 2 < 12; ++i) {
    const vtkIdType corners[3] = {i, i + 1, i + 2};
    polygons->InsertNextCell(3, corners);
  }
  surface->SetPoints(points);
  surface->SetPolys(polygons);
  return with_inputs(surface);
}

vtkSmartPointer<vtkDataSet> make_unstructured_grid() {
  return make_grid(6, 5).vtk();
}

vtkSmartPointer<vtkMultiBlockDataSet> make_blocks() {
  vtkNew<vtkMultiBlockDataSet> nested;
  nested->SetNumberOfBlocks(2);
  nested->SetBlock(1, make_surface());
  nested->GetMetaData(1u)->Set(vtkCompositeDataSet::NAME(), "inner");
  auto blocks = vtkSmartPointer<vtkMultiBlockDataSet>::New();
  blocks->SetNumberOfBlocks(3);
  blocks->SetBlock(0, make_unstructured_grid());
  blocks->GetMetaData(0u)->Set(vtkCompositeDataSet::NAME(), "left");
  blocks->SetBlock(2, nested);
  blocks->GetMetaData(2u)->Set(vtkCompositeDataSet::NAME(), "nested");
  return blocks;
}

std::vector<double> values_of(vtkDataSet* data, const char* name, bool cells) {
  vtkDataSetAttributes* fields = data->GetPointData();
  if (cells) fields = data->GetCellData();
  std::vector<double> values;
  vtkDataArray* array = fields->GetArray(name);
  if (!array) return values;
  std::vector<double> row(static_cast<std::size_t>(array->GetNumberOfComponents()));
  for (vtkIdType i = 0; i < array->GetNumberOfTuples(); ++i) {
    array->GetTuple(i, row.data());
    values.insert(values.end(), row.begin(), row.end());
  }
  return values;
}

EventTexts::EventTexts(vtkObject* object, unsigned long event)
    : object_(object), tag_(object->AddObserver(event, this, &EventTexts::add)) {}

EventTexts::~EventTexts() {
  object_->RemoveObserver(tag_);
}

bool EventTexts::contain(const std::string& part) const {
  return std::any_of(texts_.begin(), texts_.end(),
                     [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

void EventTexts::add(vtkObject*, unsigned long event, void* data) {
  const bool has_text = event == vtkCommand::ErrorEvent || event == vtkCommand::WarningEvent;
  texts_.emplace_back(has_text && data ? static_cast<const char*>(data) : "");
}

}  // namespace funcattn::test
