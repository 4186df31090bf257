#include "meshio/quadrature.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "meshio/density.h"
#include "meshio/ghosts.h"
#include "meshio/large_pages.h"
#include "meshio/measure_weights.h"
#include "meshio/non_finite.h"
#include "meshio/shared_points.h"

namespace funcattn {

namespace {

/// Sets the weights of absent points or cells, made of the cells around them, to 0.
///
/// A point of a mesh in pieces with ghost layers must weigh what it does in the whole mesh. The
/// generators of ghost layers disagree on who owns a point of the seam: some flag it in all pieces
/// but one, some in none. All agree on cells, though: each is free of flags in one piece. So every
/// piece adds the shares of its own cells, also to points that it does not own, and the sum over
/// the pieces is right in either case. Points of the ghost layer alone come out as 0 by themselves.
/// Where no cell is flagged, flagged points are left out as they say.
void leave_out_absent(const Mesh& mesh, Association association,
                      Eigen::Ref<Eigen::VectorXd> weights) {
  vtkUnsignedCharArray* flags = ghost_flags(mesh.vtk(), association);
  if (!flags) return;
  const bool own_cells_count =
      association == Association::point && ghost_flags(mesh.vtk(), Association::cell);
  const int absent = association == Association::cell ? kAbsentCell
                     : own_cells_count ? static_cast<int>(vtkDataSetAttributes::HIDDENPOINT)
                                       : kAbsentPoint;
  for (Eigen::Index i = 0; i < weights.size(); ++i)
    if (flags->GetValue(i) & absent) weights[i] = 0;
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
  if (meshes.size() == 1) return meshes.front().presence(association);
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
  /// Over the pieces that hold a point: density and measure see what is around each copy.
  bool adds_up = false;
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
  Eigen::VectorXd weights = in_large_pages(Eigen::VectorXd(total_count(meshes, association)));
  weights.setZero();
  auto dimension = dimensions.begin();
  for_each_mesh(meshes, association, [&](const Mesh& mesh, Eigen::Index first, Eigen::Index count) {
    if (*dimension++ != highest) return;
    Places spoilt_by;
    add_measures(mesh, association, highest, weights.segment(first, count), spoilt_by);
    leave_out_absent(mesh, association, weights.segment(first, count));
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
    return {joined_density(meshes, association, places, is_spoilt), true};
  if (choice.kind == WeightKind::array) return {joined_arrays(meshes, association, choice.array)};
  if (choice.kind == WeightKind::uniform) return {joined_presence(meshes, association)};
  Eigen::VectorXd weights = joined_measure(meshes, association, places, processes, is_spoilt);
  is_spoilt = any_of_all(processes, is_spoilt);
  // Where only places are to blame, other weights would not be those of the mesh.
  if (is_spoilt || any_of_all(processes, (weights.array() > 0).any()))
    return {std::move(weights), true};
  Eigen::VectorXd present = joined_presence(meshes, association);
  const bool has_rows = any_of_all(processes, present.size() > 0);
  if (has_rows && !any_of_all(processes, (present.array() > 0).any()))
    throw DataError(origin_of(meshes) + ": all " + std::to_string(present.size()) + " " +
                    to_string(association) + "s are ghosts or hidden; nothing is left to weigh");
  if (choice.kind == WeightKind::measure && has_rows)
    throw DataError(origin_of(meshes) +
                    ": the mesh has no cells of positive length, area or volume to weigh by; use "
                    "uniform weights");
  return {std::move(present)};
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
  return quadrature_weights(meshes, association, choice, places, nullptr).weights;
}

WeightsInPieces quadrature_weights(const std::vector<Mesh>& meshes, Association association,
                                   const WeightChoice& choice, NonFinitePlaces places,
                                   ProcessGroup* processes) {
  if (processes && choice.kind == WeightKind::density)
    throw UsageError(
        "weights by density need all points in one process; run it in one, or choose measure, "
        "uniform or array:NAME");
  bool is_spoilt = false;
  Chosen chosen = chosen_weights(meshes, association, choice, places, processes, is_spoilt);
  refuse_no_weight(meshes, association, chosen.weights, is_spoilt, processes);
  WeightsInPieces result;
  if (processes || has_pieces(meshes))
    result.shares = point_shares(meshes, association, chosen.weights, processes);
  result.weights = chosen.adds_up || result.shares.size() == 0
                       ? std::move(chosen.weights)
                       : chosen.weights.cwiseProduct(result.shares).eval();
  return result;
}

}  // namespace funcattn
