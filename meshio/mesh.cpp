#include "meshio/mesh.h"

#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDoubleArray.h>
#include <vtkInformation.h>
#include <vtkInformationStringKey.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPointSet.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>

#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "core/text.h"
#include "meshio/added_arrays.h"
#include "meshio/attributes.h"
#include "meshio/cells.h"
#include "meshio/data_set_check.h"
#include "meshio/field_data.h"
#include "meshio/ghosts.h"
#include "meshio/large_pages.h"

namespace funcattn {

namespace {

std::vector<std::string> names(vtkDataSet* data, Association association) {
  std::vector<std::string> found;
  vtkDataSetAttributes* fields = attributes_of(data, association);
  for (int i = 0; i < fields->GetNumberOfArrays(); ++i)
    if (const char* name = fields->GetAbstractArray(i)->GetName()) found.emplace_back(name);
  return found;
}

std::string list_of(vtkDataSet* data, Association association) {
  const auto found = names(data, association);
  if (found.empty()) return std::string("no ") + to_string(association) + " arrays";
  return std::string(to_string(association)) + (found.size() == 1 ? " array " : " arrays ") +
         join(found, ", ");
}

Association other(Association association) {
  return association == Association::point ? Association::cell : Association::point;
}

/// What to tell somebody who asked for an array that is not there.
std::string absence(vtkDataSet* data, const std::string& origin, const std::string& name,
                    Association association) {
  std::string message = origin + ": there is no " + to_string(association) + " array '" + name +
                        "'; the mesh has " + list_of(data, Association::point) + "; " +
                        list_of(data, Association::cell);
  const auto elsewhere = names(data, other(association));
  if (std::find(elsewhere.begin(), elsewhere.end(), name) != elsewhere.end())
    return message + "; '" + name + "' exists only as a " + to_string(other(association)) +
           " array: convert it or ask for the " + to_string(other(association)) + " array";
  if (const auto near = closest_match(name, names(data, association)))
    return message + "; did you mean '" + *near + "'?";
  return message;
}

vtkSmartPointer<vtkPoints> points_of(const RowMatrix& coordinates) {
  if (coordinates.cols() != 3)
    throw DataError("coordinates have " + std::to_string(coordinates.cols()) +
                    " columns, expected 3");
  vtkNew<vtkDoubleArray> values;
  values->SetNumberOfComponents(3);
  values->SetNumberOfTuples(coordinates.rows());
  std::copy_n(coordinates.data(), coordinates.size(), values->GetPointer(0));
  auto points = vtkSmartPointer<vtkPoints>::New();
  points->SetData(values);
  return points;
}

void insert_vertices(vtkPolyData* data) {
  vtkNew<vtkCellArray> vertices;
  for (vtkIdType i = 0; i < data->GetNumberOfPoints(); ++i) vertices->InsertNextCell(1, &i);
  data->SetVerts(vertices);
}

}  // namespace

Mesh::Mesh(vtkSmartPointer<vtkDataSet> data, std::string origin)
    : data_(std::move(data)), origin_(std::move(origin)) {
  if (!data_) throw DataError(origin_ + ": no data set was given");
}

Eigen::Index Mesh::count(Association association) const {
  return association == Association::point ? data_->GetNumberOfPoints() : data_->GetNumberOfCells();
}

RowMatrix Mesh::coordinates(Association association) const {
  return coordinate_view(association).matrix();
}

DoubleView Mesh::coordinate_view(Association association) const {
  if (association == Association::cell)
    return DoubleView(std::make_shared<const RowMatrix>(cell_centres()));
  auto* point_set = vtkPointSet::SafeDownCast(data_);
  if (point_set && point_set->GetPoints())
    return ArrayView(point_set->GetPoints()->GetData()).doubles();
  const vtkIdType count = data_->GetNumberOfPoints();
  auto points = std::make_shared<RowMatrix>(count, 3);
  for (vtkIdType i = 0; i < count; ++i) data_->GetPoint(i, points->row(i).data());
  return DoubleView(std::move(points));
}

RowMatrix Mesh::cell_centres() const {
  try {
    check_cells(data_);
  } catch (const DataError& error) {
    throw DataError(origin_ + ": " + error.what());
  }
  const DoubleView view = coordinate_view(Association::point);
  const auto points = view.matrix();
  RowMatrix centres = RowMatrix::Zero(data_->GetNumberOfCells(), 3);
  for_each_cell(data_, [&](const CellView& cell) {
    if (cell.size == 0) return;
    // Relative to the first point: far from the origin a plain sum would lose digits.
    const Eigen::RowVector3d first = points.row(cell.points[0]);
    Eigen::RowVector3d sum = Eigen::RowVector3d::Zero();
    for (vtkIdType i = 1; i < cell.size; ++i) sum += points.row(cell.points[i]) - first;
    centres.row(cell.id) = first + sum / static_cast<double>(cell.size);
  });
  return centres;
}

void Mesh::copy_coordinates(Association association, const std::vector<int>& axes,
                            double* target) const {
  const auto width = static_cast<Eigen::Index>(axes.size());
  auto* point_set = vtkPointSet::SafeDownCast(data_);
  if (association == Association::point && point_set && point_set->GetPoints()) {
    ArrayView(point_set->GetPoints()->GetData()).copy_columns(axes, target, width);
    return;
  }
  const RowMatrix all = coordinates(association);
  for (Eigen::Index row = 0; row < all.rows(); ++row)
    for (Eigen::Index i = 0; i < width; ++i)
      *target++ = all(row, axes[static_cast<std::size_t>(i)]);
}

std::vector<ArraySpec> Mesh::arrays() const {
  std::vector<ArraySpec> specs;
  for (const Association association : {Association::point, Association::cell}) {
    vtkDataSetAttributes* fields = attributes_of(data_, association);
    for (int i = 0; i < fields->GetNumberOfArrays(); ++i) {
      vtkDataArray* array = fields->GetArray(i);
      if (!array || array->GetDataType() == VTK_BIT || !array->GetName()) continue;
      ArraySpec spec{array->GetName(), association, array->GetNumberOfComponents(), ""};
      if (array->HasInformation() && array->GetInformation()->Has(vtkDataArray::UNITS_LABEL()))
        spec.unit = array->GetInformation()->Get(vtkDataArray::UNITS_LABEL());
      specs.push_back(std::move(spec));
    }
  }
  return specs;
}

bool Mesh::has_array(const std::string& name, Association association) const {
  const auto found = names(data_, association);
  return std::find(found.begin(), found.end(), name) != found.end();
}

ArrayView Mesh::array(const std::string& name, Association association) const {
  const std::string described = std::string(to_string(association)) + " array '" + name + "'";
  const auto found = names(data_, association);
  const auto matches = std::count(found.begin(), found.end(), name);
  if (matches == 0) throw DataError(absence(data_, origin_, name, association));
  if (matches > 1)
    throw DataError(origin_ + ": there are " + std::to_string(matches) +
                    " arrays with the name of " + described +
                    ", expected one; rename or remove the others");
  vtkAbstractArray* values = attributes_of(data_, association)->GetAbstractArray(name.c_str());
  if (values->GetNumberOfTuples() != count(association))
    throw DataError(origin_ + ": " + described + " has " +
                    std::to_string(values->GetNumberOfTuples()) + " rows, expected one per " +
                    to_string(association) + ": " + std::to_string(count(association)));
  auto* numeric = vtkDataArray::SafeDownCast(values);
  if (!numeric)
    throw DataError(origin_ + ": " + described + " holds values of type '" +
                    values->GetDataTypeAsString() + "', expected numbers");
  try {
    return ArrayView(numeric);
  } catch (const DataError& error) {
    throw DataError(origin_ + ": " + error.what());
  }
}

std::vector<std::string> Mesh::component_names(const std::string& name,
                                               Association association) const {
  vtkAbstractArray* array = attributes_of(data_, association)->GetAbstractArray(name.c_str());
  if (!array) throw DataError(absence(data_, origin_, name, association));
  std::vector<std::string> found;
  for (int i = 0; i < array->GetNumberOfComponents(); ++i) {
    const char* component = array->GetComponentName(i);
    found.emplace_back(component ? component : "");
  }
  return found;
}

std::vector<std::string> Mesh::field_names() const {
  return funcattn::field_names(data_);
}

ArrayView Mesh::field(const std::string& name) const {
  vtkFieldData* fields = data_->GetFieldData();
  auto* array =
      fields ? vtkDataArray::SafeDownCast(fields->GetAbstractArray(name.c_str())) : nullptr;
  if (!array) {
    const auto found = field_names();
    throw DataError(origin_ + ": there is no numeric field array '" + name + "'; the mesh has " +
                    (found.empty() ? std::string("none") : join(found, ", ")));
  }
  try {
    return ArrayView(array);
  } catch (const DataError& error) {
    throw DataError(origin_ + ": " + error.what());
  }
}

Mesh Mesh::with_array(const ArraySpec& spec, const RowMatrix& values, bool overwrite) const {
  const std::string described =
      origin_ + ": " + to_string(spec.association) + " array '" + spec.name + "'";
  if (spec.name.empty()) throw DataError(origin_ + ": a new array needs a name");
  if (!overwrite && has_array(spec.name, spec.association))
    throw DataError(described + " exists already; choose another name or allow overwriting");
  if (values.rows() != count(spec.association) || values.cols() != spec.components)
    throw DataError(described + " would be " + std::to_string(values.rows()) + " x " +
                    std::to_string(values.cols()) + " values, expected " +
                    std::to_string(count(spec.association)) + " x " +
                    std::to_string(spec.components));
  vtkNew<vtkDoubleArray> array;
  array->SetName(spec.name.c_str());
  array->SetNumberOfComponents(spec.components);
  array->SetNumberOfTuples(values.rows());
  std::copy_n(values.data(), values.size(), array->GetPointer(0));
  if (!spec.unit.empty())
    array->GetInformation()->Set(vtkDataArray::UNITS_LABEL(), spec.unit.c_str());
  return with_arrays(*this, {array.Get()}, spec.association);
}

Eigen::VectorXd Mesh::presence(Association association) const {
  Eigen::VectorXd present = in_large_pages(Eigen::VectorXd(count(association)));
  present.setOnes();
  try {
    vtkUnsignedCharArray* flags = ghost_flags(data_, association);
    const int absent = association == Association::point ? kAbsentPoint : kAbsentCell;
    for (vtkIdType i = 0; flags && i < present.size(); ++i)
      if (flags->GetValue(i) & absent) present[i] = 0;
  } catch (const DataError& error) {
    throw DataError(origin_ + ": " + error.what());
  }
  return present;
}

Mesh make_polyline(const RowMatrix& coordinates, std::string origin) {
  vtkNew<vtkPolyData> data;
  data->SetPoints(points_of(coordinates));
  if (coordinates.rows() == 1) {
    insert_vertices(data);
  } else if (coordinates.rows() > 1) {
    vtkNew<vtkCellArray> lines;
    lines->InsertNextCell(static_cast<int>(coordinates.rows()));
    for (vtkIdType i = 0; i < coordinates.rows(); ++i) lines->InsertCellPoint(i);
    data->SetLines(lines);
  }
  return Mesh(data.GetPointer(), std::move(origin));
}

Mesh make_point_cloud(const RowMatrix& coordinates, std::string origin) {
  vtkNew<vtkPolyData> data;
  data->SetPoints(points_of(coordinates));
  insert_vertices(data);
  return Mesh(data.GetPointer(), std::move(origin));
}

}  // namespace funcattn
