#include "plugin/stage_arrays.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/text.h"
#include "meshio/association_conversion.h"
#include "meshio/structured_resampling.h"
#include "meshio/subset.h"
#include "operators/classes.h"
#include "operators/field_error.h"
#include "plugin/class_prediction.h"

namespace funcattn {

namespace {

Association other(Association association) {
  return association == Association::point ? Association::cell : Association::point;
}

Mesh without_unusable(const Mesh& mesh, Association association, const KeepMask& kept) {
  if (std::find(kept.begin(), kept.end(), false) == kept.end()) return mesh;
  if (is_structured(mesh))
    throw DataError(mesh.origin() + " is a " + mesh.vtk()->GetClassName() + ", out of which no " +
                    to_string(association) + " can be dropped; mask them instead");
  return association == Association::point ? keep_points(mesh, kept) : keep_cells(mesh, kept);
}

}  // namespace

std::vector<OutputColumns> wanted_outputs(const Contract& contract, const StageOptions& options) {
  std::vector<OutputColumns> all;
  std::vector<std::string> names;
  Eigen::Index column = 0;
  for (const OutputArray& output : contract.outputs) {
    names.push_back(output.name);
    all.push_back({output, column});
    column += output.channels();
  }
  if (options.outputs.empty()) return all;
  std::vector<OutputColumns> wanted;
  for (const std::string& name : options.outputs) {
    const auto named = [&](const OutputColumns& output) { return output.spec.name == name; };
    const auto found = std::find_if(all.begin(), all.end(), named);
    if (found == all.end())
      throw UsageError("the operator has no output '" + name + "'; it predicts " +
                       join(names, ", "));
    if (std::any_of(wanted.begin(), wanted.end(), named))
      throw UsageError("the output '" + name + "' is asked for twice; name it once");
    wanted.push_back(*found);
  }
  return wanted;
}

ArraySpec predicted_spec(const ArraySpec& output, const std::string& suffix) {
  ArraySpec spec = output;
  spec.name += suffix;
  return spec;
}

std::vector<std::string> predicted_names(const Contract& contract, const StageOptions& options) {
  std::vector<std::string> names;
  for (const OutputColumns& output : wanted_outputs(contract, options)) {
    const ArraySpec spec = predicted_spec(output.spec, options.suffix);
    names.push_back(spec.name);
    if (options.probabilities && output.spec.is_class())
      names.push_back(probability_spec(output.spec, options.suffix).name);
  }
  return names;
}

void check_names_are_free(const std::vector<Mesh>& meshes, const Contract& contract,
                          const StageOptions& options) {
  const std::vector<std::string> names = predicted_names(contract, options);
  if (options.overwrite) return;
  const Association own = contract.association();
  for (const Mesh& mesh : meshes)
    for (const std::string& name : names) {
      for (const Association association : {own, other(own)}) {
        if (association != own && !options.convert_association) continue;
        if (mesh.has_array(name, association))
          throw DataError(mesh.origin() + ": the " + to_string(association) + " array '" + name +
                          "', which would receive the prediction, exists already; choose another "
                          "suffix or allow overwriting");
      }
    }
}

std::vector<Mesh> with_converted_inputs(const std::vector<Mesh>& meshes, const Contract& contract,
                                        const StageOptions& options) {
  if (!options.convert_association) return meshes;
  const Association wanted = contract.association();
  std::vector<std::string> needed;
  const std::vector<OutputColumns> outputs = wanted_outputs(contract, options);
  // A mean of classes is none.
  for (std::size_t i = 0; i < options.error_against.size(); ++i)
    if (i >= outputs.size() || !outputs[i].spec.is_class())
      needed.push_back(options.error_against[i]);
  for (const InputArray& input : contract.inputs)
    if (input.role != InputRole::parameter) needed.push_back(input.name);
  std::vector<Mesh> converted;
  for (const Mesh& mesh : meshes) {
    std::vector<std::string> names;
    for (const std::string& name : needed)
      if (!mesh.has_array(name, wanted) && mesh.has_array(name, other(wanted)))
        names.push_back(name);
    converted.push_back(convert_arrays(mesh, names, wanted));
  }
  return converted;
}

std::vector<Mesh> with_prediction(const std::vector<Mesh>& meshes, const BoundStage& bound,
                                  const RowMatrix& prediction, const Contract& contract,
                                  const StageOptions& options) {
  std::vector<Mesh> results;
  Eigen::Index first = 0;
  for (std::size_t i = 0; i < meshes.size(); ++i) {
    Mesh mesh = meshes[i];
    const Eigen::Index count = bound.counts[i];
    std::vector<std::string> names;
    for (const OutputColumns& output : wanted_outputs(contract, options)) {
      const auto result = prediction.block(first, output.first, count, output.spec.channels());
      if (output.spec.is_class()) {
        mesh = with_class_prediction(mesh, output.spec, result, options);
        continue;
      }
      const ArraySpec spec = predicted_spec(output.spec, options.suffix);
      mesh = mesh.with_array(spec, result, options.overwrite);
      names.push_back(spec.name);
    }
    if (options.convert_association)
      mesh = convert_arrays(mesh, names, other(contract.association()));
    if (options.nan == NanPolicy::drop) {
      const auto begin = bound.unusable.begin() + first;
      KeepMask kept(begin, begin + count);
      kept.flip();
      mesh = without_unusable(mesh, contract.association(), kept);
    }
    results.push_back(std::move(mesh));
    first += count;
  }
  return results;
}

RowMatrix true_values(const std::vector<Mesh>& meshes, const Contract& contract,
                      const StageOptions& options, Eigen::VectorXd& weights) {
  const std::vector<OutputColumns> outputs = wanted_outputs(contract, options);
  if (options.error_against.size() != outputs.size()) {
    std::vector<std::string> names;
    for (const OutputColumns& output : outputs) names.push_back(output.spec.name);
    throw UsageError("errors are wanted against " + join(options.error_against, ", ") +
                     ", but what is predicted is " + join(names, ", ") +
                     "; name one array for each, in this order, which is " +
                     (options.outputs.empty() ? "that of the operator" : "that of the outputs"));
  }
  RowMatrix truth(weights.size(), contract.output_components());
  Eigen::Index first = 0;
  for (const Mesh& mesh : meshes) {
    const Eigen::Index count = mesh.count(contract.association());
    for (std::size_t i = 0; count > 0 && i < outputs.size(); ++i) {
      const OutputArray& output = outputs[i].spec;
      const std::string what = mesh.origin() + ": " + to_string(output.association) + " array '" +
                               options.error_against[i] + "'";
      const ArrayView view = mesh.array(options.error_against[i], output.association);
      if (view.components() != output.components)
        throw DataError(what + " has " + std::to_string(view.components()) + " components, '" +
                        output.name + "' is predicted with " + std::to_string(output.components));
      auto block = truth.block(first, outputs[i].first, count, output.components);
      block = view.to_double();
      for (Eigen::Index row = 0; row < count; ++row) {
        if (weights[first + row] == 0) continue;
        if (block.row(row).allFinite()) {
          if (output.is_class()) require_class(block(row, 0), what, row);
          continue;
        }
        if (options.nan == NanPolicy::error)
          throw DataError(what + " holds NaN or Inf, first at index " + std::to_string(row) +
                          "; no error can be measured against it there: repair it, or let the NaN "
                          "policy mask such entries");
        weights[first + row] = 0;
      }
    }
    first += count;
  }
  if (!any_of_all(options.engine.processes, (weights.array() > 0).any()))
    throw DataError((meshes.empty() ? "the mesh" : meshes.front().origin()) +
                    ": the errors cannot be measured, since no " +
                    to_string(contract.association()) + " with a true value has a positive weight");
  return truth;
}

std::vector<ArrayError> array_errors(const RowMatrix& prediction, const RowMatrix& truth,
                                     const BoundStage& bound, const Contract& contract,
                                     const StageOptions& options) {
  std::vector<ArrayError> errors;
  const Tensor weights = to_tensor(RowMatrix(bound.weights)).squeeze(1);
  const std::vector<OutputColumns> outputs = wanted_outputs(contract, options);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const OutputArray& output = outputs[i].spec;
    ArrayError error;
    error.array = predicted_spec(output, options.suffix).name;
    error.truth = options.error_against[i];
    if (output.is_class()) {
      error.relative_l2 = error.rmse = error.max_error = std::numeric_limits<double>::quiet_NaN();
      error.accuracy =
          class_accuracy(output, prediction.middleCols(outputs[i].first, output.channels()),
                         truth.col(outputs[i].first), bound, options.engine.processes);
      if (!error.accuracy)
        throw DataError("'" + error.truth + "' has no " + to_string(output.association) +
                        " of positive weight whose class is known; there is nothing to compare '" +
                        error.array + "' with");
    } else {
      const auto of_output = [&](const RowMatrix& values) {
        return to_tensor(RowMatrix(values.middleCols(outputs[i].first, output.components)));
      };
      const FieldError field =
          field_error(of_output(prediction), of_output(truth), weights, options.engine.processes);
      error.relative_l2 = field.relative_l2;
      error.rmse = field.rmse;
      error.max_error = field.max_error;
    }
    errors.push_back(std::move(error));
  }
  return errors;
}

}  // namespace funcattn
