#include "meshio/data_set_check.h"

#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkFieldData.h>
#include <vtkPointData.h>
#include <vtkStructuredGrid.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>

#include "core/error.h"
#include "meshio/cells.h"
#include "meshio/id_range.h"

namespace funcattn {

namespace {

std::string text(vtkIdType value) {
  return std::to_string(value);
}

/// Whether the offsets never run backwards and stay inside the connectivity, and all ids are those
/// of points. Plain loops that the compiler vectorises: every mesh goes through here.
template <class Id>
bool cells_are_sound(const Id* offsets, vtkIdType offset_count, const Id* ids, vtkIdType id_count,
                     vtkIdType point_count) {
  bool sound = offset_count == 0 || (offsets[0] == 0 && offsets[offset_count - 1] <= id_count);
  for (vtkIdType i = 1; i < offset_count; ++i) sound &= offsets[i - 1] <= offsets[i];
  return sound && ids_are_inside(ids, id_count, point_count);
}

/// Offsets and connectivity of one cell array; `first_cell` is the id of its first cell.
template <class Array>
void check_ids(Array* offset_array, Array* connectivity_array, vtkIdType point_count,
               vtkIdType first_cell) {
  const auto* offsets = offset_array->GetPointer(0);
  const auto* ids = connectivity_array->GetPointer(0);
  const vtkIdType end = connectivity_array->GetNumberOfValues();
  if (cells_are_sound(offsets, offset_array->GetNumberOfValues(), ids, end, point_count)) return;
  vtkIdType previous = 0;
  for (vtkIdType i = 0; i < offset_array->GetNumberOfValues(); ++i) {
    const vtkIdType offset = offsets[i];
    const vtkIdType cell = first_cell + (i > 0 ? i - 1 : 0);
    if (offset < previous || offset > end || (i == 0 && offset != 0))
      throw DataError("cell " + text(cell) + " ends at position " + text(offset) +
                      " of the connectivity, outside " + text(previous) + " to " + text(end) +
                      "; the cell offsets are damaged");
    for (vtkIdType j = previous; j < offset; ++j)
      if (ids[j] < 0 || ids[j] >= point_count)
        throw DataError("cell " + text(cell) + " uses point " + text(ids[j]) +
                        ", but the mesh has " + text(point_count) + " points");
    previous = offset;
  }
}

void check_cell_array(vtkCellArray* cells, vtkIdType point_count, vtkIdType first_cell) {
  if (cells->IsStorage64Bit())
    check_ids(cells->GetOffsetsArray64(), cells->GetConnectivityArray64(), point_count, first_cell);
  else
    check_ids(cells->GetOffsetsArray32(), cells->GetConnectivityArray32(), point_count, first_cell);
}

/// Numbers of points per type as one array: known_cell_type() and fixed_cell_size() for each of ten
/// million cells would cost more than reading them.
const std::array<int, 256>& fixed_sizes() {
  static const auto sizes = [] {
    std::array<int, 256> table;
    for (int type = 0; type < 256; ++type)
      table[static_cast<std::size_t>(type)] = known_cell_type(type) ? fixed_cell_size(type) : -2;
    return table;
  }();
  return sizes;
}

void check_cell_type(vtkIdType cell, int type, vtkIdType size) {
  if (!known_cell_type(type))
    throw DataError("cell " + text(cell) + " has the unknown type " + text(type));
  const int expected = fixed_cell_size(type);
  if (expected >= 0 && size != expected)
    throw DataError("cell " + text(cell) + " of type " + text(type) + " has " + text(size) +
                    " points, expected " + text(expected));
}

void check_faces(vtkUnstructuredGrid* grid) {
  // VTK's readers of files in pieces sometimes leave empty lists in meshes without polyhedra.
  if (!grid->GetFaces() || !grid->GetFaceLocations() ||
      grid->GetFaceLocations()->GetNumberOfValues() == 0) {
    const unsigned char* types = grid->GetCellTypesArray()->GetPointer(0);
    const unsigned char* end = types + grid->GetNumberOfCells();
    const unsigned char* polyhedron = std::find(types, end, VTK_POLYHEDRON);
    if (polyhedron != end)
      throw DataError("cell " + text(polyhedron - types) +
                      " is a polyhedron, but the mesh lists no faces");
    return;
  }
  vtkIdTypeArray* faces = grid->GetFaces();
  vtkIdTypeArray* locations = grid->GetFaceLocations();
  if (locations->GetNumberOfValues() < grid->GetNumberOfCells())
    throw DataError("the mesh lists the faces of " + text(locations->GetNumberOfValues()) +
                    " cells, expected " + text(grid->GetNumberOfCells()));
  const vtkIdType end = faces->GetNumberOfValues();
  for (vtkIdType cell = 0; cell < grid->GetNumberOfCells(); ++cell) {
    if (grid->GetCellTypesArray()->GetValue(cell) != VTK_POLYHEDRON) continue;
    const auto damaged = [&]() -> DataError {
      return DataError("the list of faces of polyhedron cell " + text(cell) + " is damaged");
    };
    vtkIdType position = locations->GetValue(cell);
    if (position < 0 || position >= end) throw damaged();
    const vtkIdType face_count = faces->GetValue(position++);
    if (face_count < 0) throw damaged();
    for (vtkIdType face = 0; face < face_count; ++face) {
      if (position >= end) throw damaged();
      const vtkIdType size = faces->GetValue(position++);
      if (size < 0 || size > end - position) throw damaged();
      for (vtkIdType i = 0; i < size; ++i) {
        const vtkIdType id = faces->GetValue(position++);
        if (id < 0 || id >= grid->GetNumberOfPoints()) throw damaged();
      }
    }
  }
}

void check_rows(vtkFieldData* fields, const std::string& association, vtkIdType rows) {
  std::set<std::string> names;
  for (int i = 0; i < fields->GetNumberOfArrays(); ++i) {
    vtkAbstractArray* array = fields->GetAbstractArray(i);
    const std::string name = array->GetName() ? array->GetName() : "";
    if (name.empty())
      throw DataError(association + " array number " + std::to_string(i + 1) +
                      " has no name; name it");
    if (!names.insert(name).second)
      throw DataError("there are two " + association + " arrays named '" + name +
                      "'; rename or remove one");
    if (rows >= 0 && array->GetNumberOfTuples() != rows)
      throw DataError(association + " array '" + name + "' has " +
                      text(array->GetNumberOfTuples()) + " rows, expected one per " + association +
                      ": " + text(rows));
  }
}

}  // namespace

namespace {

/// VTK cannot build cells of fewer points, and its writers crash where that has failed.
void check_poly_data_sizes(vtkPolyData* data) {
  constexpr std::array<vtkIdType, 4> least = {1, 2, 3, 3};
  constexpr std::array<const char*, 4> names = {"vertex cell", "line", "polygon", "strip"};
  std::array<vtkIdType, 4> ends{};
  const auto arrays = poly_data_arrays(data);
  vtkIdType end = 0;
  for (std::size_t kind = 0; kind < 4; ++kind) ends[kind] = end += arrays[kind]->GetNumberOfCells();
  std::size_t kind = 0;
  for_each_cell(data, [&](const CellView& cell) {
    while (kind < 3 && cell.id >= ends[kind]) ++kind;
    if (cell.size < least[kind])
      throw DataError("cell " + text(cell.id) + " is a " + names[kind] + " of " + text(cell.size) +
                      (cell.size == 1 ? " point" : " points") + ", expected at least " +
                      text(least[kind]));
  });
}

}  // namespace

void check_cells(vtkDataSet* data) {
  const vtkIdType points = data->GetNumberOfPoints();
  if (auto* poly = vtkPolyData::SafeDownCast(data)) {
    vtkIdType first = 0;
    for (vtkCellArray* cells : poly_data_arrays(poly)) {
      check_cell_array(cells, points, first);
      first += cells->GetNumberOfCells();
    }
    check_poly_data_sizes(poly);
  } else if (auto* grid = vtkUnstructuredGrid::SafeDownCast(data)) {
    const vtkIdType count = grid->GetNumberOfCells();
    if (count == 0) return;
    const vtkIdType types =
        grid->GetCellTypesArray() ? grid->GetCellTypesArray()->GetNumberOfValues() : 0;
    if (types != count)
      throw DataError("the mesh has " + text(count) + " cells but " + text(types) + " cell types");
    check_cell_array(grid->GetCells(), points, 0);
    check_faces(grid);
    const std::array<int, 256>& sizes = fixed_sizes();
    for_each_cell(grid, [&sizes](const CellView& cell) {
      const int expected = sizes[static_cast<std::size_t>(cell.type)];
      if (expected != cell.size && expected != -1) check_cell_type(cell.id, cell.type, cell.size);
    });
  } else if (auto* structured = vtkStructuredGrid::SafeDownCast(data)) {
    int dimensions[3];
    structured->GetDimensions(dimensions);
    const vtkIdType expected =
        vtkIdType{dimensions[0]} * vtkIdType{dimensions[1]} * vtkIdType{dimensions[2]};
    if (expected != points)
      throw DataError("the structured grid has " + text(points) + " points, expected " +
                      text(expected) + " by its dimensions");
  }
}

void check_arrays(vtkDataSet* data) {
  check_rows(data->GetPointData(), "point", data->GetNumberOfPoints());
  check_rows(data->GetCellData(), "cell", data->GetNumberOfCells());
  check_rows(data->GetFieldData(), "field", -1);
}

}  // namespace funcattn
