#include "plugin/binding.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.h"
#include "core/text.h"
#include "meshio/non_finite.h"
#include "meshio/shared_points.h"
#include "operators/classes.h"
#include "plugin/parameters.h"

namespace funcattn {

namespace {

constexpr double far_outside = 0.1;  ///< Share of the training box by which a mesh may overhang.
constexpr double negligible_extent = 0.01;  ///< Of the longest one.

std::string where(const Mesh& mesh, const ArraySpec& spec) {
  return mesh.origin() + ": " + to_string(spec.association) + " array '" + spec.name + "'";
}

std::string describe_inputs(const Contract& contract) {
  std::vector<std::string> texts;
  for (const InputArray& input : contract.inputs)
    if (input.role != InputRole::parameter)
      texts.push_back("'" + input.name + "' (" + std::to_string(input.components) + ")");
  return join(texts, ", ");
}

/// An array that the operator needs, checked.
ArrayView required_array(const Mesh& mesh, const Contract& contract, const ArraySpec& spec) {
  ArrayView view = mesh.array(spec.name, spec.association);
  if (view.components() != spec.components)
    throw DataError(where(mesh, spec) + " has " + std::to_string(view.components()) +
                    " components, the operator expects " + std::to_string(spec.components) +
                    "; its inputs are (components in brackets) " + describe_inputs(contract));
  return view;
}

/// The entries of all meshes, one mesh after the other.
class Entries {
 public:
  Entries(const std::vector<Mesh>& meshes, Association association) : meshes_(meshes) {
    for (const Mesh& mesh : meshes) {
      counts_.push_back(mesh.count(association));
      total_ += counts_.back();
    }
  }

  Eigen::Index total() const { return total_; }
  const std::vector<Eigen::Index>& counts() const { return counts_; }

  /// Calls `visit(mesh, first entry, number of entries)`; meshes without entries are left out, for
  /// they need hold nothing.
  template <class Visit>
  void for_each_mesh(const Visit& visit) const {
    Eigen::Index first = 0;
    for (std::size_t i = 0; i < meshes_.size(); ++i) {
      if (counts_[i] > 0) visit(meshes_[i], first, counts_[i]);
      first += counts_[i];
    }
  }

 private:
  const std::vector<Mesh>& meshes_;
  std::vector<Eigen::Index> counts_;
  Eigen::Index total_ = 0;
};

/// Finds the entries whose values are not finite.
class FiniteCheck {
 public:
  FiniteCheck(Eigen::Index count, NanPolicy policy)
      : policy_(policy), unusable_(static_cast<std::size_t>(count), false) {}
  /// Of true values, of which no policy can say anything else.
  FiniteCheck(Eigen::Index count, std::string advice) : FiniteCheck(count, NanPolicy::error) {
    advice_ = std::move(advice);
  }

  /// Marks rows of `values` that hold NaN or Inf, those that are needed only where `only_used`.
  /// Throws DataError for rows where `used` is positive, if the policy says so.
  template <class Values>
  void check(const std::string& what, const Values& values, Eigen::Index first,
             const Eigen::VectorXd& used, bool only_used) {
    Eigen::Index count = 0;
    Eigen::Index first_bad = -1;
    for (Eigen::Index row = 0; row < values.rows(); ++row) {
      const bool counts = used[first + row] > 0;
      if ((only_used && !counts) || values.row(row).allFinite()) continue;
      unusable_[static_cast<std::size_t>(first + row)] = true;
      if (!counts) continue;
      if (first_bad < 0) first_bad = row;
      ++count;
    }
    if (count > 0 && policy_ == NanPolicy::error)
      throw DataError(describe_non_finite(what, count, values.rows(), first_bad, advice_));
  }

  std::vector<bool> take() { return std::move(unusable_); }
  bool is_unusable(Eigen::Index row) const { return unusable_[static_cast<std::size_t>(row)]; }

 private:
  NanPolicy policy_;
  std::string advice_ = non_finite_advice;
  std::vector<bool> unusable_;
};

/// The memory of a float64 tensor [n,C] as a matrix.
Eigen::Map<RowMatrix> matrix_of(const Tensor& tensor) {
  return {tensor.data_ptr<double>(), tensor.size(0), tensor.size(1)};
}

Tensor to_tensor(const Eigen::VectorXd& values) {
  const Tensor tensor = torch::empty({values.size()}, torch::kFloat64);
  std::copy_n(values.data(), values.size(), tensor.data_ptr<double>());
  return tensor;
}

/// The values of an array to a block of a larger matrix, without a copy in between.
template <class Block>
void copy_all(const ArrayView& view, Block& block) {
  std::vector<int> columns(static_cast<std::size_t>(view.components()));
  std::iota(columns.begin(), columns.end(), 0);
  view.copy_columns(columns, block.data(), block.outerStride());
}

std::string coordinates_of(const Mesh& mesh, Association association) {
  return mesh.origin() + ": the coordinates of the " + to_string(association) + "s hold";
}

/// [entries, axes]
Tensor gather_coordinates(const Entries& entries, const Contract& contract,
                          const Eigen::VectorXd& used, FiniteCheck& finite) {
  const Association association = contract.association();
  const Tensor coordinates =
      torch::empty({entries.total(), contract.coordinates.dimension()}, torch::kFloat64);
  auto all = matrix_of(coordinates);
  entries.for_each_mesh([&](const Mesh& mesh, Eigen::Index first, Eigen::Index count) {
    auto block = all.middleRows(first, count);
    mesh.copy_coordinates(association, contract.coordinates.axes, block.data());
    finite.check(coordinates_of(mesh, association), block, first, used, false);
  });
  return coordinates;
}

/// The features side by side, [entries, value_components]: value arrays, and parameters as columns
/// of one number.
Tensor gather_values(const Entries& entries, const Contract& contract,
                     const std::vector<double>& parameters, const Eigen::VectorXd& used,
                     bool only_used, FiniteCheck& finite) {
  if (parameters.size() != static_cast<std::size_t>(contract.parameter_components()))
    throw UsageError(std::to_string(parameters.size()) + " numbers were given for parameters of " +
                     std::to_string(contract.parameter_components()) + " components");
  const Tensor values =
      torch::empty({entries.total(), contract.value_components()}, torch::kFloat64);
  auto all = matrix_of(values);
  entries.for_each_mesh([&](const Mesh& mesh, Eigen::Index first, Eigen::Index count) {
    Eigen::Index column = 0;
    auto parameter = parameters.begin();
    for (const InputArray& input : contract.inputs) {
      if (input.role == InputRole::parameter)
        for (int i = 0; i < input.components; ++i)
          all.block(first, column++, count, 1).setConstant(*parameter++);
      if (input.role != InputRole::value) continue;
      auto block = all.block(first, column, count, input.components);
      copy_all(required_array(mesh, contract, input), block);
      finite.check(where(mesh, input) + " holds", block, first, used, only_used);
      column += input.components;
    }
  });
  return values;
}

Tensor gather_targets(const Entries& entries, const Contract& contract, const Eigen::VectorXd& used,
                      bool of_query = false) {
  FiniteCheck finite(entries.total(),
                     of_query ? "repair these values, or give such entries the weight 0 with an "
                                "array of weights of the query"
                              : "repair these values, or give such entries the weight 0 with an "
                                "array of weights");
  const Tensor targets =
      torch::empty({entries.total(), contract.target_components()}, torch::kFloat64);
  auto all = matrix_of(targets);
  entries.for_each_mesh([&](const Mesh& mesh, Eigen::Index first, Eigen::Index count) {
    Eigen::Index column = 0;
    for (const OutputArray& output : contract.outputs) {
      const ArrayView view = mesh.array(output.name, output.association);
      if (view.components() != output.components)
        throw DataError(where(mesh, output) + " has " + std::to_string(view.components()) +
                        " components, the operator predicts " + std::to_string(output.components));
      auto block = all.block(first, column, count, output.components);
      copy_all(view, block);
      finite.check(where(mesh, output) + " holds", block, first, used, false);
      for (Eigen::Index row = 0; output.is_class() && row < count; ++row)
        if (used[first + row] > 0) require_class(block(row, 0), where(mesh, output), row);
      column += output.components;
    }
  });
  return targets;
}

/// Entries that the flag array marks and that are no ghosts.
std::vector<Eigen::Index> flagged_entries(const Entries& entries, const Contract& contract,
                                          const InputArray& flag, FiniteCheck& finite) {
  std::vector<Eigen::Index> rows;
  Eigen::VectorXd presence(entries.total());
  entries.for_each_mesh([&](const Mesh& mesh, Eigen::Index first, Eigen::Index) {
    const RowMatrix values = required_array(mesh, contract, flag).to_double();
    presence.segment(first, values.rows()) = mesh.presence(contract.association());
    finite.check(where(mesh, flag) + " holds", values, first, presence, true);
    for (Eigen::Index row = 0; row < values.rows(); ++row)
      if (presence[first + row] > 0 && (values.row(row).array() != 0).any())
        rows.push_back(first + row);
  });
  return rows;
}

void refuse_no_source(const Entries& entries, const Contract& contract, const InputArray& flag,
                      bool anything) {
  if (anything) return;
  std::string last =
      "the " + std::string(to_string(contract.association())) + " array '" + flag.name + "'";
  entries.for_each_mesh(
      [&](const Mesh& mesh, Eigen::Index, Eigen::Index) { last = where(mesh, flag); });
  throw DataError(last + " marks no source point: all of its " + std::to_string(entries.total()) +
                  " values are 0; set it to 1 where the input is known");
}

Eigen::VectorXd presence_of(const Entries& entries, Association association) {
  Eigen::VectorXd presence(entries.total());
  entries.for_each_mesh([&](const Mesh& mesh, Eigen::Index first, Eigen::Index count) {
    presence.segment(first, count) = mesh.presence(association);
  });
  return presence;
}

/// How many of the rows, which ascend, belong to each mesh.
std::vector<std::int64_t> counts_by_mesh(const std::vector<std::int64_t>& rows,
                                         const std::vector<Eigen::Index>& counts) {
  std::vector<std::int64_t> numbers;
  auto row = rows.begin();
  Eigen::Index end = 0;
  for (const Eigen::Index count : counts) {
    end += count;
    const auto next = std::lower_bound(row, rows.end(), end);
    numbers.push_back(next - row);
    row = next;
  }
  return numbers;
}

void refuse_nothing_left(const std::vector<Mesh>& meshes, bool anything) {
  if (!anything)
    throw DataError((meshes.empty() ? "the mesh" : meshes.front().origin()) +
                    ": nothing to compute from is left, since all that weighs anything holds NaN "
                    "or Inf");
}

}  // namespace

NonFinitePlaces places_for(NanPolicy policy) {
  return policy == NanPolicy::error ? NonFinitePlaces::refuse : NonFinitePlaces::weigh_nothing;
}

Eigen::Index BoundMeshes::unusable_count() const {
  return std::count(unusable.begin(), unusable.end(), true);
}

BoundMeshes bind_meshes(const std::vector<Mesh>& meshes, const Contract& contract,
                        const WeightChoice& weights, NanPolicy nan, bool with_targets,
                        const std::vector<double>& parameters, ProcessGroup* processes) {
  const Association association = contract.association();
  const Entries entries(meshes, association);
  if (total_of_all(processes, static_cast<std::int64_t>(entries.total())) == 0)
    throw DataError((meshes.empty() ? std::string("no mesh was given")
                                    : meshes.front().origin() + ": the mesh has no " +
                                          to_string(association) + "s") +
                    "; nothing can be computed from it");
  const std::optional<InputArray> flag = contract.source_flag();
  Eigen::VectorXd query_weights;
  BoundMeshes bound;
  bound.counts = entries.counts();
  PointSamples& all = bound.sample.query;
  WeightsInPieces in_pieces =
      quadrature_weights(meshes, association, weights, places_for(nan), processes);
  query_weights = std::move(in_pieces.weights);
  const bool is_shared = processes || in_pieces.shares.size() > 0;
  if (is_shared) all.shares = to_tensor(in_pieces.shares);
  if (processes) all.pieces.assign(bound.counts.begin(), bound.counts.end());
  FiniteCheck finite(entries.total(), nan);

  std::vector<Eigen::Index> source_rows;
  // Where an operator's values are needed: at its source points.
  Eigen::VectorXd used = query_weights;
  if (flag) {
    source_rows = flagged_entries(entries, contract, *flag, finite);
    refuse_no_source(entries, contract, *flag, any_of_all(processes, !source_rows.empty()));
    used.setZero();
    for (const Eigen::Index row : source_rows) used[row] = 1;
  }
  const Tensor coordinates =
      gather_coordinates(entries, contract, query_weights.cwiseMax(used), finite);
  const Tensor values =
      gather_values(entries, contract, parameters, used, flag.has_value(), finite);

  for (Eigen::Index row = 0; row < entries.total(); ++row)
    if (finite.is_unusable(row)) query_weights[row] = 0;
  refuse_nothing_left(meshes, flag || any_of_all(processes, (query_weights.array() > 0).any()));

  if (!meshes.empty()) bound.sample.name = meshes.front().origin();
  all.coordinates = coordinates;
  all.weights = to_tensor(query_weights);
  if (flag) {
    for (const Eigen::Index row : source_rows)
      if (!finite.is_unusable(row)) bound.source_entries.push_back(row);
    refuse_nothing_left(meshes, any_of_all(processes, !bound.source_entries.empty()));
    const Tensor index = torch::tensor(bound.source_entries, torch::kInt64);
    bound.sample.source.coordinates = coordinates.index_select(0, index);
    bound.sample.source.values = values.index_select(0, index);
    bound.sample.source.weights = torch::ones({index.size(0)}, torch::kFloat64);
    if (is_shared) {
      // Of the points that may be source points, a ghost is none, whatever it weighs.
      bound.sample.source.weights =
          to_tensor(point_shares(meshes, association, presence_of(entries, association), processes))
              .index_select(0, index);
      if (processes)
        bound.sample.source.pieces = counts_by_mesh(bound.source_entries, bound.counts);
    }
    bound.sample.query_is_source = false;
  } else {
    bound.sample.query.values = values;
    bound.sample.source = bound.sample.query;
  }
  if (with_targets) bound.sample.targets = gather_targets(entries, contract, query_weights);
  bound.unusable = finite.take();
  return bound;
}

Sample bind_sample(const Mesh& mesh, const Contract& contract, const WeightChoice& weights,
                   bool with_targets) {
  // Of no use here: the training range is about to be recorded, or was looked at.
  std::vector<std::string> warnings;
  const std::vector<double> parameters =
      parameter_values(contract, {mesh.origin(), {mesh}}, nullptr, {}, warnings);
  Sample sample =
      bind_meshes({mesh}, contract, weights, NanPolicy::error, with_targets, parameters).sample;
  // The operations of training know weights alone.
  sample.source.shares = sample.query.shares = Tensor();
  return sample;
}

Sample bind_pieces(const MeshTree& pieces, const Contract& contract, const WeightChoice& weights,
                   ProcessGroup& processes) {
  StageMeshes meshes{pieces.origin(), pieces.leaves()};
  if (!pieces.is_single()) meshes.root = pieces.vtk();
  meshes.time = pieces.time();
  StageOptions options;
  options.engine.processes = &processes;
  std::vector<std::string> warnings;
  const std::vector<double> parameters =
      parameter_values(contract, meshes, nullptr, options, warnings);
  Sample sample =
      bind_meshes(meshes.parts, contract, weights, NanPolicy::error, true, parameters, &processes)
          .sample;
  sample.name = pieces.origin();
  // The order of sums is not fixed.
  sample.source.pieces.clear();
  sample.query.pieces.clear();
  return sample;
}

BoundQuery bind_query(const std::vector<Mesh>& meshes, const Contract& contract, bool with_values,
                      const Eigen::VectorXd& weights, NanPolicy nan,
                      const std::vector<double>& parameters) {
  const Entries entries(meshes, contract.association());
  const Eigen::VectorXd used = presence_of(entries, contract.association());
  FiniteCheck finite(entries.total(), nan);
  BoundQuery bound;
  bound.counts = entries.counts();
  bound.points.coordinates = gather_coordinates(entries, contract, used, finite);
  if (with_values)
    bound.points.values = gather_values(entries, contract, parameters, used, false, finite);
  bound.unusable = finite.take();
  Eigen::VectorXd usable_weights = weights;
  for (Eigen::Index row = 0; row < entries.total(); ++row)
    if (bound.unusable[static_cast<std::size_t>(row)]) usable_weights[row] = 0;
  bound.points.weights = to_tensor(usable_weights);
  return bound;
}

Tensor bind_targets(const std::vector<Mesh>& meshes, const Contract& contract,
                    const Eigen::VectorXd& used, bool of_query) {
  return gather_targets(Entries(meshes, contract.association()), contract, used, of_query);
}

Tensor to_tensor(const RowMatrix& values) {
  const Tensor tensor = torch::empty({values.rows(), values.cols()}, torch::kFloat64);
  std::copy_n(values.data(), values.size(), tensor.data_ptr<double>());
  return tensor;
}

RowMatrix to_matrix(const Tensor& values) {
  const Tensor contiguous = values.detach().to(torch::kCPU, torch::kFloat64).contiguous();
  RowMatrix matrix(contiguous.size(0), contiguous.size(1));
  std::copy_n(contiguous.data_ptr<double>(), matrix.size(), matrix.data());
  return matrix;
}

std::vector<std::string> count_warnings(const std::string& origin, Eigen::Index count,
                                        const Contract& contract, bool sums_grow) {
  const bool fewer = count < contract.min_points;
  if (contract.max_points == 0 || !(fewer || (sums_grow && count > contract.max_points))) return {};
  return {origin + " has " + std::to_string(count) + " " + to_string(contract.association()) +
          "s, training had " + std::to_string(contract.min_points) + " to " +
          std::to_string(contract.max_points) +
          (sums_grow ? ": the sums of this form grow with their number"
                     : ": they show less of the input than the operator learned from")};
}

std::vector<std::string> box_warnings(const std::string& origin, const Tensor& coordinates,
                                      const Contract& contract, ProcessGroup* processes) {
  std::vector<std::string> warnings;
  const std::vector<int>& axes = contract.coordinates.axes;
  if (contract.bounds_min.size() != axes.size() || contract.bounds_max.size() != axes.size())
    return warnings;
  // The longest edge of the box is the yardstick: a planar training set has an edge of length 0.
  double longest = 0;
  for (std::size_t i = 0; i < axes.size(); ++i)
    longest = std::max(longest, contract.bounds_max[i] - contract.bounds_min[i]);
  const auto places = matrix_of(coordinates);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto column = places.col(static_cast<Eigen::Index>(i));
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    if (column.size() > 0) {
      low = column.minCoeff<Eigen::PropagateNumbers>();
      high = column.maxCoeff<Eigen::PropagateNumbers>();
    }
    low = -largest_of_all(processes, -low);
    high = largest_of_all(processes, high);
    if (low > high) return warnings;  // There is no point.
    if (low >= contract.bounds_min[i] - far_outside * longest &&
        high <= contract.bounds_max[i] + far_outside * longest)
      continue;
    warnings.push_back(origin + " spans " + "xyz"[axes[i]] + " = " + format_significant(low, 6) +
                       " to " + format_significant(high, 6) + ", training spanned " +
                       format_significant(contract.bounds_min[i], 6) + " to " +
                       format_significant(contract.bounds_max[i], 6) +
                       ": the prediction extrapolates");
  }
  return warnings;
}

std::vector<std::string> unseen_axis_warnings(const std::string& origin,
                                              const std::vector<Mesh>& meshes,
                                              const Contract& contract, ProcessGroup* processes) {
  const std::vector<int>& axes = contract.coordinates.axes;
  if (axes.empty()) return {};
  double low[3], high[3], longest = 0;
  for (int axis = 0; axis < 3; ++axis) {
    low[axis] = std::numeric_limits<double>::infinity();
    high[axis] = -low[axis];
    for (const Mesh& mesh : meshes) {
      if (mesh.count(Association::point) == 0) continue;
      const double* bounds = mesh.vtk()->GetBounds();
      low[axis] = std::min(low[axis], bounds[2 * axis]);
      high[axis] = std::max(high[axis], bounds[2 * axis + 1]);
    }
    low[axis] = -largest_of_all(processes, -low[axis]);
    high[axis] = largest_of_all(processes, high[axis]);
    longest = std::max(longest, high[axis] - low[axis]);
  }
  std::vector<std::string> known;
  for (const int axis : axes) known.emplace_back(1, "xyz"[axis]);
  std::vector<std::string> warnings;
  for (int axis = 0; axis < 3; ++axis)
    if (std::find(axes.begin(), axes.end(), axis) == axes.end() &&
        high[axis] - low[axis] > negligible_extent * longest)
      warnings.push_back(
          origin + " spans " + "xyz"[axis] + " = " + format_significant(low[axis], 6) + " to " +
          format_significant(high[axis], 6) +
          ", which the operator does not see: it was trained along " + join(known, " and "));
  return warnings;
}

}  // namespace funcattn
