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

/// The geometry of a part of the source with one array of it: all that VTK shall interpolate.
vtkSmartPointer<vtkDataSet> with_one_array(const Mesh& part, const ArraySpec& spec) {
  (void)part.array(spec.name, spec.association);  // Says what there is where the array is absent.
  auto copy = vtkSmartPointer<vtkDataSet>::Take(part.vtk()->NewInstance());
  copy->CopyStructure(part.vtk());
  vtkDataSetAttributes* from = part.vtk()->GetPointData();
  vtkDataSetAttributes* to = copy->GetPointData();
  if (spec.association == Association::cell) {
    from = part.vtk()->GetCellData();
    to = copy->GetCellData();
  }
  to->AddArray(from->GetAbstractArray(spec.name.c_str()));
  return copy;
}

/// Fills the rows of `values` that lie in a cell of `part` and are not `found` yet.
void probe(const Mesh& part, const ArraySpec& spec, vtkDataSet* places, RowMatrix& values,
           std::vector<bool>& found) {
  if (part.count(Association::cell) == 0) return;
  VtkMessages messages;
  vtkNew<vtkProbeFilter> filter;
  messages.observe(filter);
  filter->SetInputData(places);
  filter->SetSourceData(with_one_array(part, spec));
  filter->Update();
  if (messages.has_errors())
    throw DataError(part.origin() + ": VTK could not interpolate '" + spec.name +
                    "': " + messages.first_error());
  vtkDataArray* probed = filter->GetOutput()->GetPointData()->GetArray(spec.name.c_str());
  vtkIdTypeArray* inside = filter->GetValidPoints();
  for (vtkIdType i = 0; probed && i < inside->GetNumberOfTuples(); ++i) {
    const vtkIdType row = inside->GetValue(i);
    if (found[static_cast<std::size_t>(row)]) continue;
    probed->GetTuple(row, values.row(row).data());
    found[static_cast<std::size_t>(row)] = true;
  }
}

/// Of the diagonal of a part's box: how far from a cell rounding may put a point of its rim.
constexpr double rim_width = 1e-9;

/// The same for places that VTK's walk from cell to cell has missed: on the rim, where rounding
/// decides, and beside long cells. What lies off all cells by more than rounding stays outside.
void probe_rim(const Mesh& part, const ArraySpec& spec, vtkDataSet* places, RowMatrix& values,
               std::vector<bool>& found) {
  if (part.count(Association::cell) == 0) return;
  const RowMatrix known = part.array(spec.name, spec.association).to_double();
  vtkNew<vtkCellLocator> locator;
  locator->SetDataSet(part.vtk());
  locator->BuildLocator();
  vtkNew<vtkGenericCell> cell;
  std::vector<double> shares(static_cast<std::size_t>(part.vtk()->GetMaxCellSize()));
  const double radius = rim_width * part.vtk()->GetLength();
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i]) continue;
    double at[3], closest[3], parametric[3], distance = 0;
    const auto row = static_cast<vtkIdType>(i);
    places->GetPoint(row, at);
    vtkIdType id = -1;
    int part_of_cell = 0;
    if (!std::isfinite(at[0] + at[1] + at[2]) ||
        !locator->FindClosestPointWithinRadius(at, radius, closest, cell, id, part_of_cell,
                                               distance))
      continue;
    found[i] = true;
    if (spec.association == Association::cell) {
      values.row(row) = known.row(id);
      continue;
    }
    cell->EvaluatePosition(closest, nullptr, part_of_cell, parametric, distance, shares.data());
    values.row(row).setZero();
    for (vtkIdType corner = 0; corner < cell->GetNumberOfPoints(); ++corner)
      values.row(row) += shares[static_cast<std::size_t>(corner)] *
                         known.row(cell->GetPointId(static_cast<int>(corner)));
  }
}

}  // namespace

Mesh interpolate_arrays(const std::vector<Mesh>& source, const Mesh& target,
                        const std::vector<ArraySpec>& arrays) {
  Mesh result = target;
  for (const ArraySpec& spec : arrays) {
    const Mesh places = make_point_cloud(target.coordinates(spec.association), target.origin());
    const auto count = static_cast<std::size_t>(target.count(spec.association));
    RowMatrix values = RowMatrix::Zero(target.count(spec.association), spec.components);
    std::vector<bool> found(count, false);
    for (const Mesh& part : source) {
      const int components = part.array(spec.name, spec.association).components();
      if (components != spec.components)
        throw DataError(part.origin() + ": " + to_string(spec.association) + " array '" +
                        spec.name + "' has " + std::to_string(components) +
                        " components, expected " + std::to_string(spec.components));
      probe(part, spec, places.vtk(), values, found);
    }
    for (const Mesh& part : source)
      if (std::find(found.begin(), found.end(), false) != found.end())
        probe_rim(part, spec, places.vtk(), values, found);
    std::size_t outside = 0;
    std::size_t first = count;
    for (std::size_t i = 0; i < count; ++i) {
      if (found[i]) continue;
      first = std::min(first, i);
      ++outside;
    }
    if (outside > 0)
      throw DataError(target.origin() + ": " + std::to_string(outside) + " of " +
                      std::to_string(count) + " " + to_string(spec.association) +
                      "s lie outside the cells of " + source.front().origin() + ", the first is " +
                      std::to_string(first) + "; '" + spec.name +
                      "' cannot be interpolated there: give the mesh this array, or keep it "
                      "inside the source");
    result = result.with_array(spec, values, true);
  }
  return result;
}

}  // namespace funcattn
