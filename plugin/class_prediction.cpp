#include "plugin/class_prediction.h"

#include <limits>
#include <vector>

#include "meshio/association_conversion.h"
#include "meshio/class_array.h"

namespace funcattn {

namespace {

/// @param scores [n, classes]: logits or shares; rows that hold NaN or are all 0 have no class
Eigen::VectorXi largest(const OutputArray& output, const RowMatrix& scores) {
  Eigen::VectorXi classes(scores.rows());
  for (Eigen::Index row = 0; row < scores.rows(); ++row) {
    Eigen::Index column = 0;
    scores.row(row).maxCoeff(&column);
    classes[row] =
        scores.row(row).allFinite() ? output.classes[static_cast<std::size_t>(column)] : no_class;
  }
  return classes;
}

RowMatrix shares_of(const RowMatrix& logits) {
  RowMatrix shares = logits;
  for (Eigen::Index row = 0; row < shares.rows(); ++row) {
    auto values = shares.row(row).array();
    values = (values - values.maxCoeff()).exp();
    values /= values.sum();
  }
  return shares;
}

std::vector<std::string> class_names(const OutputArray& output) {
  std::vector<std::string> names;
  for (const int value : output.classes) names.push_back(std::to_string(value));
  return names;
}

}  // namespace

ArraySpec probability_spec(const OutputArray& output, const std::string& suffix) {
  return {output.name + suffix + "_probability", output.association, output.channels(), ""};
}

Mesh with_class_prediction(const Mesh& mesh, const OutputArray& output, const RowMatrix& logits,
                           const StageOptions& options) {
  const std::string name = output.name + options.suffix;
  Mesh result = with_class_array(mesh, name, output.association, largest(output, logits));
  if (!options.probabilities && !options.convert_association) return result;

  const ArraySpec shares = probability_spec(output, options.suffix);
  const auto with_names = [&](const Mesh& given, Association association) {
    return with_component_names(given, shares.name, association, class_names(output));
  };
  Mesh with_shares =
      with_names(result.with_array(shares, shares_of(logits), true), output.association);
  if (!options.convert_association) return with_shares;

  const Association other =
      output.association == Association::point ? Association::cell : Association::point;
  with_shares = convert_arrays(with_shares, {shares.name}, other);
  RowMatrix converted = with_shares.array(shares.name, other).to_double();
  for (Eigen::Index row = 0; row < converted.rows(); ++row)
    if ((converted.row(row).array() == 0).all())  // A point that no cell uses.
      converted.row(row).setConstant(std::numeric_limits<double>::quiet_NaN());
  if (options.probabilities) result = with_names(with_shares, other);
  return with_class_array(result, name, other, largest(output, converted));
}

std::optional<double> class_accuracy(const OutputArray& output, const RowMatrix& logits,
                                     const Eigen::VectorXd& truth, const BoundStage& bound,
                                     ProcessGroup* processes) {
  const Eigen::VectorXi predicted = largest(output, logits);
  // Of points that several pieces hold, all together count once.
  Eigen::VectorXd counts = Eigen::VectorXd::Ones(truth.size());
  if (bound.query.shares.defined())
    counts = to_matrix(bound.query.shares.unsqueeze(1)).col(0).tail(truth.size());
  double right = 0;
  double all = 0;
  for (Eigen::Index row = 0; row < truth.size(); ++row) {
    if (!(bound.weights[row] > 0) || truth[row] == output.ignored) continue;
    all += counts[row];
    if (truth[row] == predicted[row]) right += counts[row];
  }
  all = total_of_all(processes, all);
  right = total_of_all(processes, right);
  if (!(all > 0)) return std::nullopt;
  return right / all;
}

}  // namespace funcattn
