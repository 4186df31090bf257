#include "meshio/cells.h"

#include <vtkCell.h>
#include <vtkGenericCell.h>
#include <vtkSmartPointer.h>

#include <array>

namespace funcattn {

namespace {

struct CellKind {
  bool known = false;
  int dimension = -1;
  int size = -1;
};

CellKind kind_of(int type) {
  CellKind kind;
  if (type == VTK_EMPTY_CELL) return {true, -1, 0};
  const auto cell = vtkSmartPointer<vtkCell>::Take(vtkGenericCell::InstantiateCell(type));
  if (!cell) return kind;
  kind.known = true;
  kind.dimension = cell->GetCellDimension();
  const bool varies = type == VTK_POLY_VERTEX || type == VTK_POLY_LINE || type == VTK_POLYGON ||
                      type == VTK_TRIANGLE_STRIP || type == VTK_QUADRATIC_POLYGON ||
                      type == VTK_CONVEX_POINT_SET || type == VTK_POLYHEDRON ||
                      type >= VTK_HIGHER_ORDER_EDGE;
  if (!varies) kind.size = static_cast<int>(cell->GetNumberOfPoints());
  return kind;
}

const CellKind& kind(int type) {
  static const auto table = [] {
    std::array<CellKind, VTK_NUMBER_OF_CELL_TYPES> kinds;
    for (int i = 0; i < VTK_NUMBER_OF_CELL_TYPES; ++i)
      kinds[static_cast<std::size_t>(i)] = kind_of(i);
    return kinds;
  }();
  static const CellKind unknown;
  return type >= 0 && type < VTK_NUMBER_OF_CELL_TYPES ? table[static_cast<std::size_t>(type)]
                                                      : unknown;
}

}  // namespace

int cell_dimension(int type) {
  return kind(type).dimension;
}

int fixed_cell_size(int type) {
  return kind(type).size;
}

bool known_cell_type(int type) {
  return kind(type).known;
}

}  // namespace funcattn
