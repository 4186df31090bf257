#include "plugin/prediction.h"

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.h"
#include "core/memory_error.h"
#include "meshio/probing.h"
#include "meshio/shared_points.h"
#include "operators/threads.h"
#include "plugin/parameters.h"
#include "plugin/stage_arrays.h"

namespace funcattn {

namespace {

/// Integers above this are not all representable in float32.
constexpr double largest_exact_integer = 16777216;

std::vector<std::string> precision_warnings(const StageMeshes& meshes, const Model& model,
                                            const Contract& contract) {
  std::vector<std::string> warnings;
  if (model.dtype() != torch::kFloat32) return warnings;
  for (const Mesh& mesh : meshes.parts)
    for (const InputArray& input : contract.inputs) {
      if (input.role != InputRole::value || mesh.count(input.association) == 0) continue;
      const ArrayView view = mesh.array(input.name, input.association);
      const bool wide = view.type() == ScalarType::int64 || view.type() == ScalarType::uint64 ||
                        view.type() == ScalarType::int32 || view.type() == ScalarType::uint32;
      if (wide && view.to_double().cwiseAbs().maxCoeff() > largest_exact_integer)
        warnings.push_back(mesh.origin() + ": '" + input.name +
                           "' holds integers above 2^24, which the operator's float32 rounds");
    }
  return warnings;
}

void append(std::vector<std::string>& list, std::vector<std::string> more) {
  std::move(more.begin(), more.end(), std::back_inserter(list));
}

std::vector<std::string> unusable_warnings(const std::string& origin,
                                           const std::vector<bool>& unusable,
                                           const Contract& contract, ProcessGroup* processes) {
  const std::int64_t count =
      total_of_all(processes, std::int64_t{std::count(unusable.begin(), unusable.end(), true)});
  if (count == 0) return {};
  const std::int64_t all = total_of_all(processes, static_cast<std::int64_t>(unusable.size()));
  return {origin + ": " + std::to_string(count) + " of " + std::to_string(all) + " " +
          to_string(contract.association()) + "s hold NaN or Inf and take no part"};
}

WeightChoice source_weights(const Contract& contract, const StageOptions& options) {
  return weight_choice_from_string(options.weights.empty() ? contract.weights : options.weights);
}

/// @param shares receives those of the points, where they are in pieces
Eigen::VectorXd query_weights(const StageMeshes& query, const Contract& contract,
                              const StageOptions& options, Tensor& shares) {
  WeightsInPieces in_pieces = quadrature_weights(
      query.parts, contract.association(), query_weight_choice(source_weights(contract, options)),
      places_for(options.nan), options.engine.processes);
  if (in_pieces.shares.size() > 0) shares = to_tensor(RowMatrix(in_pieces.shares)).squeeze(1);
  return std::move(in_pieces.weights);
}

/// The query with the inputs that it lacks, where the options say that they may be interpolated.
/// @param has_interpolated is set where there were some
StageMeshes with_inputs(const StageMeshes& query, const StageMeshes& source,
                        const Contract& contract, const StageOptions& options,
                        bool& has_interpolated) {
  StageMeshes completed = query;
  for (Mesh& part : completed.parts) {
    std::vector<ArraySpec> missing;
    for (const InputArray& input : contract.inputs)
      if (input.role == InputRole::value && !part.has_array(input.name, input.association))
        missing.push_back(input);
    if (missing.empty() || part.count(contract.association()) == 0) continue;
    if (!options.interpolate_inputs)
      throw DataError(part.origin() + ": the query mesh has no " +
                      to_string(missing.front().association) + " array '" + missing.front().name +
                      "', which this operator needs at every point that it evaluates; give it the "
                      "array, or interpolate the inputs from " +
                      source.origin);
    part = interpolate_arrays(source.parts, part, missing);
    has_interpolated = true;
  }
  return completed;
}

/// @param shares of the query's points, where the source has them
/// @param in_processes whether others hold pieces as well
void join_as_source(const BoundQuery& query, const Tensor& shares, bool in_processes,
                    BoundStage& bound) {
  const auto joined = [](const Tensor& a, const Tensor& b) { return at::cat({a, b}, 0); };
  bound.first_result = bound.source.coordinates.size(0);
  bound.source.coordinates = joined(bound.source.coordinates, query.points.coordinates);
  bound.source.values = joined(bound.source.values, query.points.values);
  // Weight 0: evaluated, without taking part.
  bound.source.weights = joined(bound.source.weights, at::zeros_like(query.points.weights));
  if (shares.defined()) bound.source.shares = joined(bound.source.shares, shares);
  if (in_processes)
    bound.source.pieces.insert(bound.source.pieces.end(), query.counts.begin(), query.counts.end());
  bound.query = bound.source;
  bound.query_is_source = true;
}

void bind_to_query(const Model& model, const Contract& contract, const StageMeshes& source,
                   const StageMeshes& query, const std::vector<double>& parameters,
                   const StageOptions& options, BoundStage& bound) {
  const bool separates = model.separates_query();
  const bool needs_values = query_needs_inputs(model);
  const StageMeshes complete =
      needs_values ? with_inputs(query, source, contract, options, bound.has_interpolated_inputs)
                   : query;
  Eigen::Index count = 0;
  for (const Mesh& part : query.parts) count += part.count(contract.association());
  ProcessGroup* processes = options.engine.processes;
  Tensor shares;
  if (separates || !options.error_against.empty())
    bound.weights = query_weights(query, contract, options, shares);
  const Eigen::VectorXd weights = separates ? bound.weights : Eigen::VectorXd::Zero(count);
  BoundQuery at =
      bind_query(complete.parts, contract, needs_values, weights, options.nan, parameters);
  append(bound.warnings, box_warnings(query.origin, at.points.coordinates, contract, processes));
  append(bound.warnings, unseen_axis_warnings(query.origin, query.parts, contract, processes));
  if (separates) {
    bound.query = at.points;
    bound.query.shares = shares;
    if (processes) bound.query.pieces.assign(at.counts.begin(), at.counts.end());
    bound.query_is_source = false;
  } else {
    // What the points of the error count for is no matter of the joined set, where they weigh
    // nothing.
    shares = Tensor();
    if (bound.source.shares.defined())
      shares = to_tensor(RowMatrix(point_shares(query.parts, contract.association(),
                                                Eigen::VectorXd::Zero(count), processes)))
                   .squeeze(1);
    join_as_source(at, shares, processes != nullptr, bound);
  }
  bound.counts = at.counts;
  bound.unusable = std::move(at.unusable);
  // No error can be measured where nothing is predicted.
  for (Eigen::Index row = 0; row < bound.weights.size(); ++row)
    if (bound.unusable[static_cast<std::size_t>(row)]) bound.weights[row] = 0;
  append(bound.warnings, unusable_warnings(query.origin, bound.unusable, contract, processes));
}

void set_unusable(const std::vector<bool>& unusable, RowMatrix& prediction) {
  for (Eigen::Index row = 0; row < prediction.rows(); ++row)
    if (unusable[static_cast<std::size_t>(row)])
      prediction.row(row).setConstant(std::numeric_limits<double>::quiet_NaN());
}

void check_finite(const RowMatrix& prediction, Eigen::Index unusable, const std::string& origin,
                  const std::vector<OutputColumns>& outputs) {
  for (const OutputColumns& output : outputs) {
    const auto values = prediction.middleCols(output.first, output.spec.channels()).array();
    const Eigen::Index bad =
        values.size() - values.isFinite().count() - unusable * output.spec.channels();
    if (bad > 0)
      throw NumericError(origin + ": the prediction of '" + output.spec.name + "' has " +
                         std::to_string(bad) + " non-finite of " + std::to_string(values.size()) +
                         " values; compare the input with the training range in the operator file");
  }
}

/// What LibTorch throws of its tensor operations, in the words of this library.
template <class Work>
auto on_device(const std::string& device, const Work& work) {
  try {
    return work();
  } catch (const c10::OutOfMemoryError&) {
    throw MemoryError("the prediction needs more memory than " + device +
                      " has free; use the device cpu, where memory grows with the points alone");
  } catch (const c10::Error& error) {
    const std::string text = error.what_without_backtrace();
    // LibTorch has no type of its own for this on a CPU.
    if (device == "cpu" && text.find("allocate memory") != std::string::npos)
      throw MemoryError(
          "the prediction needs more memory than this machine gives: attention other "
          "than the functional one keeps numbers of all points; use fewer points");
    throw Error("the device " + device + " failed: " + text);
  }
}

Tensor apply_by_operations(const Operator& op, const PointSamples& source,
                           const PointSamples& query, const EngineOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const std::string device = op.device().str();
  const Tensor result = on_device(device, [&] { return op.apply(source, query).cpu(); });
  if (options.profile)
    options.profile->emplace_back(
        "operator on " + device,
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  report_progress(options.progress, 1);
  return result;
}

}  // namespace

PointSamples add_batch_axis(const PointSamples& samples) {
  PointSamples batch;
  batch.coordinates = samples.coordinates.unsqueeze(0);
  if (samples.values.defined()) batch.values = samples.values.unsqueeze(0);
  if (samples.shares.defined()) batch.shares = samples.shares.unsqueeze(0);
  batch.pieces = samples.pieces;
  batch.weights = samples.weights.unsqueeze(0);
  return batch;
}

Operator copy_to_gpu(const Operator& op, const std::string& device) {
  return on_device(device, [&] { return op.on_device(torch::Device(device)); });
}

WeightChoice query_weight_choice(const WeightChoice& of_source) {
  if (of_source.kind == WeightKind::uniform) return of_source;
  return {WeightKind::automatic, ""};
}

bool query_needs_inputs(const Model& model) {
  // In few_shot a query is its coordinates; everywhere else inputs are part of its features.
  return model.config().form != Form::few_shot;
}

BoundStage bind_stage(const Model& model, const Contract& contract, const StageMeshes& source,
                      const StageMeshes* query, const StageOptions& options) {
  BoundStage bound;
  const std::vector<double> parameters =
      parameter_values(contract, source, query, options, bound.warnings);
  ProcessGroup* processes = options.engine.processes;
  BoundMeshes built = bind_meshes(source.parts, contract, source_weights(contract, options),
                                  options.nan, false, parameters, processes);
  bound.source = built.sample.source;
  bound.query = built.sample.query;
  bound.query_is_source = built.sample.query_is_source;
  auto count = built.sample.query.coordinates.size(0);
  if (built.sample.query.shares.defined())
    count = std::llround(total_of_all(processes, built.sample.query.shares.sum().item<double>()));
  append(bound.warnings, count_warnings(source.origin, count, contract,
                                        model.config().form == Form::sum_coefficients));
  append(bound.warnings,
         box_warnings(source.origin, built.sample.query.coordinates, contract, processes));
  append(bound.warnings, unseen_axis_warnings(source.origin, source.parts, contract, processes));
  append(bound.warnings, precision_warnings(source, model, contract));
  append(bound.warnings, unusable_warnings(source.origin, built.unusable, contract, processes));
  bound.source_is_apart = query != nullptr;
  if (query) {
    bind_to_query(model, contract, source, *query, parameters, options, bound);
  } else {
    bound.counts = built.counts;
    bound.unusable = std::move(built.unusable);
    bound.source_entries = std::move(built.source_entries);
    bound.weights = to_matrix(bound.query.weights.unsqueeze(1)).col(0);
  }
  return bound;
}

RowMatrix predict(const Operator& op, const InferenceEngine* engine, const BoundStage& bound,
                  const std::string& origin, const StageOptions& options) {
  const ThreadScope scope(options.threads);
  // Grad mode belongs to a thread, so it is set in the one that computes.
  const c10::InferenceMode inference;
  const PointSamples source = add_batch_axis(bound.source);
  const PointSamples query = bound.query_is_source ? source : add_batch_axis(bound.query);
  const Tensor result = (engine ? op.apply(source, query, *engine, options.engine)
                                : apply_by_operations(op, source, query, options.engine))
                            .squeeze(0);
  RowMatrix prediction =
      to_matrix(result.narrow(0, bound.first_result, result.size(0) - bound.first_result));
  set_unusable(bound.unusable, prediction);
  check_finite(prediction, std::count(bound.unusable.begin(), bound.unusable.end(), true), origin,
               wanted_outputs(op.contract(), options));
  return prediction;
}

RowMatrix unpredicted(const Operator& op, const BoundStage& bound) {
  RowMatrix prediction = RowMatrix::Zero(static_cast<Eigen::Index>(bound.unusable.size()),
                                         op.contract().output_components());
  set_unusable(bound.unusable, prediction);
  return prediction;
}

}  // namespace funcattn
