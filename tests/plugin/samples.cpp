#include "tests/plugin/samples.h"

#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDoubleArray.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkUnstructuredGrid.h>

#include <cmath>
#include <limits>

namespace funcattn::test {

namespace {

vtkDataSetAttributes* fields(vtkDataSet* data, Association association) {
  if (association == Association::point) return data->GetPointData();
  return data->GetCellData();
}

Mesh shallow_copy(const Mesh& mesh) {
  auto copy = vtkSmartPointer<vtkDataSet>::Take(mesh.vtk()->NewInstance());
  copy->ShallowCopy(mesh.vtk());
  return {copy, mesh.origin()};
}

Mesh with_inputs(const Mesh& mesh, Association association, double phase) {
  const RowMatrix at = mesh.coordinates(association);
  RowMatrix load(at.rows(), 1);
  RowMatrix force(at.rows(), 3);
  for (Eigen::Index i = 0; i < at.rows(); ++i) {
    load(i, 0) = std::sin(5 * at(i, 0) + phase) + at(i, 1);
    force.row(i) << at(i, 0) - phase, at(i, 1) * at(i, 0), 2;
  }
  return mesh.with_array({"load", association, 1, ""}, load)
      .with_array({"force", association, 3, ""}, force);
}

}  // namespace

Operator make_surrogate(Association association, torch::Dtype dtype) {
  ModelConfig config;
  config.form = Form::shared_basis;
  config.coordinate_dimension = 2;
  config.value_features = 4;
  config.out_features = 4;
  config.width = 8;
  config.heads = 2;
  config.basis = 5;
  config.blocks = 2;
  Contract contract;
  contract.inputs.resize(2);
  contract.inputs[0].name = "load";
  contract.inputs[1].name = "force";
  contract.inputs[1].components = 3;
  for (auto& input : contract.inputs) input.association = association;
  contract.outputs = {{"pressure", association, 1, "Pa"}, {"displacement", association, 3, "m"}};
  contract.coordinates.axes = {0, 1};
  contract.coordinates.center = {0.5, 0.5};
  contract.coordinates.scale = 0.5;
  contract.input_normalisation = {{0.5, 0, 0, 2}, {1, 0.5, 0.5, 1}};
  contract.output_normalisation = {{10, 0, 0, 0}, {4, 1, 1, 1}};
  contract.weights = "measure";
  contract.min_points = 10;
  contract.max_points = 100;
  contract.bounds_min = {0, 0};
  contract.bounds_max = {1, 1};
  return {make_model(config, dtype, 7), contract};
}

Operator make_deep(torch::Dtype dtype) {
  const Operator op = make_surrogate(Association::point, dtype);
  ModelConfig config = op.model().config();
  config.blocks = 8;
  const auto model = make_model(config, dtype, 7);
  const torch::NoGradGuard no_gradients;
  torch::manual_seed(3);
  for (auto& parameter : model->named_parameters()) {
    Tensor& value = parameter.value();
    if (value.dim() > 1 && parameter.key().find("temperature") == std::string::npos)
      value.mul_(std::sqrt(3.0));  // Linear layers then keep the variance.
    else
      value.add_(torch::randn_like(value), 0.1);
  }
  return {model, op.contract()};
}

Operator make_parametric(Association association) {
  const Operator op = make_surrogate(association);
  Contract contract = op.contract();
  InputArray& force = contract.inputs[1];
  force.role = InputRole::parameter;
  force.unit = "N";
  force.min = {0, -1, 2};
  force.max = {1, 0, 2};
  return {op.shared_model(), contract};
}

Operator make_regression() {
  ModelConfig config;
  config.form = Form::few_shot;
  config.coordinate_dimension = 1;
  config.value_features = 1;
  config.out_features = 1;
  config.width = 16;
  config.heads = 1;
  config.basis = 6;
  Contract contract;
  contract.inputs.resize(2);
  contract.inputs[0].name = "y";
  contract.inputs[1].name = "known";
  contract.inputs[1].role = InputRole::source_flag;
  contract.outputs = {{"y", Association::point, 1, ""}};
  contract.coordinates.axes = {0};
  contract.coordinates.center = {0.5};
  return {make_model(config, torch::kFloat64, 3), contract};
}

Mesh make_grid(int columns, int rows) {
  vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  for (int j = 0; j < rows; ++j)
    for (int i = 0; i < columns; ++i) {
      const double x = static_cast<double>(i) / (columns - 1);
      const double y = static_cast<double>(j) / (rows - 1);
      points->InsertNextPoint(x * x, y + 0.2 * x * y * (1 - y), 0);
    }
  vtkNew<vtkUnstructuredGrid> grid;
  grid->SetPoints(points);
  for (int j = 0; j + 1 < rows; ++j)
    for (int i = 0; i + 1 < columns; ++i) {
      const vtkIdType corner = j * columns + i;
      const vtkIdType lower[3] = {corner, corner + 1, corner + columns};
      const vtkIdType upper[3] = {corner + 1, corner + columns + 1, corner + columns};
      grid->InsertNextCell(VTK_TRIANGLE, 3, lower);
      grid->InsertNextCell(VTK_TRIANGLE, 3, upper);
    }
  const Mesh mesh(grid.GetPointer(), "grid.vtu");
  return with_inputs(with_inputs(mesh, Association::point, 0), Association::cell, 1);
}

Mesh make_scattered_line(int points, int stride) {
  RowMatrix coordinates = RowMatrix::Zero(points, 3);
  RowMatrix y(points, 1);
  RowMatrix known(points, 1);
  for (int i = 0; i < points; ++i) {
    coordinates(i, 0) = points > 1 ? static_cast<double>(i) / (points - 1) : 0;
    known(i, 0) = i % stride == 0 ? 1 : 0;
    y(i, 0) = i % stride == 0 ? std::sin(6 * coordinates(i, 0))
                              : std::numeric_limits<double>::quiet_NaN();
  }
  return make_polyline(coordinates, "line.vtp")
      .with_array({"y", Association::point, 1, ""}, y)
      .with_array({"known", Association::point, 1, ""}, known);
}

Mesh with_value(const Mesh& mesh, const std::string& array, Association association,
                Eigen::Index index, double value) {
  RowMatrix values = mesh.array(array, association).to_double();
  values.row(index).setConstant(value);
  const int components = static_cast<int>(values.cols());
  return mesh.with_array({array, association, components, ""}, values, true);
}

Mesh without_array(const Mesh& mesh, const std::string& array, Association association) {
  Mesh copy = shallow_copy(mesh);
  fields(copy.vtk(), association)->RemoveArray(array.c_str());
  return copy;
}

}  // namespace funcattn::test
