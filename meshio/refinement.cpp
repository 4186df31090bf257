#include "meshio/refinement.h"

#include <vtkAppendFilter.h>
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDataSetSurfaceFilter.h>
#include <vtkDataSetTriangleFilter.h>
#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkLinearSubdivisionFilter.h>
#include <vtkMergePoints.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkSubdivideTetra.h>
#include <vtkTriangleFilter.h>
#include <vtkUnstructuredGrid.h>

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "meshio/cells.h"
#include "meshio/data_set_check.h"
#include "meshio/memory_need.h"
#include "meshio/structured_resampling.h"
#include "meshio/vtk_messages.h"

namespace funcattn {

namespace {

/// The coordinates as an array that VTK interpolates like any other.
constexpr const char* coordinates_name = "funcattn coordinates";

void update(vtkAlgorithm* filter) {
  VtkMessages messages;
  messages.observe(filter);
  filter->Update();
  if (messages.has_errors()) throw DataError("VTK could not refine it: " + messages.first_error());
}

/// The one dimension of the cells. Throws DataError for mixtures and clouds.
int dimension_of(vtkDataSet* data) {
  int lowest = 4;
  int highest = -1;
  for_each_cell(data, [&](const CellView& cell) {
    lowest = std::min(lowest, cell_dimension(cell.type));
    highest = std::max(highest, cell_dimension(cell.type));
  });
  if (highest < 1)
    throw DataError("the mesh has no lines, faces or solids between whose points to interpolate");
  if (lowest != highest)
    throw DataError("its cells have dimensions " + std::to_string(lowest) + " to " +
                    std::to_string(highest) + "; only meshes of one dimension can be refined");
  return highest;
}

/// VTK's subdivision filters work in single precision and join points that are equal in it: they
/// get the mesh in a frame of its own, and its real coordinates as an array.
vtkSmartPointer<vtkPointSet> in_own_frame(vtkPointSet* data) {
  auto framed = vtkSmartPointer<vtkPointSet>::Take(data->NewInstance());
  framed->ShallowCopy(data);
  framed->GetPointData()->SetGlobalIds(nullptr);  // Nothing can be between two numbers.
  double bounds[6];
  data->GetBounds(bounds);
  double longest = 0;
  for (int axis = 0; axis < 3; ++axis)
    longest = std::max(longest, bounds[2 * axis + 1] - bounds[2 * axis]);
  if (!(longest > 0)) longest = 1;
  vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  points->SetNumberOfPoints(data->GetNumberOfPoints());
  for (vtkIdType i = 0; i < data->GetNumberOfPoints(); ++i) {
    double at[3];
    data->GetPoint(i, at);
    for (int axis = 0; axis < 3; ++axis) at[axis] = (at[axis] - bounds[2 * axis]) / longest;
    points->SetPoint(i, at);
  }
  framed->SetPoints(points);
  const auto real =
      vtkSmartPointer<vtkDataArray>::Take(data->GetPoints()->GetData()->NewInstance());
  real->DeepCopy(data->GetPoints()->GetData());
  real->SetName(coordinates_name);
  framed->GetPointData()->AddArray(real);
  return framed;
}

void restore_coordinates(vtkPointSet* refined) {
  vtkNew<vtkPoints> points;
  points->SetData(refined->GetPointData()->GetArray(coordinates_name));
  refined->GetPointData()->RemoveArray(coordinates_name);
  points->GetData()->SetName(nullptr);
  refined->SetPoints(points);
}

vtkSmartPointer<vtkPolyData> halve_triangles(vtkPolyData* triangles) {
  vtkNew<vtkLinearSubdivisionFilter> filter;
  filter->SetNumberOfSubdivisions(1);
  filter->SetInputData(triangles);
  update(filter);
  return filter->GetOutput();
}

/// Tetrahedra that share the points that fall on one place, with the arrays of the first of these.
vtkSmartPointer<vtkUnstructuredGrid> with_merged_points(vtkUnstructuredGrid* grid) {
  auto merged = vtkSmartPointer<vtkUnstructuredGrid>::New();
  vtkPointData* from = grid->GetPointData();
  vtkPointData* to = merged->GetPointData();
  to->CopyAllOn();
  to->CopyAllocate(from, grid->GetNumberOfPoints());
  vtkNew<vtkPoints> points;
  vtkNew<vtkMergePoints> locator;
  locator->InitPointInsertion(points, grid->GetBounds(), grid->GetNumberOfPoints());
  std::vector<vtkIdType> merged_id(static_cast<std::size_t>(grid->GetNumberOfPoints()));
  for (vtkIdType i = 0; i < grid->GetNumberOfPoints(); ++i) {
    vtkIdType& id = merged_id[static_cast<std::size_t>(i)];
    if (locator->InsertUniquePoint(grid->GetPoint(i), id) != 0) to->CopyData(from, i, id);
  }
  merged->SetPoints(points);
  merged->Allocate(grid->GetNumberOfCells());
  for_each_cell(grid, [&](const CellView& cell) {
    vtkIdType ids[4];
    for (vtkIdType i = 0; i < 4; ++i) ids[i] = merged_id[static_cast<std::size_t>(cell.points[i])];
    merged->InsertNextCell(VTK_TETRA, 4, ids);
  });
  merged->GetCellData()->ShallowCopy(grid->GetCellData());
  return merged;
}

vtkSmartPointer<vtkUnstructuredGrid> halve_tetrahedra(vtkUnstructuredGrid* tetrahedra) {
  constexpr vtkIdType pieces = 12;
  vtkNew<vtkSubdivideTetra> filter;
  filter->SetInputData(tetrahedra);
  update(filter);
  vtkSmartPointer<vtkUnstructuredGrid> halved = filter->GetOutput();
  if (halved->GetNumberOfCells() != pieces * tetrahedra->GetNumberOfCells())
    throw DataError("VTK's subdivision of tetrahedra gave " +
                    std::to_string(halved->GetNumberOfCells()) + " cells of " +
                    std::to_string(tetrahedra->GetNumberOfCells()));
  // The filter leaves the cell arrays behind and writes the pieces of a cell one after the other;
  // neighbours do not share their new points.
  vtkCellData* from = tetrahedra->GetCellData();
  vtkCellData* to = halved->GetCellData();
  to->CopyAllOn();
  to->CopyAllocate(from, halved->GetNumberOfCells());
  for (vtkIdType cell = 0; cell < halved->GetNumberOfCells(); ++cell)
    to->CopyData(from, cell / pieces, cell);
  return with_merged_points(halved);
}

/// Every segment of the lines in two.
vtkSmartPointer<vtkPolyData> halve_lines(vtkPolyData* lines) {
  vtkIdType segments = 0;
  for_each_cell(lines, [&](const CellView& cell) { segments += cell.size - 1; });
  const vtkIdType count = lines->GetNumberOfPoints();
  auto halved = vtkSmartPointer<vtkPolyData>::New();
  vtkPointData* from = lines->GetPointData();
  vtkPointData* to = halved->GetPointData();
  to->InterpolateAllocate(from, count + segments);
  for (vtkIdType i = 0; i < count; ++i) to->CopyData(from, i, i);
  vtkNew<vtkCellArray> cells;
  vtkNew<vtkIdList> points;
  vtkIdType next = count;
  for_each_cell(lines, [&](const CellView& cell) {
    points->Reset();
    for (vtkIdType i = 0; i < cell.size; ++i) {
      if (i > 0) {
        to->InterpolateEdge(from, next, cell.points[i - 1], cell.points[i], 0.5);
        points->InsertNextId(next++);
      }
      points->InsertNextId(cell.points[i]);
    }
    cells->InsertNextCell(points);
  });
  halved->SetLines(cells);
  halved->GetCellData()->ShallowCopy(lines->GetCellData());
  vtkNew<vtkPoints> placeholder;  // Their places are among the interpolated arrays.
  placeholder->SetNumberOfPoints(next);
  halved->SetPoints(placeholder);
  return halved;
}

vtkSmartPointer<vtkPolyData> as_poly_data(vtkPointSet* data) {
  if (auto* poly = vtkPolyData::SafeDownCast(data)) return poly;
  vtkNew<vtkDataSetSurfaceFilter> filter;
  filter->PassThroughCellIdsOff();
  filter->SetInputData(data);
  update(filter);
  return filter->GetOutput();
}

/// How a mesh grows when its cells are halved.
struct Growth {
  double points_per_cell;  ///< New points in one step, about.
  double cells;            ///< Of which one cell becomes so many.
  int cell_points;
};

/// Throws DataError if what halving ends with does not fit into memory.
void require_memory_for(vtkDataSet* data, vtkIdType cell_count, std::int64_t target,
                        const Growth& growth) {
  auto points = static_cast<double>(data->GetNumberOfPoints());
  auto cells = static_cast<double>(cell_count);
  while (points < static_cast<double>(target) && cells > 0) {
    points += growth.points_per_cell * cells;
    cells *= growth.cells;
  }
  require_memory(data, points, cells / points, growth.cell_points);
}

vtkSmartPointer<vtkPointSet> refine_surface(vtkPointSet* data, std::int64_t target) {
  vtkNew<vtkTriangleFilter> triangles;
  triangles->SetInputData(as_poly_data(data));
  update(triangles);
  vtkSmartPointer<vtkPolyData> refined = triangles->GetOutput();
  require_memory_for(refined, refined->GetNumberOfCells(), target, {1.5, 4, 3});
  while (refined->GetNumberOfPoints() < target) refined = halve_triangles(refined);
  return refined;
}

vtkSmartPointer<vtkPointSet> refine_lines(vtkPointSet* data, std::int64_t target) {
  vtkSmartPointer<vtkPolyData> refined = as_poly_data(data);
  vtkIdType segments = 0;
  for_each_cell(refined, [&](const CellView& cell) { segments += cell.size - 1; });
  require_memory_for(refined, segments, target, {1, 2, 1});
  while (refined->GetNumberOfPoints() < target) refined = halve_lines(refined);
  return refined;
}

vtkSmartPointer<vtkPointSet> refine_solids(vtkPointSet* data, std::int64_t target) {
  vtkNew<vtkDataSetTriangleFilter> tetrahedra;
  tetrahedra->SetInputData(data);
  update(tetrahedra);
  vtkSmartPointer<vtkUnstructuredGrid> refined = tetrahedra->GetOutput();
  require_memory_for(refined, refined->GetNumberOfCells(), target, {2.2, 12, 4});
  while (refined->GetNumberOfPoints() < target) refined = halve_tetrahedra(refined);
  return refined;
}

vtkSmartPointer<vtkPointSet> refine_point_set(vtkPointSet* data, std::int64_t target) {
  check_cells(data);
  const int dimension = dimension_of(data);
  const auto framed = in_own_frame(data);
  vtkSmartPointer<vtkPointSet> refined;
  if (dimension == 1)
    refined = refine_lines(framed, target);
  else if (dimension == 2)
    refined = refine_surface(framed, target);
  else
    refined = refine_solids(framed, target);
  if (data->IsA("vtkUnstructuredGrid") && !refined->IsA("vtkUnstructuredGrid")) {
    vtkNew<vtkAppendFilter> to_grid;
    to_grid->SetInputData(refined);
    update(to_grid);
    refined = to_grid->GetOutput();
  }
  restore_coordinates(refined);
  return refined;
}

}  // namespace

Mesh refine(const Mesh& mesh, std::int64_t target) {
  auto* data = vtkPointSet::SafeDownCast(mesh.vtk());
  if (!data || is_structured(mesh))
    throw DataError(mesh.origin() + " is a " + mesh.vtk()->GetClassName() +
                    ", which cannot be refined by subdivision");
  try {
    const auto refined = refine_point_set(data, target);
    // A copy of its own: the filters' outputs know their pipeline.
    auto result = vtkSmartPointer<vtkPointSet>::Take(refined->NewInstance());
    result->ShallowCopy(refined);
    result->GetFieldData()->PassData(data->GetFieldData());
    return Mesh(result, mesh.origin());
  } catch (const DataError& error) {
    throw DataError(mesh.origin() + ": " + error.what());
  }
}

}  // namespace funcattn
