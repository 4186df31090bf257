#include "plugin/capi/array_job.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/text.h"
#include "plugin/capi/array_mesh.h"
#include "plugin/capi/job_options.h"

namespace funcattn {

namespace {

std::string name_of(Side side) {
  return side == Side::source ? "source" : "query";
}

template <class Spec>
const Spec& named(const std::vector<Spec>& specs, const std::string& name, const char* kind) {
  const auto found =
      std::find_if(specs.begin(), specs.end(), [&](const Spec& spec) { return spec.name == name; });
  if (found != specs.end()) return *found;
  std::string names;
  for (const Spec& spec : specs) names += (names.empty() ? "'" : ", '") + spec.name + "'";
  throw UsageError("the operator has no " + std::string(kind) + " '" + name + "'; its " + kind +
                   "s are " + (names.empty() ? "none" : names));
}

constexpr std::string_view parameter_option = "parameter.";

/// "0.5,-1,2"
std::vector<double> numbers_from_string(const std::string& key, const std::string& text) {
  std::vector<double> numbers;
  for (std::size_t first = 0; first <= text.size();) {
    const std::size_t comma = std::min(text.find(',', first), text.size());
    const auto number = parse_double(std::string_view(text).substr(first, comma - first));
    if (!number)
      throw UsageError("option '" + key + "' cannot be '" + text +
                       "'; expected numbers with commas between them");
    numbers.push_back(*number);
    first = comma + 1;
  }
  return numbers;
}

std::string described(const ArraySpec& spec) {
  return "'" + spec.name + "' (" + std::to_string(spec.components) +
         (spec.components == 1 ? " component" : " components") +
         (spec.unit.empty() ? ")" : ", " + spec.unit + ")");
}

}  // namespace

ArrayJob::ArrayJob(std::shared_ptr<const LoadedOperator> op) : op_(std::move(op)) {
  options_.weights = "uniform";
  options_.overwrite = true;  // Only the mesh made for the run is meant, which nobody else sees.
}

ArrayJob::Points& ArrayJob::points_of(Side side) {
  return side == Side::source ? source_ : query_;
}

void ArrayJob::set_points(Side side, std::int64_t points) {
  const bool may_be_none = side == Side::query;
  if (points < (may_be_none ? 0 : 1))
    throw UsageError("the number of " + name_of(side) + " points is " + std::to_string(points) +
                     "; expected 1 or more" + (may_be_none ? ", or 0 for no query" : ""));
  Points& chosen = points_of(side);
  if (chosen.count == points) return;
  chosen = Points{};
  chosen.count = points;
  outputs_.clear();
  if (side == Side::source) weights_.reset();
}

StridedArray ArrayJob::borrowed(Side side, const std::string& what, void* data, int components,
                                const Layout& layout) {
  const Eigen::Index count = points_of(side).count;
  if (count == 0)
    throw UsageError(what + ": say first how many " + name_of(side) +
                     " points there are (funcattn_job_set_points)");
  return make_strided_array(what, data, layout.type, count, components, layout.point_stride,
                            layout.component_stride);
}

void ArrayJob::set_coordinates(Side side, void* data, int components, const Layout& layout) {
  const std::string what = "coordinates of the " + name_of(side);
  if (components < 1 || components > 3)
    throw UsageError(what + ": " + std::to_string(components) +
                     " components; expected 1 to 3, for x, y and z");
  const StridedArray array = borrowed(side, what, data, components, layout);
  Points& points = points_of(side);
  points.coordinates = array;
  for (int axis = 0; axis < 3; ++axis) {
    points.axes[axis].reset();
    if (axis >= components) continue;
    StridedArray column = array;
    column.data = static_cast<char*>(array.data) + axis * array.component_stride;
    column.components = 1;
    points.axes[axis] = column;
  }
}

void ArrayJob::set_axis(Side side, int axis, void* data, const Layout& layout) {
  if (axis < 0 || axis > 2)
    throw UsageError("axis " + std::to_string(axis) + " of the " + name_of(side) +
                     "; expected 0, 1 or 2 for x, y and z");
  const StridedArray array = borrowed(
      side, std::string(1, "xyz"[axis]) + " coordinates of the " + name_of(side), data, 1, layout);
  points_of(side).coordinates.reset();
  points_of(side).axes[axis] = array;
}

void ArrayJob::set_weights(void* data, const Layout& layout) {
  if (data == nullptr)
    weights_.reset();
  else
    weights_ = borrowed(Side::source, "weights", data, 1, layout);
}

void ArrayJob::set_input(Side side, const std::string& name, void* data, const Layout& layout) {
  const InputArray& input = named(op_->contract.inputs, name, "input");
  if (input.role == InputRole::parameter)
    throw UsageError("the input " + described(input) +
                     " is one value for all points, not an array (funcattn_job_set_parameter)");
  points_of(side).inputs[name] = borrowed(side, "input '" + name + "' of the " + name_of(side),
                                          data, input.components, layout);
}

void ArrayJob::set_parameter(const std::string& name, const double* values, int count) {
  const std::vector<InputArray> parameters = op_->contract.parameters();
  const InputArray& parameter = named(parameters, name, "parameter");
  if (values == nullptr || count == 0) {
    options_.parameters.erase(name);
    return;
  }
  if (count != parameter.components)
    throw UsageError("the parameter " + described(parameter) + " was given " +
                     std::to_string(count) + (count == 1 ? " number" : " numbers"));
  const std::vector<double> given(values, values + count);
  for (const double value : given)
    if (!std::isfinite(value))
      throw UsageError("the parameter " + described(parameter) + " was given " +
                       format_number(value) + "; expected finite numbers");
  options_.parameters[name] = given;
}

void ArrayJob::set_output(const std::string& name, void* data, const Layout& layout) {
  const ArraySpec& output = named(op_->contract.outputs, name, "output");
  if (data == nullptr) {
    outputs_.erase(name);
    return;
  }
  const std::string what = "output '" + name + "'";
  if (layout.type != ScalarType::float32 && layout.type != ScalarType::float64)
    throw UsageError(what + ": predictions are written as float or double, not as integers");
  outputs_[name] = borrowed(query_.count > 0 ? Side::query : Side::source, what, data,
                            output.components, layout);
}

void ArrayJob::set_option(const std::string& key, const char* value) {
  if (key.compare(0, parameter_option.size(), parameter_option) != 0) {
    set_job_option(key, value, options_);
    return;
  }
  const std::string name = key.substr(parameter_option.size());
  if (value == nullptr) {
    set_parameter(name, nullptr, 0);
    return;
  }
  const std::vector<double> numbers = numbers_from_string(key, value);
  set_parameter(name, numbers.data(), static_cast<int>(numbers.size()));
}

void ArrayJob::check_complete() const {
  if (source_.count == 0)
    throw UsageError("the job has no points; call funcattn_job_set_points first");
  if (outputs_.empty()) {
    std::string names;
    for (const ArraySpec& output : op_->contract.outputs)
      names += (names.empty() ? "" : ", ") + described(output);
    throw UsageError("no output is asked for; call funcattn_job_set_output for any of " + names);
  }
  for (const auto& [side, points] :
       {std::pair<Side, const Points*>{Side::source, &source_}, {Side::query, &query_}})
    for (const int axis : op_->contract.coordinates.axes)
      if (points->count > 0 && !points->axes[axis])
        throw UsageError("the operator uses the " + std::string(1, "xyz"[axis]) +
                         " coordinates, which were not given for the " + name_of(side) +
                         " points (funcattn_job_set_coordinates, funcattn_job_set_axis)");
  for (const InputArray& input : op_->contract.inputs) {
    if (input.role == InputRole::parameter) {
      if (options_.parameters.count(input.name) == 0)
        throw UsageError("the parameter " + described(input) +
                         " was not given (funcattn_job_set_parameter)");
    } else if (source_.inputs.count(input.name) == 0) {
      throw UsageError("the input " + described(input) +
                       " was not given at the source points (funcattn_job_set_input)");
    }
  }
}

void ArrayJob::check_overlap() const {
  std::vector<std::pair<std::string, StridedArray>> read;
  for (const Points* points : {&source_, &query_}) {
    const std::string side = name_of(points == &source_ ? Side::source : Side::query);
    if (points->coordinates) {
      read.emplace_back("the coordinates of the " + side, *points->coordinates);
    } else {
      for (const auto& axis : points->axes)
        if (axis) read.emplace_back("the coordinates of the " + side, *axis);
    }
    for (const auto& [name, input] : points->inputs)
      read.emplace_back("the input '" + name + "' of the " + side, input);
  }
  if (weights_) read.emplace_back("the weights", *weights_);
  for (auto output = outputs_.begin(); output != outputs_.end(); ++output) {
    for (const auto& [what, array] : read)
      if (!(output->second == array) && overlap(output->second, array))
        throw UsageError("the output '" + output->first + "' overlaps " + what +
                         " without being the same array; nothing was computed");
    for (auto other = std::next(output); other != outputs_.end(); ++other)
      if (overlap(output->second, other->second))
        throw UsageError("the outputs '" + output->first + "' and '" + other->first +
                         "' overlap each other; nothing was computed");
  }
}

/// A name for the weights that is none of the inputs'.
std::string ArrayJob::weights_name() const {
  std::string name = "weights";
  const auto taken = [&](const InputArray& input) { return input.name == name; };
  while (std::any_of(op_->contract.inputs.begin(), op_->contract.inputs.end(), taken)) name += "_";
  return name;
}

Mesh ArrayJob::make_mesh(const Points& points, const std::string& origin) const {
  const Association association = op_->contract.association();
  std::vector<NamedArray> arrays;
  for (const auto& [name, input] : points.inputs) arrays.push_back({name, input});
  if (&points == &source_ && weights_) arrays.push_back({weights_name(), *weights_});
  return make_array_mesh(points.count, points.coordinates, points.axes, arrays, association,
                         origin);
}

StageOptions ArrayJob::stage_options() const {
  StageOptions options = options_;
  if (weights_) options.weights = "array:" + weights_name();
  for (const auto& [name, output] : outputs_) options.outputs.push_back(name);
  return options;
}

void ArrayJob::write_outputs(const Mesh& result) const {
  const Association association = op_->contract.association();
  std::vector<std::pair<DoubleView, StridedArray>> writes;
  for (const auto& [name, output] : outputs_) {
    writes.emplace_back(result.array(name + options_.suffix, association).doubles(), output);
    if (overflows(output, writes.back().first.matrix()))
      throw NumericError("the output '" + name +
                         "' has values beyond the range of float; take it as double");
  }
  for (const auto& [values, output] : writes) copy_from(values.matrix(), output);
}

void ArrayJob::run() {
  warnings_.clear();
  unusable_ = 0;
  device_.clear();
  check_complete();
  check_overlap();
  const StageOptions options = stage_options();
  std::vector<std::string> warnings;
  const std::string& trained_with = op_->contract.weights;
  if (!weights_ && options.weights == "uniform" && !op_->contract.source_flag() &&
      trained_with != "auto" && trained_with != "uniform")
    warnings.push_back("the operator was trained with the weights '" + trained_with +
                       "', and the points now count alike; give the share of the domain that each "
                       "stands for (funcattn_job_set_weights)");
  const auto keep = [&](StageReport& report) {
    std::move(report.warnings.begin(), report.warnings.end(), std::back_inserter(warnings));
    unusable_ = report.unusable;
    device_ = std::move(report.device);
  };
  if (query_.count > 0) {
    TreeResult result = op_->stage.run(MeshTree(make_mesh(source_, "the source")),
                                       MeshTree(make_mesh(query_, "the query")), options);
    write_outputs(result.tree.leaves().front());
    keep(result);
  } else {
    StageResult result = op_->stage.run(make_mesh(source_, "the job"), options);
    write_outputs(result.mesh);
    keep(result);
  }
  warnings_ = std::move(warnings);
}

}  // namespace funcattn
