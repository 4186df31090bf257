#include "meshio/quadrature.h"

#include <vtkDataArray.h>
#include <vtkImageData.h>
#include <vtkMatrix3x3.h>
#include <vtkRectilinearGrid.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <set>

#include "core/error.h"
#include "core/text.h"
#include "meshio/cell_measure.h"
#include "meshio/cells.h"
#include "meshio/data_set_check.h"
#include "meshio/density.h"
#include "meshio/ghosts.h"
#include "meshio/non_finite.h"
#include "meshio/shared_points.h"

namespace funcattn {

namespace {

/// 1 for the points that may weigh something by the cells around them, 0 for others.
///
/// A point of a mesh in pieces with ghost layers must weigh what it does in the whole mesh. The
/// generators of ghost layers disagree on who owns a point of the seam: some flag it in all pieces
/// but one, some in none. All agree on cells, though: each is free of flags in one piece. So every
/// piece adds the shares of its own cells, also to points that it does not own, and the sum over
/// the pieces is right in either case. Points of the ghost layer alone come out as 0 by themselves.
/// Where no cell is flagged, flagged points are left out as they say.
Eigen::VectorXd weighable_points(const Mesh& mesh) {
  Eigen::VectorXd weighable = mesh.presence(Association::point);
  vtkUnsignedCharArray* flags = ghost_flags(mesh.vtk(), Association::point);
  if (!flags || !ghost_flags(mesh.vtk(), Association::cell)) return weighable;
  for (vtkIdType i = 0; i < weighable.size(); ++i)
    weighable[i] = flags->GetValue(i) & vtkDataSetAttributes::HIDDENPOINT ? 0 : 1;
  return weighable;
}

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

/// Points whose coordinates are NaN or Inf.
using Places = std::set<Eigen::Index>;

void add_non_finite(const Mesh& mesh, Places& places) {
  const DoubleView view = mesh.coordinate_view(Association::point);
  const auto points = view.matrix();
  for (Eigen::Index row = 0; row < points.rows(); ++row)
    if (!points.row(row).allFinite()) places.insert(row);
}

Eigen::VectorXd structured_measure(const Mesh& mesh, Association association,
                                   const AxisSpacing& spacing, Places& spoilt_by) {
  Eigen::VectorXd weights = Eigen::VectorXd::Zero(mesh.count(association));
  if (mesh.count(Association::point) == 0) return weights;
  const Eigen::VectorXd present = mesh.presence(Association::cell);
  std::array<std::size_t, 3> last{};  // 1 along an axis with cells: the far corner.
  double corners = 1;
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (!spacing.lengths[axis].empty()) {
      last[axis] = 1;
      corners *= 2;
    }
  if (corners == 1) return weights;
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
  return weights;
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

/// Highest dimension of the cells, 0 where there are none or vertices only.
int highest_dimension(const Mesh& mesh) {
  AxisSpacing spacing;
  if (axis_spacing(mesh.vtk(), spacing))
    return static_cast<int>(std::count_if(spacing.lengths.begin(), spacing.lengths.end(),
                                          [](const auto& lengths) { return !lengths.empty(); }));
  check_cells(mesh.vtk());
  const std::array<int, 256> dimensions = dimensions_by_type();
  int highest = 0;
  for_each_cell(mesh.vtk(), [&](const CellView& cell) {
    highest = std::max(highest, dimensions[static_cast<std::size_t>(cell.type)]);
  });
  return highest;
}

/// Measures of the cells of dimension `highest`, the mesh's highest one. Cells at places that are
/// not finite measure 0, and these places are added to `spoilt_by`.
Eigen::VectorXd measure_weights(const Mesh& mesh, Association association, int highest,
                                Places& spoilt_by) {
  Eigen::VectorXd weights = Eigen::VectorXd::Zero(mesh.count(association));
  if (highest == 0) return weights;
  AxisSpacing spacing;
  if (axis_spacing(mesh.vtk(), spacing))
    return structured_measure(mesh, association, spacing, spoilt_by);

  const DoubleView points = mesh.coordinate_view(Association::point);
  vtkUnsignedCharArray* flags = ghost_flags(mesh.vtk(), Association::cell);
  const std::array<int, 256> dimensions = dimensions_by_type();
  const CellMeasure measure_of(mesh.vtk(), points.matrix());
  const auto checked_measure = [&](const CellView& cell) {
    const double measure = measure_of(cell);
    if (std::isfinite(measure)) return measure;
    bool is_spoilt = false;
    for (vtkIdType i = 0; i < cell.size; ++i) {
      if (points.matrix().row(cell.points[i]).allFinite()) continue;
      spoilt_by.insert(cell.points[i]);
      is_spoilt = true;
    }
    if (!is_spoilt)
      throw DataError("the measure of cell " + std::to_string(cell.id) +
                      " is not finite; look for huge coordinates, or use uniform weights");
    return 0.0;
  };
  for_each_cell(mesh.vtk(), [&](const CellView& cell) {
    if (dimensions[static_cast<std::size_t>(cell.type)] != highest ||
        (flags && flags->GetValue(cell.id) & kAbsentCell))
      return;
    if (association == Association::cell) {
      weights[cell.id] = checked_measure(cell);
      return;
    }
    for_each_part(cell, [&](const CellView& part) {
      const double share = checked_measure(part) / static_cast<double>(part.size);
      for (vtkIdType i = 0; i < part.size; ++i) weights[part.points[i]] += share;
    });
  });
  return weights;
}

Eigen::VectorXd array_weights(const Mesh& mesh, Association association, const std::string& name) {
  const ArrayView view = mesh.array(name, association);
  const std::string described =
      std::string(to_string(association)) + " array '" + name + "', chosen as weights,";
  if (view.components() != 1)
    throw DataError(described + " has " + std::to_string(view.components()) +
                    " components, expected 1");
  const Eigen::VectorXd weights = view.to_double();
  for (Eigen::Index i = 0; i < weights.size(); ++i)
    if (!(weights[i] >= 0) || !std::isfinite(weights[i]))
      throw DataError(described + " holds " + format_number(weights[i]) + " at " +
                      to_string(association) + " " + std::to_string(i) +
                      "; weights must be finite and >= 0");
  return weights;
}

/// What a message about a mesh begins with.
std::string named(const std::string& origin, const std::string& message) {
  return message.rfind(origin, 0) == 0 ? message : origin + ": " + message;
}

/// Calls `visit(mesh, first row, number of rows)` for the meshes that have any: an empty one need
/// hold nothing. Errors name the mesh.
template <class Visit>
void for_each_mesh(const std::vector<Mesh>& meshes, Association association, const Visit& visit) {
  Eigen::Index first = 0;
  for (const Mesh& mesh : meshes) {
    const Eigen::Index count = mesh.count(association);
    try {
      if (count > 0) visit(mesh, first, count);
    } catch (const DataError& error) {
      throw DataError(named(mesh.origin(), error.what()));
    }
    first += count;
  }
}

Eigen::Index total_count(const std::vector<Mesh>& meshes, Association association) {
  Eigen::Index total = 0;
  for (const Mesh& mesh : meshes) total += mesh.count(association);
  return total;
}

Eigen::VectorXd joined_presence(const std::vector<Mesh>& meshes, Association association) {
  Eigen::VectorXd present(total_count(meshes, association));
  for_each_mesh(meshes, association, [&](const Mesh& mesh, Eigen::Index first, Eigen::Index count) {
    present.segment(first, count) = mesh.presence(association);
  });
  return present;
}

void refuse_places(const Mesh& mesh, Association association, const Places& spoilt) {
  if (!spoilt.empty())
    throw DataError(describe_non_finite(
        mesh.origin() + ": the coordinates of the " + to_string(association) + "s hold",
        static_cast<Eigen::Index>(spoilt.size()), mesh.count(association), *spoilt.begin()));
}

Eigen::VectorXd joined_density(const std::vector<Mesh>& meshes, Association association,
                               NonFinitePlaces places, bool& is_spoilt) {
  RowMatrix points(total_count(meshes, association), 3);
  for_each_mesh(meshes, association, [&](const Mesh& mesh, Eigen::Index first, Eigen::Index count) {
    points.middleRows(first, count) = mesh.coordinates(association);
  });
  Eigen::VectorXd present = joined_presence(meshes, association);
  for_each_mesh(meshes, association, [&](const Mesh& mesh, Eigen::Index first, Eigen::Index count) {
    Places spoilt;
    for (Eigen::Index row = 0; row < count; ++row)
      if (present[first + row] > 0 && !points.row(first + row).allFinite()) spoilt.insert(row);
    if (places == NonFinitePlaces::refuse) refuse_places(mesh, association, spoilt);
    for (const Eigen::Index row : spoilt) present[first + row] = 0;
    is_spoilt = is_spoilt || !spoilt.empty();
  });
  return present.cwiseProduct(density_weights(points, present));
}

Eigen::VectorXd joined_arrays(const std::vector<Mesh>& meshes, Association association,
                              const std::string& name) {
  Eigen::VectorXd weights = joined_presence(meshes, association);
  for_each_mesh(meshes, association, [&](const Mesh& mesh, Eigen::Index first, Eigen::Index count) {
    weights.segment(first, count).array() *= array_weights(mesh, association, name).array();
  });
  return weights;
}

std::string origin_of(const std::vector<Mesh>& meshes) {
  return meshes.empty() ? "the mesh" : meshes.front().origin();
}

struct Chosen {
  Eigen::VectorXd weights;
  bool adds_up = false;  ///< Over the pieces that hold a point.
};

/// @param is_spoilt see chosen_weights()
Eigen::VectorXd joined_measure(const std::vector<Mesh>& meshes, Association association,
                               NonFinitePlaces places, ProcessGroup* processes, bool& is_spoilt) {
  std::vector<int> dimensions;  // Of the meshes that have rows.
  for_each_mesh(meshes, association, [&](const Mesh& mesh, Eigen::Index, Eigen::Index) {
    dimensions.push_back(highest_dimension(mesh));
  });
  const int highest = static_cast<int>(largest_of_all(
      processes, dimensions.empty() ? 0 : *std::max_element(dimensions.begin(), dimensions.end())));
  Eigen::VectorXd weights = Eigen::VectorXd::Zero(total_count(meshes, association));
  auto dimension = dimensions.begin();
  for_each_mesh(meshes, association, [&](const Mesh& mesh, Eigen::Index first, Eigen::Index count) {
    if (*dimension++ != highest) return;
    const Eigen::VectorXd weighable =
        association == Association::point ? weighable_points(mesh) : mesh.presence(association);
    Places spoilt_by;
    weights.segment(first, count) =
        weighable.cwiseProduct(measure_weights(mesh, association, highest, spoilt_by));
    if (places == NonFinitePlaces::refuse) refuse_places(mesh, Association::point, spoilt_by);
    is_spoilt = is_spoilt || !spoilt_by.empty();
  });
  return weights;
}

/// @param is_spoilt whether entries weigh nothing for the places of points
Chosen chosen_weights(const std::vector<Mesh>& meshes, Association association,
                      const WeightChoice& choice, NonFinitePlaces places, ProcessGroup* processes,
                      bool& is_spoilt) {
  if (choice.kind == WeightKind::density)
    return {joined_density(meshes, association, places, is_spoilt)};
  if (choice.kind == WeightKind::array) return {joined_arrays(meshes, association, choice.array)};
  if (choice.kind == WeightKind::uniform) return {joined_presence(meshes, association)};
  const Eigen::VectorXd weights = joined_measure(meshes, association, places, processes, is_spoilt);
  is_spoilt = any_of_all(processes, is_spoilt);
  // Where only places are to blame, other weights would not be those of the mesh.
  if (is_spoilt || any_of_all(processes, (weights.array() > 0).any())) return {weights, true};
  const Eigen::VectorXd present = joined_presence(meshes, association);
  const bool has_rows = any_of_all(processes, present.size() > 0);
  if (has_rows && !any_of_all(processes, (present.array() > 0).any()))
    throw DataError(origin_of(meshes) + ": all " + std::to_string(present.size()) + " " +
                    to_string(association) + "s are ghosts or hidden; nothing is left to weigh");
  if (choice.kind == WeightKind::measure && has_rows)
    throw DataError(origin_of(meshes) +
                    ": the mesh has no cells of positive length, area or volume to weigh by; use "
                    "uniform weights");
  return {present};
}

void refuse_no_weight(const std::vector<Mesh>& meshes, Association association,
                      const Eigen::VectorXd& weights, bool is_spoilt, ProcessGroup* processes) {
  // What NaN leaves nothing of is for those to say who know about NaN elsewhere, too.
  if (!is_spoilt && !any_of_all(processes, (weights.array() > 0).any()))
    throw DataError(origin_of(meshes) + ": no " + to_string(association) +
                    " has a positive weight (of " + std::to_string(weights.size()) +
                    "); give one to those that take part");
}

}  // namespace

WeightChoice weight_choice_from_string(const std::string& text) {
  if (text == "auto") return {};
  if (text == "uniform") return {WeightKind::uniform, ""};
  if (text == "measure") return {WeightKind::measure, ""};
  if (text == "density") return {WeightKind::density, ""};
  const std::string prefix = "array:";
  if (text.rfind(prefix, 0) == 0 && text.size() > prefix.size())
    return {WeightKind::array, text.substr(prefix.size())};
  throw UsageError("unknown weights '" + text +
                   "'; expected auto, uniform, measure, density or array:NAME");
}

std::string to_string(const WeightChoice& choice) {
  switch (choice.kind) {
    case WeightKind::automatic:
      return "auto";
    case WeightKind::uniform:
      return "uniform";
    case WeightKind::measure:
      return "measure";
    case WeightKind::density:
      return "density";
    case WeightKind::array:
      break;
  }
  return "array:" + choice.array;
}

Eigen::VectorXd quadrature_weights(const Mesh& mesh, Association association,
                                   const WeightChoice& choice, NonFinitePlaces places) {
  return quadrature_weights(std::vector<Mesh>{mesh}, association, choice, places);
}

Eigen::VectorXd quadrature_weights(const std::vector<Mesh>& meshes, Association association,
                                   const WeightChoice& choice, NonFinitePlaces places) {
  if (meshes.empty()) throw DataError("no meshes to weigh");
  bool is_spoilt = false;
  const Eigen::VectorXd weights =
      chosen_weights(meshes, association, choice, places, nullptr, is_spoilt).weights;
  refuse_no_weight(meshes, association, weights, is_spoilt, nullptr);
  return weights;
}

WeightsInPieces quadrature_weights(const std::vector<Mesh>& meshes, Association association,
                                   const WeightChoice& choice, NonFinitePlaces places,
                                   ProcessGroup& processes) {
  if (choice.kind == WeightKind::density)
    throw UsageError(
        "weights by density need all points in one process; run it in one, or choose measure, "
        "uniform or array:NAME");
  bool is_spoilt = false;
  Chosen chosen = chosen_weights(meshes, association, choice, places, &processes, is_spoilt);
  refuse_no_weight(meshes, association, chosen.weights, is_spoilt, &processes);
  WeightsInPieces result;
  result.shares = point_shares(meshes, association, chosen.weights, processes);
  result.weights = chosen.adds_up ? std::move(chosen.weights)
                                  : chosen.weights.cwiseProduct(result.shares).eval();
  return result;
}

}  // namespace funcattn
