#include "plugin/binding.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/text.h"

namespace funcattn {

namespace {

constexpr double far_outside = 0.1;  ///< Share of the training box by which a mesh may overhang.

std::string where(const Mesh& mesh, const ArraySpec& spec) {
  return mesh.origin() + ": " + to_string(spec.association) + " array '" + spec.name + "'";
}

std::string describe_inputs(const Contract& contract) {
  std::vector<std::string> texts;
  for (const InputArray& input : contract.inputs)
    texts.push_back("'" + input.name + "' (" + std::to_string(input.components) + ")");
  return join(texts, ", ");
}

/// Values of an array that the operator needs, [count, components].
RowMatrix required_array(const Mesh& mesh, const Contract& contract, const ArraySpec& spec) {
  const ArrayView view = mesh.array(spec.name, spec.association);
  if (view.components() != spec.components)
    throw DataError(where(mesh, spec) + " has " + std::to_string(view.components()) +
                    " components, the operator expects " + std::to_string(spec.components) +
                    "; its inputs are (components in brackets) " + describe_inputs(contract));
  return view.to_double();
}

/// Throws DataError if rows where `used` is positive hold NaN or Inf.
void check_finite(const std::string& what, const RowMatrix& values, const Eigen::VectorXd& used) {
  Eigen::Index count = 0;
  Eigen::Index first = -1;
  for (Eigen::Index row = 0; row < values.rows(); ++row) {
    if (used[row] <= 0 || values.row(row).allFinite()) continue;
    if (first < 0) first = row;
    ++count;
  }
  if (count > 0)
    throw DataError(what + " holds NaN or Inf at " + std::to_string(count) + " of " +
                    std::to_string(values.rows()) + " entries, the first at index " +
                    std::to_string(first) + "; repair or remove these values");
}

RowMatrix select_columns(const RowMatrix& values, const std::vector<int>& columns) {
  RowMatrix selected(values.rows(), static_cast<Eigen::Index>(columns.size()));
  for (std::size_t i = 0; i < columns.size(); ++i)
    selected.col(static_cast<Eigen::Index>(i)) = values.col(columns[i]);
  return selected;
}

Tensor to_tensor(const RowMatrix& values) {
  const Tensor tensor = torch::empty({values.rows(), values.cols()}, torch::kFloat64);
  std::copy_n(values.data(), values.size(), tensor.data_ptr<double>());
  return tensor;
}

Tensor to_tensor(const Eigen::VectorXd& values) {
  const Tensor tensor = torch::empty({values.size()}, torch::kFloat64);
  std::copy_n(values.data(), values.size(), tensor.data_ptr<double>());
  return tensor;
}

/// Value arrays side by side, [count, value_components], checked where `used` is positive.
RowMatrix gather_values(const Mesh& mesh, const Contract& contract, Eigen::Index count,
                        const Eigen::VectorXd& used) {
  RowMatrix values(count, contract.value_components());
  Eigen::Index column = 0;
  for (const InputArray& input : contract.inputs) {
    if (input.role != InputRole::value) continue;
    const RowMatrix array = required_array(mesh, contract, input);
    check_finite(where(mesh, input), array, used);
    values.middleCols(column, array.cols()) = array;
    column += array.cols();
  }
  return values;
}

Tensor gather_targets(const Mesh& mesh, const Contract& contract, Eigen::Index count,
                      const Eigen::VectorXd& used) {
  RowMatrix targets(count, contract.output_components());
  Eigen::Index column = 0;
  for (const ArraySpec& output : contract.outputs) {
    const ArrayView view = mesh.array(output.name, output.association);
    if (view.components() != output.components)
      throw DataError(where(mesh, output) + " has " + std::to_string(view.components()) +
                      " components, the operator predicts " + std::to_string(output.components));
    const RowMatrix array = view.to_double();
    check_finite(where(mesh, output), array, used);
    targets.middleCols(column, array.cols()) = array;
    column += array.cols();
  }
  return to_tensor(targets);
}

/// Rows of the points that the flag array marks and that are no ghosts.
std::vector<std::int64_t> flagged_rows(const Mesh& mesh, const Contract& contract,
                                       const InputArray& flag, const Eigen::VectorXd& presence) {
  const RowMatrix values = required_array(mesh, contract, flag);
  check_finite(where(mesh, flag), values, presence);
  std::vector<std::int64_t> rows;
  for (Eigen::Index row = 0; row < values.rows(); ++row)
    if (presence[row] > 0 && (values.row(row).array() != 0).any()) rows.push_back(row);
  if (rows.empty())
    throw DataError(where(mesh, flag) + " marks no source point: all of its " +
                    std::to_string(values.rows()) +
                    " values are 0; set it to 1 where the input is known");
  return rows;
}

}  // namespace

Sample bind_sample(const Mesh& mesh, const Contract& contract, const WeightChoice& weights,
                   bool with_targets) {
  const Association association = contract.association();
  const Eigen::Index count = mesh.count(association);
  if (count == 0)
    throw DataError(mesh.origin() + ": the mesh has no " + to_string(association) +
                    "s; nothing can be computed from it");
  const std::optional<InputArray> flag = contract.source_flag();
  const Eigen::VectorXd presence = mesh.presence(association);
  const Eigen::VectorXd query_weights = quadrature_weights(mesh, association, weights);

  std::vector<std::int64_t> source_rows;
  // Where an operator's values are needed: at its source points.
  Eigen::VectorXd used = query_weights;
  if (flag) {
    source_rows = flagged_rows(mesh, contract, *flag, presence);
    used.setZero();
    for (const std::int64_t row : source_rows) used[row] = 1;
  }

  const RowMatrix coordinates =
      select_columns(mesh.coordinates(association), contract.coordinates.axes);
  check_finite(mesh.origin() + ": the coordinates of the " + to_string(association) + "s",
               coordinates, query_weights.cwiseMax(used));
  const Tensor all_coordinates = to_tensor(coordinates);
  const Tensor all_values = to_tensor(gather_values(mesh, contract, count, used));

  Sample sample;
  sample.name = mesh.origin();
  sample.query.coordinates = all_coordinates;
  sample.query.weights = to_tensor(query_weights);
  if (flag) {
    const Tensor rows = torch::tensor(source_rows, torch::kInt64);
    sample.source.coordinates = all_coordinates.index_select(0, rows);
    sample.source.values = all_values.index_select(0, rows);
    sample.source.weights =
        torch::ones({static_cast<std::int64_t>(source_rows.size())}, torch::kFloat64);
    sample.query_is_source = false;
  } else {
    sample.query.values = all_values;
    sample.source = sample.query;
  }
  if (with_targets) sample.targets = gather_targets(mesh, contract, count, query_weights);
  return sample;
}

RowMatrix to_matrix(const Tensor& values) {
  const Tensor contiguous = values.detach().to(torch::kCPU, torch::kFloat64).contiguous();
  RowMatrix matrix(contiguous.size(0), contiguous.size(1));
  std::copy_n(contiguous.data_ptr<double>(), matrix.size(), matrix.data());
  return matrix;
}

std::vector<std::string> range_warnings(const Mesh& mesh, const Contract& contract) {
  std::vector<std::string> warnings;
  const Association association = contract.association();
  const std::int64_t count = mesh.count(association);
  if (contract.max_points > 0 && (count < contract.min_points || count > contract.max_points))
    warnings.push_back(mesh.origin() + " has " + std::to_string(count) + " " +
                       to_string(association) + "s, training had " +
                       std::to_string(contract.min_points) + " to " +
                       std::to_string(contract.max_points));

  const std::vector<int>& axes = contract.coordinates.axes;
  if (count == 0 || contract.bounds_min.size() != axes.size() ||
      contract.bounds_max.size() != axes.size())
    return warnings;
  const RowMatrix coordinates = select_columns(mesh.coordinates(association), axes);
  // The longest edge of the box is the yardstick: a planar training set has an edge of length 0.
  double longest = 0;
  for (std::size_t i = 0; i < axes.size(); ++i)
    longest = std::max(longest, contract.bounds_max[i] - contract.bounds_min[i]);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto column = coordinates.col(static_cast<Eigen::Index>(i));
    const double low = column.minCoeff<Eigen::PropagateNumbers>();
    const double high = column.maxCoeff<Eigen::PropagateNumbers>();
    if (low >= contract.bounds_min[i] - far_outside * longest &&
        high <= contract.bounds_max[i] + far_outside * longest)
      continue;
    warnings.push_back(mesh.origin() + " spans " + "xyz"[axes[i]] + " = " +
                       format_significant(low, 6) + " to " + format_significant(high, 6) +
                       ", training spanned " + format_significant(contract.bounds_min[i], 6) +
                       " to " + format_significant(contract.bounds_max[i], 6) +
                       ": the prediction extrapolates");
  }
  return warnings;
}

}  // namespace funcattn
