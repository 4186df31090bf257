#include "plugin/stage.h"

#include <c10/core/InferenceMode.h>

#include "core/error.h"
#include "meshio/quadrature.h"
#include "operators/operator_file.h"
#include "operators/threads.h"
#include "plugin/binding.h"

namespace funcattn {

namespace {

/// Integers above this are not all representable in float32.
constexpr double largest_exact_integer = 16777216;

PointSamples add_batch_axis(const PointSamples& samples) {
  PointSamples batch;
  batch.coordinates = samples.coordinates.unsqueeze(0);
  if (samples.values.defined()) batch.values = samples.values.unsqueeze(0);
  batch.weights = samples.weights.unsqueeze(0);
  return batch;
}

ArraySpec predicted(const ArraySpec& output, const std::string& suffix) {
  ArraySpec spec = output;
  spec.name += suffix;
  return spec;
}

void check_names_are_free(const Mesh& mesh, const Contract& contract, const StageOptions& options) {
  if (options.overwrite) return;
  for (const ArraySpec& output : contract.outputs) {
    const ArraySpec spec = predicted(output, options.suffix);
    if (mesh.has_array(spec.name, spec.association))
      throw DataError(mesh.origin() + ": the " + to_string(spec.association) + " array '" +
                      spec.name +
                      "', which would receive the prediction, exists already; choose another "
                      "suffix or allow overwriting");
  }
}

void check_finite(const RowMatrix& prediction, const Mesh& mesh, const Contract& contract) {
  if (prediction.allFinite()) return;
  Eigen::Index column = 0;
  for (const ArraySpec& output : contract.outputs) {
    const auto values = prediction.middleCols(column, output.components).array();
    const Eigen::Index bad = values.size() - values.isFinite().count();
    if (bad > 0)
      throw NumericError(mesh.origin() + ": the prediction of '" + output.name + "' has " +
                         std::to_string(bad) + " non-finite of " + std::to_string(values.size()) +
                         " values; compare the input with the training range in the operator file");
    column += output.components;
  }
}

std::vector<std::string> precision_warnings(const Mesh& mesh, const Operator& op) {
  std::vector<std::string> warnings;
  if (op.dtype() != torch::kFloat32) return warnings;
  for (const InputArray& input : op.contract().inputs) {
    const ArrayView view = mesh.array(input.name, input.association);
    const bool wide = view.type() == ScalarType::int64 || view.type() == ScalarType::uint64 ||
                      view.type() == ScalarType::int32 || view.type() == ScalarType::uint32;
    if (input.role != InputRole::value || !wide || view.rows() == 0) continue;
    if (view.to_double().cwiseAbs().maxCoeff() > largest_exact_integer)
      warnings.push_back(mesh.origin() + ": '" + input.name +
                         "' holds integers above 2^24, which the operator's float32 rounds");
  }
  return warnings;
}

}  // namespace

struct OperatorStage::Implementation {
  explicit Implementation(const std::filesystem::path& file)
      : op(load_operator(file)), contract(op.contract().to_json()) {
    op.model().eval();
  }

  RowMatrix predict(const Mesh& mesh, const StageOptions& options) const {
    const std::string weights = options.weights.empty() ? op.contract().weights : options.weights;
    const WeightChoice choice = weight_choice_from_string(weights);
    const ThreadScope threads(options.threads);
    // Grad mode belongs to a thread, so it is set in the one that computes.
    const c10::InferenceMode inference;
    const Sample sample = bind_sample(mesh, op.contract(), choice, false);
    const PointSamples source = add_batch_axis(sample.source);
    const PointSamples query = sample.query_is_source ? source : add_batch_axis(sample.query);
    return to_matrix(op.apply(source, query).squeeze(0));
  }

  Operator op;
  Json contract;
};

OperatorStage::OperatorStage(const std::filesystem::path& operator_file)
    : implementation_(std::make_unique<Implementation>(operator_file)) {}
OperatorStage::~OperatorStage() = default;
OperatorStage::OperatorStage(OperatorStage&&) noexcept = default;
OperatorStage& OperatorStage::operator=(OperatorStage&&) noexcept = default;

const Json& OperatorStage::contract() const {
  return implementation_->contract;
}

StageResult OperatorStage::run(const Mesh& mesh, const StageOptions& options) const {
  const Contract& contract = implementation_->op.contract();
  check_names_are_free(mesh, contract, options);
  StageResult result{mesh, {}};
  RowMatrix prediction(0, contract.output_components());
  if (mesh.count(contract.association()) == 0) {
    result.warnings.push_back(mesh.origin() + " has no " + to_string(contract.association()) +
                              "s: the predicted arrays are empty");
  } else {
    prediction = implementation_->predict(mesh, options);
    check_finite(prediction, mesh, contract);
    result.warnings = range_warnings(mesh, contract);
    for (auto& warning : precision_warnings(mesh, implementation_->op))
      result.warnings.push_back(std::move(warning));
  }
  Eigen::Index column = 0;
  for (const ArraySpec& output : contract.outputs) {
    result.mesh =
        result.mesh.with_array(predicted(output, options.suffix),
                               prediction.middleCols(column, output.components), options.overwrite);
    column += output.components;
  }
  return result;
}

StageResult run(const Mesh& mesh, const std::filesystem::path& operator_file,
                const StageOptions& options) {
  return OperatorStage(operator_file).run(mesh, options);
}

}  // namespace funcattn
