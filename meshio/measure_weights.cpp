#include "meshio/measure_weights.h"

#include <vtkDataArray.h>
#include <vtkImageData.h>
#include <vtkMatrix3x3.h>
#include <vtkRectilinearGrid.h>

#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "core/error.h"
#include "meshio/cell_measure.h"
#include "meshio/cells.h"
#include "meshio/data_set_check.h"
#include "meshio/ghosts.h"
#include "meshio/id_range.h"
#include "meshio/solid_volumes.h"

namespace funcattn {

namespace {

/// Cell lengths along each axis of an image or rectilinear grid; empty along an axis with one
/// layer of points, which then adds no dimension.
struct AxisSpacing {
  std::array<std::vector<double>, 3> lengths;
  double skew = 1;  ///< Measure of the parallelepiped of the axes' directions.

  std::size_t cells(std::size_t axis) const {
    return std::max<std::size_t>(lengths[axis].size(), 1);
  }
  double length(std::size_t axis, std::size_t i) const {
    return lengths[axis].empty() ? 1 : lengths[axis][i];
  }
};

/// Length, area or volume spanned by the unit directions of the axes that have cells: 1 unless the
/// image's direction matrix is not a rotation.
double spanned_measure(vtkMatrix3x3* direction, const AxisSpacing& spacing) {
  Eigen::Matrix<double, 3, Eigen::Dynamic> used(3, 0);
  for (int axis = 0; axis < 3; ++axis) {
    if (spacing.lengths[static_cast<std::size_t>(axis)].empty()) continue;
    used.conservativeResize(3, used.cols() + 1);
    for (int row = 0; row < 3; ++row) used(row, used.cols() - 1) = direction->GetElement(row, axis);
  }
  if (used.cols() == 0 || direction->IsIdentity()) return 1;
  return std::sqrt((used.transpose() * used).determinant());
}

bool axis_spacing(vtkDataSet* data, AxisSpacing& spacing) {
  if (auto* image = vtkImageData::SafeDownCast(data)) {
    for (int axis = 0; axis < 3; ++axis)
      spacing.lengths[static_cast<std::size_t>(axis)].assign(
          static_cast<std::size_t>(std::max(image->GetDimensions()[axis] - 1, 0)),
          std::abs(image->GetSpacing()[axis]));
    spacing.skew = spanned_measure(image->GetDirectionMatrix(), spacing);
    return true;
  }
  if (auto* grid = vtkRectilinearGrid::SafeDownCast(data)) {
    const std::array<vtkDataArray*, 3> coordinates = {
        grid->GetXCoordinates(), grid->GetYCoordinates(), grid->GetZCoordinates()};
    for (std::size_t axis = 0; axis < 3; ++axis)
      for (vtkIdType i = 1; i < coordinates[axis]->GetNumberOfTuples(); ++i)
        spacing.lengths[axis].push_back(std::abs(coordinates[axis]->GetComponent(i, 0) -
                                                 coordinates[axis]->GetComponent(i - 1, 0)));
    return true;
  }
  return false;
}

void add_non_finite(const Mesh& mesh, Places& places) {
  const DoubleView view = mesh.coordinate_view(Association::point);
  const auto points = view.matrix();
  for (Eigen::Index row = 0; row < points.rows(); ++row)
    if (!points.row(row).allFinite()) places.insert(row);
}

void add_structured(const Mesh& mesh, Association association, const AxisSpacing& spacing,
                    Eigen::Ref<Eigen::VectorXd> weights, Places& spoilt_by) {
  if (mesh.count(Association::point) == 0) return;
  const Eigen::VectorXd present = mesh.presence(Association::cell);
  std::array<std::size_t, 3> last{};  // 1 along an axis with cells: the far corner.
  double corners = 1;
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (!spacing.lengths[axis].empty()) {
      last[axis] = 1;
      corners *= 2;
    }
  if (corners == 1) return;
  const std::size_t row = spacing.lengths[0].size() + 1;
  const std::size_t layer = row * (spacing.lengths[1].size() + 1);

  bool spoilt = false;
  Eigen::Index cell = 0;
  for (std::size_t k = 0; k < spacing.cells(2); ++k)
    for (std::size_t j = 0; j < spacing.cells(1); ++j)
      for (std::size_t i = 0; i < spacing.cells(0); ++i, ++cell) {
        if (present[cell] == 0) continue;
        const double measure =
            spacing.skew * spacing.length(0, i) * spacing.length(1, j) * spacing.length(2, k);
        if (!std::isfinite(measure)) {
          spoilt = true;
          continue;
        }
        if (association == Association::cell) {
          weights[cell] = measure;
          continue;
        }
        for (std::size_t dk = 0; dk <= last[2]; ++dk)
          for (std::size_t dj = 0; dj <= last[1]; ++dj)
            for (std::size_t di = 0; di <= last[0]; ++di)
              weights[static_cast<Eigen::Index>((k + dk) * layer + (j + dj) * row + i + di)] +=
                  measure / corners;
      }
  if (spoilt) add_non_finite(mesh, spoilt_by);
}

// Calls `visit` for the simple cells that a cell is a short form of: the segments of a poly-line
// and the triangles of a strip. Sharing the length of a whole poly-line alike would weigh its
// points alike, however they are spaced.
template <class Visit>
void for_each_part(const CellView& cell, const Visit& visit) {
  const vtkIdType size = cell.type == VTK_POLY_LINE        ? 2
                         : cell.type == VTK_TRIANGLE_STRIP ? 3
                                                           : cell.size;
  CellView part = cell;
  if (size < cell.size) {
    part.type = size == 2 ? VTK_LINE : VTK_TRIANGLE;
    part.size = size;
  }
  for (vtkIdType i = 0; i + part.size <= cell.size; ++i, ++part.points)
    visit(static_cast<const CellView&>(part));
}

/// cell_dimension() as a table, since it is asked for every cell.
std::array<int, 256> dimensions_by_type() {
  std::array<int, 256> dimensions;
  for (int type = 0; type < 256; ++type)
    dimensions[static_cast<std::size_t>(type)] = cell_dimension(type);
  return dimensions;
}

/// Adds the measures of the cells of a mesh to weights, cell by cell.
class CellAdder {
 public:
  CellAdder(const Mesh& mesh, Association association, int highest,
            Eigen::Ref<Eigen::VectorXd> weights, Places& spoilt_by)
      : association_(association),
        highest_(highest),
        view_(mesh.coordinate_view(Association::point)),
        flags_(ghost_flags(mesh.vtk(), Association::cell)),
        measure_of_(mesh.vtk(), view_.matrix()),
        weights_(weights),
        spoilt_by_(spoilt_by) {}

  const double* coordinates() const { return view_.matrix().data(); }
  bool has_flags() const { return flags_ != nullptr; }

  void add(const CellView& cell) {
    if (dimensions_[static_cast<std::size_t>(cell.type)] != highest_ ||
        (flags_ && flags_->GetValue(cell.id) & kAbsentCell))
      return;
    if (association_ == Association::cell) {
      weights_[cell.id] = checked_measure(cell);
      return;
    }
    for_each_part(cell, [&](const CellView& part) {
      const double share = checked_measure(part) / static_cast<double>(part.size);
      for (vtkIdType i = 0; i < part.size; ++i) weights_[part.points[i]] += share;
    });
  }

 private:
  double checked_measure(const CellView& cell) {
    const double measure = measure_of_(cell);
    if (std::isfinite(measure)) return measure;
    bool is_spoilt = false;
    for (vtkIdType i = 0; i < cell.size; ++i) {
      if (view_.matrix().row(cell.points[i]).allFinite()) continue;
      spoilt_by_.insert(cell.points[i]);
      is_spoilt = true;
    }
    if (!is_spoilt)
      throw DataError("the measure of cell " + std::to_string(cell.id) +
                      " is not finite; look for huge coordinates, or use uniform weights");
    return 0.0;
  }

  Association association_;
  int highest_;
  DoubleView view_;
  vtkUnsignedCharArray* flags_;
  std::array<int, 256> dimensions_ = dimensions_by_type();
  CellMeasure measure_of_;
  Eigen::Ref<Eigen::VectorXd> weights_;
  Places& spoilt_by_;
};

/// Adds the volumes of tetrahedra and hexahedra of an unstructured grid, many at a time where many
/// of one type follow one another, and checks their ids on the way: large meshes need no pass over
/// their cells more than this one. Whatever is not so is left to CellAdder.
template <class Array>
class GridAdder {
 public:
  using Id = typename Array::ValueType;

  GridAdder(vtkUnstructuredGrid* grid, Array* offsets, Array* connectivity, CellAdder& others,
            Eigen::Ref<Eigen::VectorXd> weights)
      : grid_(grid),
        types_(grid->GetCellTypesArray()->GetPointer(0)),
        offsets_(offsets->GetPointer(0)),
        ids_(connectivity->GetPointer(0)),
        id_count_(connectivity->GetNumberOfValues()),
        others_(others),
        weights_(weights) {}

  void run() {
    const vtkIdType count = grid_->GetNumberOfCells();
    vtkIdType first = 0;
    for (; first + kCellsPerBlock <= count; first += kCellsPerBlock)
      if (!add_block<8>(first, VTK_HEXAHEDRON) && !add_block<4>(first, VTK_TETRA))
        add_singly(first, first + kCellsPerBlock);
    add_singly(first, count);
  }

 private:
  template <int corners>
  bool add_block(vtkIdType first, int type) {
    if (types_[first] != type || !is_run(first, corners)) return false;
    const Id* ids = ids_ + offsets_[first];
    std::array<double, kCellsPerBlock> volumes;
    if (!block_volumes<corners>(others_.coordinates(), grid_->GetNumberOfPoints(), ids,
                                volumes.data()))
      return false;
    double sum = 0;
    for (double& volume : volumes) {
      sum += volume;
      volume /= corners;
    }
    if (!std::isfinite(sum)) return false;
    // Corner by corner: neighbours have points in common, and a sum that waits for the one before
    // it takes twice as long.
    for (int corner = 0; corner < corners; ++corner)
      for (int cell = 0; cell < kCellsPerBlock; ++cell)
        weights_[static_cast<Eigen::Index>(ids[cell * corners + corner])] +=
            volumes[static_cast<std::size_t>(cell)];
    return true;
  }

  /// Whether the cells of a block are of the type of its first, with so many corners each.
  bool is_run(vtkIdType first, Id corners) const {
    bool same = offsets_[first] >= 0 && offsets_[first] <= id_count_ - kCellsPerBlock * corners;
    for (vtkIdType i = first; i < first + kCellsPerBlock; ++i)
      same &= types_[i] == types_[first] && offsets_[i + 1] - offsets_[i] == corners;
    return same;
  }

  void add_singly(vtkIdType begin, vtkIdType end) {
    CellView cell;
    std::vector<vtkIdType> widened;
    for (cell.id = begin; cell.id < end; ++cell.id) {
      if (!checked_ && !is_sound(cell.id)) {
        check_cells(grid_);
        checked_ = true;
      }
      cell.type = types_[cell.id];
      cell.size = static_cast<vtkIdType>(offsets_[cell.id + 1] - offsets_[cell.id]);
      widened.assign(ids_ + offsets_[cell.id], ids_ + offsets_[cell.id + 1]);
      cell.points = widened.data();
      others_.add(cell);
    }
  }

  /// Whether a cell is a tetrahedron or a hexahedron without damage.
  bool is_sound(vtkIdType cell) const {
    const Id corners = types_[cell] == VTK_HEXAHEDRON ? 8 : types_[cell] == VTK_TETRA ? 4 : -1;
    return offsets_[cell + 1] - offsets_[cell] == corners && offsets_[cell] >= 0 &&
           offsets_[cell] <= id_count_ - corners &&
           ids_are_inside(ids_ + offsets_[cell], corners, grid_->GetNumberOfPoints());
  }

  vtkUnstructuredGrid* grid_;
  const unsigned char* types_;
  const Id* offsets_;
  const Id* ids_;
  vtkIdType id_count_;
  CellAdder& others_;
  Eigen::Ref<Eigen::VectorXd> weights_;
  bool checked_ = false;
};

template <class Array>
void add_grid(vtkUnstructuredGrid* grid, Array* offsets, Array* connectivity, CellAdder& others,
              Eigen::Ref<Eigen::VectorXd> weights) {
  GridAdder<Array>(grid, offsets, connectivity, others, weights).run();
}

/// Whether the cells of a grid can be looked at in blocks: as many types and offsets as cells.
bool has_arrays(vtkUnstructuredGrid* grid) {
  return grid && grid->GetNumberOfCells() > 0 && grid->GetCellTypesArray() &&
         grid->GetCellTypesArray()->GetNumberOfValues() == grid->GetNumberOfCells();
}

int highest_of(const unsigned char* types, vtkIdType count) {
  std::array<bool, 256> found{};
  for (vtkIdType i = 0; i < count; ++i) found[types[i]] = true;
  int highest = 0;
  for (std::size_t type = 0; type < found.size(); ++type)
    if (found[type]) highest = std::max(highest, cell_dimension(static_cast<int>(type)));
  return highest;
}

}  // namespace

int highest_dimension(const Mesh& mesh) {
  AxisSpacing spacing;
  if (axis_spacing(mesh.vtk(), spacing))
    return static_cast<int>(std::count_if(spacing.lengths.begin(), spacing.lengths.end(),
                                          [](const auto& lengths) { return !lengths.empty(); }));
  auto* grid = vtkUnstructuredGrid::SafeDownCast(mesh.vtk());
  if (has_arrays(grid))
    return highest_of(grid->GetCellTypesArray()->GetPointer(0), grid->GetNumberOfCells());
  check_cells(mesh.vtk());
  const std::array<int, 256> dimensions = dimensions_by_type();
  int highest = 0;
  for_each_cell(mesh.vtk(), [&](const CellView& cell) {
    highest = std::max(highest, dimensions[static_cast<std::size_t>(cell.type)]);
  });
  return highest;
}

void add_measures(const Mesh& mesh, Association association, int highest,
                  Eigen::Ref<Eigen::VectorXd> weights, Places& spoilt_by) {
  AxisSpacing spacing;
  if (axis_spacing(mesh.vtk(), spacing))
    return add_structured(mesh, association, spacing, weights, spoilt_by);
  auto* grid = vtkUnstructuredGrid::SafeDownCast(mesh.vtk());
  if (highest == 0) return check_cells(mesh.vtk());
  CellAdder cells(mesh, association, highest, weights, spoilt_by);
  if (has_arrays(grid) && association == Association::point && highest == 3 && !cells.has_flags()) {
    vtkCellArray* stored = grid->GetCells();
    if (stored->IsStorage64Bit())
      return add_grid(grid, stored->GetOffsetsArray64(), stored->GetConnectivityArray64(), cells,
                      weights);
    return add_grid(grid, stored->GetOffsetsArray32(), stored->GetConnectivityArray32(), cells,
                    weights);
  }
  check_cells(mesh.vtk());
  for_each_cell(mesh.vtk(), [&](const CellView& cell) { cells.add(cell); });
}

}  // namespace funcattn
