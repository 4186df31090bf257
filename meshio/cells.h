#pragma once

#include <vtkCellArray.h>
#include <vtkCellType.h>
#include <vtkIdList.h>
#include <vtkNew.h>
#include <vtkPolyData.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnstructuredGrid.h>

#include <array>
#include <vector>

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

/// Calls `visit(CellView)` for the cells of one array; `cell.id` is that of the first and counts
/// on.
template <class Array, class TypeOf, class Visit>
void for_each_cell_of(Array* offset_array, Array* connectivity_array, const TypeOf& type_of,
                      CellView& cell, const Visit& visit) {
  using Id = typename Array::ValueType;
  const Id* offsets = offset_array->GetPointer(0);
  const Id* ids = connectivity_array->GetPointer(0);
  std::vector<vtkIdType> widened;
  for (vtkIdType i = 0; i + 1 < offset_array->GetNumberOfValues(); ++i, ++cell.id) {
    cell.size = static_cast<vtkIdType>(offsets[i + 1] - offsets[i]);
    if constexpr (sizeof(Id) == sizeof(vtkIdType)) {
      cell.points = reinterpret_cast<const vtkIdType*>(ids + offsets[i]);
    } else {
      widened.assign(ids + offsets[i], ids + offsets[i + 1]);
      cell.points = widened.data();
    }
    cell.type = type_of(cell);
    visit(static_cast<const CellView&>(cell));
  }
}

template <class TypeOf, class Visit>
void for_each_cell_of(vtkCellArray* cells, const TypeOf& type_of, CellView& cell,
                      const Visit& visit) {
  if (cells->IsStorage64Bit())
    for_each_cell_of(cells->GetOffsetsArray64(), cells->GetConnectivityArray64(), type_of, cell,
                     visit);
  else
    for_each_cell_of(cells->GetOffsetsArray32(), cells->GetConnectivityArray32(), type_of, cell,
                     visit);
}

/// Calls `visit(CellView)` for every cell, in the order of the ids. Builds nothing in the data set
/// (vtkPolyData::GetCellPoints would), so that meshes shared between threads stay untouched. The
/// connectivity must have been checked.
template <class Visit>
void for_each_cell(vtkDataSet* data, const Visit& visit) {
  CellView cell;
  if (auto* poly = vtkPolyData::SafeDownCast(data)) {
    const auto arrays = poly_data_arrays(poly);
    for (int kind = 0; kind < 4; ++kind)
      for_each_cell_of(
          arrays[static_cast<std::size_t>(kind)],
          [kind](const CellView& view) { return poly_data_cell_type(kind, view.size); }, cell,
          visit);
  } else if (auto* grid = vtkUnstructuredGrid::SafeDownCast(data)) {
    if (grid->GetNumberOfCells() == 0) return;
    const unsigned char* types = grid->GetCellTypesArray()->GetPointer(0);
    for_each_cell_of(
        grid->GetCells(), [types](const CellView& view) { return types[view.id]; }, cell, visit);
  } else {
    vtkNew<vtkIdList> scratch;
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
