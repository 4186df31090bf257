#pragma once

#include <vtkCellArray.h>
#include <vtkCellType.h>
#include <vtkIdList.h>
#include <vtkNew.h>
#include <vtkPolyData.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnstructuredGrid.h>

#include <array>

namespace funcattn {

/// One cell while it is visited.
struct CellView {
  vtkIdType id = 0;
  int type = VTK_EMPTY_CELL;
  vtkIdType size = 0;  ///< Number of points.
  const vtkIdType* points = nullptr;
};

/// Type of a cell of one of the four cell arrays of a vtkPolyData (vertices, lines, polygons,
/// strips, in the order of the cell ids).
inline int poly_data_cell_type(int array, vtkIdType size) {
  switch (array) {
    case 0:
      return size == 1 ? VTK_VERTEX : VTK_POLY_VERTEX;
    case 1:
      return size == 2 ? VTK_LINE : VTK_POLY_LINE;
    case 2:
      return size == 3 ? VTK_TRIANGLE : size == 4 ? VTK_QUAD : VTK_POLYGON;
    default:
      return VTK_TRIANGLE_STRIP;
  }
}

/// The cell arrays of a vtkPolyData in the order of the cell ids.
inline std::array<vtkCellArray*, 4> poly_data_arrays(vtkPolyData* data) {
  return {data->GetVerts(), data->GetLines(), data->GetPolys(), data->GetStrips()};
}

/// Calls `visit(CellView)` for every cell, in the order of the ids. Builds nothing in the data set
/// (vtkPolyData::GetCellPoints would), so that meshes shared between threads stay untouched. The
/// connectivity must have been checked.
template <class Visit>
void for_each_cell(vtkDataSet* data, const Visit& visit) {
  vtkNew<vtkIdList> scratch;
  CellView cell;
  if (auto* poly = vtkPolyData::SafeDownCast(data)) {
    const auto arrays = poly_data_arrays(poly);
    for (int kind = 0; kind < 4; ++kind) {
      const vtkIdType count = arrays[static_cast<std::size_t>(kind)]->GetNumberOfCells();
      for (vtkIdType i = 0; i < count; ++i, ++cell.id) {
        arrays[static_cast<std::size_t>(kind)]->GetCellAtId(i, scratch);
        cell.size = scratch->GetNumberOfIds();
        cell.points = scratch->GetPointer(0);
        cell.type = poly_data_cell_type(kind, cell.size);
        visit(static_cast<const CellView&>(cell));
      }
    }
  } else if (auto* grid = vtkUnstructuredGrid::SafeDownCast(data)) {
    for (; cell.id < grid->GetNumberOfCells(); ++cell.id) {
      grid->GetCells()->GetCellAtId(cell.id, scratch);
      cell.size = scratch->GetNumberOfIds();
      cell.points = scratch->GetPointer(0);
      cell.type = grid->GetCellTypesArray()->GetValue(cell.id);
      visit(static_cast<const CellView&>(cell));
    }
  } else {
    for (; cell.id < data->GetNumberOfCells(); ++cell.id) {
      data->GetCellPoints(cell.id, scratch);
      cell.type = data->GetCellType(cell.id);
      cell.size = scratch->GetNumberOfIds();
      cell.points = scratch->GetPointer(0);
      visit(static_cast<const CellView&>(cell));
    }
  }
}

/// 0 for vertices to 3 for solids; -1 for the empty cell.
int cell_dimension(int type);

/// Number of points that a cell of this type has, or -1 where it may differ.
int fixed_cell_size(int type);

/// Whether VTK can make a cell of this type.
bool known_cell_type(int type);

}  // namespace funcattn
