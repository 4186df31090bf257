#include "meshio/subset.h"

#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkFieldData.h>
#include <vtkIdList.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPointSet.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkUnstructuredGrid.h>

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "meshio/cells.h"

namespace funcattn {

namespace {

using Ids = std::vector<vtkIdType>;

Ids kept_ids(const KeepMask& kept) {
  Ids ids;
  for (std::size_t i = 0; i < kept.size(); ++i)
    if (kept[i]) ids.push_back(static_cast<vtkIdType>(i));
  return ids;
}

void check_length(const Mesh& mesh, Association association, const KeepMask& kept) {
  if (static_cast<Eigen::Index>(kept.size()) != mesh.count(association))
    throw DataError(mesh.origin() + ": a choice among " + std::to_string(kept.size()) + " " +
                    to_string(association) + "s was given, the mesh has " +
                    std::to_string(mesh.count(association)));
}

void copy_rows(vtkDataSetAttributes* from, const Ids& ids, vtkDataSetAttributes* to) {
  vtkNew<vtkIdList> source;
  vtkNew<vtkIdList> target;
  source->SetNumberOfIds(static_cast<vtkIdType>(ids.size()));
  target->SetNumberOfIds(static_cast<vtkIdType>(ids.size()));
  std::copy(ids.begin(), ids.end(), source->begin());
  std::iota(target->begin(), target->end(), vtkIdType{0});
  to->CopyAllOn();
  to->CopyAllocate(from, static_cast<vtkIdType>(ids.size()));
  to->SetNumberOfTuples(static_cast<vtkIdType>(ids.size()));
  if (!ids.empty()) to->CopyData(from, source, target);
}

vtkSmartPointer<vtkPoints> copy_points(vtkDataSet* data, const Ids& ids) {
  auto points = vtkSmartPointer<vtkPoints>::New();
  auto* point_set = vtkPointSet::SafeDownCast(data);
  const bool stored = point_set && point_set->GetPoints();
  points->SetDataType(stored ? point_set->GetPoints()->GetDataType() : VTK_DOUBLE);
  points->SetNumberOfPoints(static_cast<vtkIdType>(ids.size()));
  double at[3];
  for (std::size_t i = 0; i < ids.size(); ++i) {
    data->GetPoint(ids[i], at);
    points->SetPoint(static_cast<vtkIdType>(i), at);
  }
  return points;
}

/// New ids of the old points; -1 where a point is left out.
Ids renumbering(const KeepMask& kept) {
  Ids renumbered(kept.size(), -1);
  vtkIdType next = 0;
  for (std::size_t i = 0; i < kept.size(); ++i)
    if (kept[i]) renumbered[i] = next++;
  return renumbered;
}

/// The points of `cell` by their new ids; false if one of them is left out.
bool renumber(const CellView& cell, const Ids& renumbered, vtkIdList* points) {
  points->SetNumberOfIds(cell.size);
  for (vtkIdType i = 0; i < cell.size; ++i) {
    const vtkIdType id = renumbered[static_cast<std::size_t>(cell.points[i])];
    if (id < 0) return false;
    points->SetId(i, id);
  }
  return true;
}

/// The ids of a stream "faces, points of face 0, ids, points of face 1, ids, ..." renumbered.
void renumber_faces(vtkIdList* stream, const Ids& renumbered) {
  vtkIdType at = 1;
  for (vtkIdType face = 0; face < stream->GetId(0); ++face) {
    const vtkIdType size = stream->GetId(at++);
    for (vtkIdType i = 0; i < size; ++i, ++at)
      stream->SetId(at, renumbered[static_cast<std::size_t>(stream->GetId(at))]);
  }
}

/// Cells of `from` that `keeps` accepts and all of whose points have a new id go to `to`.
/// @return their old ids
template <class Keeps>
Ids rebuild_poly_data(vtkPolyData* from, vtkPolyData* to, const Ids& renumbered,
                      const Keeps& keeps) {
  Ids cells;
  vtkNew<vtkIdList> old_points;
  vtkNew<vtkIdList> points;
  vtkNew<vtkCellArray> rebuilt[4];
  const auto arrays = poly_data_arrays(from);
  CellView cell;
  for (std::size_t kind = 0; kind < 4; ++kind)
    for (vtkIdType i = 0; i < arrays[kind]->GetNumberOfCells(); ++i, ++cell.id) {
      arrays[kind]->GetCellAtId(i, old_points);
      cell.size = old_points->GetNumberOfIds();
      cell.points = old_points->GetPointer(0);
      if (!keeps(cell.id) || !renumber(cell, renumbered, points)) continue;
      rebuilt[kind]->InsertNextCell(points);
      cells.push_back(cell.id);
    }
  to->SetVerts(rebuilt[0]);
  to->SetLines(rebuilt[1]);
  to->SetPolys(rebuilt[2]);
  to->SetStrips(rebuilt[3]);
  return cells;
}

template <class Keeps>
Ids rebuild_grid(vtkUnstructuredGrid* from, vtkUnstructuredGrid* to, const Ids& renumbered,
                 const Keeps& keeps) {
  Ids cells;
  vtkNew<vtkIdList> points;
  to->Allocate(from->GetNumberOfCells());
  for_each_cell(from, [&](const CellView& cell) {
    if (!keeps(cell.id) || !renumber(cell, renumbered, points)) return;
    if (cell.type == VTK_POLYHEDRON) {
      from->GetFaceStream(cell.id, points);
      renumber_faces(points, renumbered);
    }
    to->InsertNextCell(cell.type, points);
    cells.push_back(cell.id);
  });
  return cells;
}

template <class Keeps>
Mesh subset(const Mesh& mesh, const Ids& points, const Ids& renumbered, const Keeps& keeps) {
  vtkDataSet* data = mesh.vtk();
  vtkSmartPointer<vtkPointSet> result;
  Ids cells;
  if (auto* poly = vtkPolyData::SafeDownCast(data)) {
    const auto rebuilt = vtkSmartPointer<vtkPolyData>::New();
    cells = rebuild_poly_data(poly, rebuilt, renumbered, keeps);
    result = rebuilt;
  } else if (auto* grid = vtkUnstructuredGrid::SafeDownCast(data)) {
    const auto rebuilt = vtkSmartPointer<vtkUnstructuredGrid>::New();
    cells = rebuild_grid(grid, rebuilt, renumbered, keeps);
    result = rebuilt;
  } else {
    throw DataError(mesh.origin() + " is a " + data->GetClassName() +
                    ", from which no point or cell can be taken out");
  }
  result->SetPoints(copy_points(data, points));
  copy_rows(data->GetPointData(), points, result->GetPointData());
  copy_rows(data->GetCellData(), cells, result->GetCellData());
  result->GetFieldData()->PassData(data->GetFieldData());
  return Mesh(result, mesh.origin());
}

}  // namespace

Mesh keep_points(const Mesh& mesh, const KeepMask& kept) {
  check_length(mesh, Association::point, kept);
  return subset(mesh, kept_ids(kept), renumbering(kept), [](vtkIdType) { return true; });
}

Mesh keep_cells(const Mesh& mesh, const KeepMask& kept) {
  check_length(mesh, Association::cell, kept);
  const KeepMask all(static_cast<std::size_t>(mesh.count(Association::point)), true);
  return subset(mesh, kept_ids(all), renumbering(all),
                [&](vtkIdType cell) { return kept[static_cast<std::size_t>(cell)]; });
}

Mesh keep_points_as_cloud(const Mesh& mesh, const KeepMask& kept) {
  check_length(mesh, Association::point, kept);
  const Ids ids = kept_ids(kept);
  const auto count = static_cast<vtkIdType>(ids.size());
  vtkNew<vtkCellArray> vertices;
  for (vtkIdType i = 0; i < count; ++i) vertices->InsertNextCell(1, &i);
  vtkSmartPointer<vtkPointSet> cloud;
  if (mesh.vtk()->IsA("vtkUnstructuredGrid")) {
    const auto grid = vtkSmartPointer<vtkUnstructuredGrid>::New();
    grid->SetCells(VTK_VERTEX, vertices);
    cloud = grid;
  } else {
    const auto poly = vtkSmartPointer<vtkPolyData>::New();
    poly->SetVerts(vertices);
    cloud = poly;
  }
  cloud->SetPoints(copy_points(mesh.vtk(), ids));
  copy_rows(mesh.vtk()->GetPointData(), ids, cloud->GetPointData());
  cloud->GetFieldData()->PassData(mesh.vtk()->GetFieldData());
  return Mesh(cloud, mesh.origin());
}

}  // namespace funcattn
