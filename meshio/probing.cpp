#include "meshio/probing.h"

#include <vtkCellData.h>
#include <vtkCellLocator.h>
#include <vtkGenericCell.h>
#include <vtkIdTypeArray.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkProbeFilter.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "meshio/vtk_messages.h"

namespace funcattn {

namespace {

/// Arrays that sit alike, and what of them is known at the places that they are wanted for.
struct Wanted {
  Association association = Association::point;
  std::vector<ArraySpec> arrays;
  vtkSmartPointer<vtkDataSet> places;
  std::vector<RowMatrix> values;  ///< Of each array, a row for each place.
  std::vector<bool> found;

  bool is_complete() const { return std::find(found.begin(), found.end(), false) == found.end(); }
};

/// The geometry of a part of the source with these arrays: all that VTK shall interpolate.
vtkSmartPointer<vtkDataSet> with_arrays_alone(const Mesh& part, const Wanted& wanted) {
  auto copy = vtkSmartPointer<vtkDataSet>::Take(part.vtk()->NewInstance());
  copy->CopyStructure(part.vtk());
  vtkDataSetAttributes* from = part.vtk()->GetPointData();
  vtkDataSetAttributes* to = copy->GetPointData();
  if (wanted.association == Association::cell) {
    from = part.vtk()->GetCellData();
    to = copy->GetCellData();
  }
  for (const ArraySpec& spec : wanted.arrays)
    to->AddArray(from->GetAbstractArray(spec.name.c_str()));
  return copy;
}

void check_arrays(const Mesh& part, const Wanted& wanted) {
  for (const ArraySpec& spec : wanted.arrays) {
    // Says what there is where the array is absent.
    const int components = part.array(spec.name, spec.association).components();
    if (components != spec.components)
      throw DataError(part.origin() + ": " + to_string(spec.association) + " array '" + spec.name +
                      "' has " + std::to_string(components) + " components, expected " +
                      std::to_string(spec.components));
  }
}

/// Fills the rows that lie in a cell of `part` and are not found yet.
void probe(const Mesh& part, Wanted& wanted) {
  if (part.count(Association::cell) == 0) return;
  VtkMessages messages;
  vtkNew<vtkProbeFilter> filter;
  messages.observe(filter);
  filter->SetInputData(wanted.places);
  filter->SetSourceData(with_arrays_alone(part, wanted));
  filter->Update();
  if (messages.has_errors())
    throw DataError(part.origin() + ": VTK could not interpolate '" + wanted.arrays.front().name +
                    "': " + messages.first_error());
  std::vector<vtkDataArray*> probed;
  for (const ArraySpec& spec : wanted.arrays) {
    probed.push_back(filter->GetOutput()->GetPointData()->GetArray(spec.name.c_str()));
    if (!probed.back())
      throw DataError(part.origin() + ": VTK did not interpolate '" + spec.name + "'");
  }
  vtkIdTypeArray* inside = filter->GetValidPoints();
  for (vtkIdType i = 0; i < inside->GetNumberOfTuples(); ++i) {
    const vtkIdType row = inside->GetValue(i);
    if (wanted.found[static_cast<std::size_t>(row)]) continue;
    for (std::size_t a = 0; a < probed.size(); ++a)
      probed[a]->GetTuple(row, wanted.values[a].row(row).data());
    wanted.found[static_cast<std::size_t>(row)] = true;
  }
}

/// Of the diagonal of a part's box: how far from a cell rounding may put a point of its rim.
constexpr double rim_width = 1e-9;

/// The same for places that VTK's walk from cell to cell has missed: on the rim, where rounding
/// decides, and beside long cells. What lies off all cells by more than rounding stays outside.
void probe_rim(const Mesh& part, Wanted& wanted) {
  if (part.count(Association::cell) == 0) return;
  std::vector<RowMatrix> known;
  for (const ArraySpec& spec : wanted.arrays)
    known.push_back(part.array(spec.name, spec.association).to_double());
  vtkNew<vtkCellLocator> locator;
  locator->SetDataSet(part.vtk());
  locator->BuildLocator();
  vtkNew<vtkGenericCell> cell;
  std::vector<double> shares(static_cast<std::size_t>(part.vtk()->GetMaxCellSize()));
  const double radius = rim_width * part.vtk()->GetLength();
  for (std::size_t i = 0; i < wanted.found.size(); ++i) {
    if (wanted.found[i]) continue;
    double at[3], closest[3], parametric[3], distance = 0;
    const auto row = static_cast<vtkIdType>(i);
    wanted.places->GetPoint(row, at);
    vtkIdType id = -1;
    int part_of_cell = 0;
    if (!std::isfinite(at[0] + at[1] + at[2]) ||
        !locator->FindClosestPointWithinRadius(at, radius, closest, cell, id, part_of_cell,
                                               distance))
      continue;
    wanted.found[i] = true;
    const bool is_constant = wanted.association == Association::cell;
    if (!is_constant)
      cell->EvaluatePosition(closest, nullptr, part_of_cell, parametric, distance, shares.data());
    for (std::size_t a = 0; a < known.size(); ++a) {
      auto values = wanted.values[a].row(row);
      if (is_constant) {
        values = known[a].row(id);
        continue;
      }
      values.setZero();
      for (vtkIdType corner = 0; corner < cell->GetNumberOfPoints(); ++corner)
        values += shares[static_cast<std::size_t>(corner)] *
                  known[a].row(cell->GetPointId(static_cast<int>(corner)));
    }
  }
}

void refuse_places_outside(const Wanted& wanted, const Mesh& source, const Mesh& target) {
  if (wanted.is_complete()) return;
  const auto outside = std::count(wanted.found.begin(), wanted.found.end(), false);
  const auto first = std::find(wanted.found.begin(), wanted.found.end(), false);
  throw DataError(target.origin() + ": " + std::to_string(outside) + " of " +
                  std::to_string(wanted.found.size()) + " " + to_string(wanted.association) +
                  "s lie outside the cells of " + source.origin() + ", the first is " +
                  std::to_string(first - wanted.found.begin()) + "; '" +
                  wanted.arrays.front().name +
                  "' cannot be interpolated there: give the mesh this array, or keep it inside the "
                  "source");
}

}  // namespace

Mesh interpolate_arrays(const std::vector<Mesh>& source, const Mesh& target,
                        const std::vector<ArraySpec>& arrays) {
  Mesh result = target;
  for (const Association association : {Association::point, Association::cell}) {
    Wanted wanted;
    wanted.association = association;
    const Eigen::Index count = target.count(association);
    for (const ArraySpec& spec : arrays)
      if (spec.association == association) {
        wanted.arrays.push_back(spec);
        wanted.values.push_back(RowMatrix::Zero(count, spec.components));
      }
    if (wanted.arrays.empty()) continue;
    wanted.places = make_point_cloud(target.coordinates(association), target.origin()).vtk();
    wanted.found.assign(static_cast<std::size_t>(count), false);
    for (const Mesh& part : source) check_arrays(part, wanted);
    for (const Mesh& part : source) probe(part, wanted);
    for (const Mesh& part : source)
      if (!wanted.is_complete()) probe_rim(part, wanted);
    refuse_places_outside(wanted, source.front(), target);
    for (std::size_t a = 0; a < wanted.arrays.size(); ++a)
      result = result.with_array(wanted.arrays[a], wanted.values[a], true);
  }
  return result;
}

}  // namespace funcattn
