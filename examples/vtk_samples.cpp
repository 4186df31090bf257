#include "examples/vtk_samples.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/json.h"
#include "core/text.h"
#include "meshio/field_data.h"
#include "meshio/piece_set.h"
#include "meshio/reader.h"
#include "operators/classes.h"
#include "operators/training/statistics.h"
#include "plugin/binding.h"
#include "plugin/dataset.h"

namespace funcattn {

namespace fs = std::filesystem;

namespace {

constexpr const char* description_name = "dataset.json";

/// What this process has of one sample: all of it, or its pieces.
struct Read {
  MeshTree pieces;  ///< Where processes hold a part each.
  std::vector<Mesh> meshes;
  std::vector<Mesh> query{};  ///< One of a pair, else none.

  const std::vector<Mesh>& with_targets() const { return query.empty() ? meshes : query; }
};

Read read_source(const fs::path& file, ProcessGroup* pieces) {
  if (!pieces) return {empty_tree(file.string()), {read_mesh(file)}};
  MeshTree tree = is_in_pieces(file)   ? read_piece_set(file, *pieces).tree
                  : pieces->is_first() ? read_mesh_tree(file)
                                       : empty_tree(file.string());
  std::vector<Mesh> leaves = tree.leaves();
  return {std::move(tree), std::move(leaves)};
}

Read read_sample(const std::vector<fs::path>& files, std::size_t index, ProcessGroup* pieces,
                 const QueryFiles* queries) {
  Read read = read_source(files[index], pieces);
  if (queries) read.query.push_back(read_mesh(queries->files[index]));
  return read;
}

/// @param set may be null; it is told what PairSample tells
Sample bind(const Read& read, const Contract& contract, const WeightChoice& weights,
            ProcessGroup* pieces, const QueryFiles* queries, VtkTrainingSet* set = nullptr) {
  if (queries) {
    PairSample pair = bind_pair(read.meshes.front(), read.query.front(), *queries->model, contract,
                                queries->settings);
    if (set && pair.has_interpolated_inputs) set->has_interpolated_inputs = true;
    if (set && !pair.apart.empty()) set->apart.push_back(pair.apart);
    return std::move(pair.sample);
  }
  return pieces ? bind_pieces(read.pieces, contract, weights, *pieces)
                : bind_sample(read.meshes.front(), contract, weights, true);
}

/// The number of components that this process found, 0 where it has nothing to look into.
int components_of_all(int found, const std::string& name, const fs::path& file,
                      ProcessGroup* pieces) {
  const int components = static_cast<int>(largest_of_all(pieces, found));
  if (components == 0)
    throw DataError("'" + file.string() + "' has no mesh with values '" + name +
                    "'; remove it from the training set");
  return components;
}

/// @param meshes those of the sample that have it
ArraySpec array_of(const Read& read, const std::vector<Mesh>& meshes, const std::string& name,
                   Association association, ProcessGroup* pieces) {
  // array() says what there is where the name does not fit.
  const int found = meshes.empty() ? 0 : meshes.front().array(name, association).components();
  return {name, association, components_of_all(found, name, read.pieces.origin(), pieces), ""};
}

InputArray parameter_of(const Read& read, const std::string& name, ProcessGroup* pieces) {
  InputArray parameter;
  parameter.name = name;
  parameter.role = InputRole::parameter;
  int found = 0;
  if (!read.meshes.empty()) {
    const Mesh& mesh = read.meshes.front();
    const auto values = field_values(mesh.vtk(), name, mesh.origin());
    if (values) found = static_cast<int>(values->size());
    if (found == 0 && !pieces) {
      const std::vector<std::string> there = field_names(mesh.vtk());
      throw DataError(mesh.origin() + ": the field data have no values '" + name + "'; they have " +
                      (there.empty() ? std::string("none") : join(there, ", ")));
    }
  }
  parameter.components = components_of_all(found, name, read.pieces.origin(), pieces);
  return parameter;
}

/// Their features stand behind those of the values.
void record_ranges(const std::vector<Sample>& samples, Contract& contract, ProcessGroup* pieces) {
  std::int64_t column = contract.value_components() - contract.parameter_components();
  for (InputArray& input : contract.inputs) {
    if (input.role != InputRole::parameter) continue;
    for (int i = 0; i < input.components; ++i, ++column) {
      double low = std::numeric_limits<double>::infinity();
      double high = -low;
      for (const Sample& sample : samples) {
        if (sample.source.values.size(0) == 0) continue;
        const double value = sample.source.values[0][column].item<double>();
        low = std::min(low, value);
        high = std::max(high, value);
      }
      input.min.push_back(-largest_of_all(pieces, -low));
      input.max.push_back(largest_of_all(pieces, high));
    }
  }
}

CoordinateHandling coordinates_of(const std::vector<Read>& samples, Contract& contract,
                                  Association association, const CoordinateHandling& given,
                                  ProcessGroup* pieces) {
  double low[3], high[3];
  std::fill_n(low, 3, std::numeric_limits<double>::infinity());
  std::fill_n(high, 3, -std::numeric_limits<double>::infinity());
  const auto add = [&](const Mesh& mesh) {
    const RowMatrix points = mesh.coordinates(association);
    if (points.rows() == 0) {
      if (pieces) return;
      throw DataError("'" + mesh.origin() + "' has no " + to_string(association) +
                      "s; remove it from the training set");
    }
    for (int axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], points.col(axis).minCoeff());
      high[axis] = std::max(high[axis], points.col(axis).maxCoeff());
    }
  };
  for (const Read& sample : samples) {
    for (const Mesh& mesh : sample.meshes) add(mesh);
    for (const Mesh& mesh : sample.query) add(mesh);
  }
  for (int axis = 0; axis < 3; ++axis) {
    low[axis] = -largest_of_all(pieces, -low[axis]);
    high[axis] = largest_of_all(pieces, high[axis]);
  }
  CoordinateHandling handling = given;
  if (handling.axes.empty()) {
    double longest = 0;
    for (int axis = 0; axis < 3; ++axis) longest = std::max(longest, high[axis] - low[axis]);
    for (int axis = 0; axis < 3; ++axis) {
      // Rounding noise on a planar mesh is no extent.
      if (!(high[axis] - low[axis] > 1e-9 * longest)) continue;
      handling.axes.push_back(axis);
      handling.center.push_back(0.5 * (low[axis] + high[axis]));
    }
    handling.scale = longest > 0 ? 0.5 * longest : 1.0;
  }
  for (const int axis : handling.axes) {
    contract.bounds_min.push_back(low[axis]);
    contract.bounds_max.push_back(high[axis]);
  }
  return handling;
}

std::string array_in(const Sample& sample, const ArraySpec& array) {
  return sample.name + ": " + to_string(array.association) + " array '" + array.name + "'";
}

/// The classes of a target: those that the data set names, or that occur.
/// @return the values that occur
std::set<int> find_classes(const std::vector<Sample>& samples, const ArrayChoice& arrays,
                           std::size_t index, OutputArray& output) {
  if (output.components != 1)
    throw DataError(
        array_in(samples.front(), output) + " has " + std::to_string(output.components) +
        " components; a class is one whole number at each " + to_string(output.association));
  std::set<int> occurring;
  for (const Sample& sample : samples) {
    const Tensor values = sample.targets.select(1, static_cast<std::int64_t>(index));
    for (const int value : distinct_classes(values, sample.query.weights, array_in(sample, output)))
      occurring.insert(value);
  }
  output.ignored = arrays.ignored_class;
  const auto described =
      std::find_if(arrays.described_classes.begin(), arrays.described_classes.end(),
                   [&](const OutputArray& candidate) { return candidate.name == output.name; });
  if (described == arrays.described_classes.end()) {
    if (occurring.count(no_class) > 0 && output.ignored != no_class)
      throw DataError("the target '" + output.name + "' holds " + std::to_string(no_class) +
                      ", by which a prediction says that there is no class; leave such points out "
                      "with --ignore-class " +
                      std::to_string(no_class) + ", or number that class otherwise");
    output.classes.assign(occurring.begin(), occurring.end());
  } else {
    output.classes = described->classes;
    if (!output.ignored) output.ignored = described->ignored;
  }
  if (output.ignored)
    output.classes.erase(std::remove(output.classes.begin(), output.classes.end(), *output.ignored),
                         output.classes.end());
  if (output.classes.size() < 2)
    throw DataError("the target '" + output.name + "' has " +
                    (output.classes.empty()
                         ? std::string("no class")
                         : "one class only, " + std::to_string(output.classes.front())) +
                    (output.ignored ? " but the ignored " + std::to_string(*output.ignored) : "") +
                    "; there is nothing to tell apart");
  return occurring;
}

Normalisation statistics(const std::vector<Sample>& samples, bool of_targets,
                         ProcessGroup* pieces) {
  std::vector<std::string> names;
  std::vector<Tensor> channels, weights;
  for (const Sample& sample : samples) {
    names.push_back(sample.name);
    channels.push_back(of_targets ? sample.targets : sample.source.values);
    weights.push_back(of_targets ? sample.query.weights : sample.source.weights);
  }
  return channel_statistics(names, channels, weights, pieces);
}

}  // namespace

std::vector<Sample> load_samples(const std::vector<fs::path>& files, const Contract& contract,
                                 ProcessGroup* pieces, const QueryFiles* queries) {
  std::vector<Sample> samples;
  samples.reserve(files.size());
  const WeightChoice weights = weight_choice_from_string(contract.weights);
  for (std::size_t i = 0; i < files.size(); ++i)
    samples.push_back(
        bind(read_sample(files, i, pieces, queries), contract, weights, pieces, queries));
  return samples;
}

VtkTrainingSet load_training_set(const std::vector<fs::path>& files, const ArrayChoice& arrays,
                                 const CoordinateHandling& coordinates, ProcessGroup* pieces,
                                 const QueryFiles* queries) {
  if (files.empty()) throw DataError("the training set has no files; check --data");
  if (arrays.targets.empty())
    throw UsageError("no target arrays; name what to predict with --targets");
  if (pieces && arrays.classes)
    throw UsageError("classes are not learned from samples in pieces; train on whole samples");
  std::vector<Read> samples;
  for (std::size_t i = 0; i < files.size(); ++i)
    samples.push_back(read_sample(files, i, pieces, queries));
  const Read& first = samples.front();

  const Association association = arrays.association.value_or(Association::point);
  VtkTrainingSet set;
  for (const std::string& name : arrays.inputs)
    set.contract.inputs.push_back(
        {array_of(first, first.meshes, name, association, pieces), InputRole::value});
  for (const std::string& name : arrays.parameters)
    set.contract.inputs.push_back(parameter_of(first, name, pieces));
  if (!arrays.source_flag.empty())
    set.contract.inputs.push_back(
        {array_of(first, first.meshes, arrays.source_flag, association, pieces),
         InputRole::source_flag});
  for (const std::string& name : arrays.targets)
    set.contract.outputs.push_back(
        {array_of(first, first.with_targets(), name, association, pieces), {}, {}});
  if (!arrays.classes && !first.with_targets().empty())
    for (const std::string& name : arrays.targets) {
      const ScalarType type = first.with_targets().front().array(name, association).type();
      if (type != ScalarType::float32 && type != ScalarType::float64)
        set.integer_fields.push_back(name);
    }
  if (!arrays.weights.empty()) set.contract.weights = arrays.weights;
  set.contract.coordinates =
      coordinates_of(samples, set.contract, association, coordinates, pieces);

  Contract binding = set.contract;
  // Rows of pairs are not those of a mesh: what is no class is found where they still are.
  if (queries && arrays.classes)
    for (OutputArray& output : binding.outputs) output.classes = {0, 1};
  const WeightChoice weights = weight_choice_from_string(set.contract.weights);
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  std::int64_t most = 0;
  for (const Read& sample : samples) {
    set.samples.push_back(bind(sample, binding, weights, pieces, queries, &set));
    set.most_results = std::max(set.most_results, set.samples.back().targets.size(0));
    const std::int64_t points =
        pieces ? std::llround(
                     total_of_all(pieces, set.samples.back().query.shares.sum().item<double>()))
               : sample.meshes.front().count(association);
    fewest = std::min(fewest, points);
    most = std::max(most, points);
  }
  if (arrays.classes) {
    for (std::size_t i = 0; i < set.contract.outputs.size(); ++i) {
      OutputArray& output = set.contract.outputs[i];
      const std::set<int> occurring = find_classes(set.samples, arrays, i, output);
      if (arrays.ignored_class && occurring.count(*arrays.ignored_class) == 0)
        set.without_ignored_class.push_back(output.name);
    }
    const std::vector<std::string> unknown = unknown_classes(set.samples, set.contract);
    if (!unknown.empty())
      throw DataError("the training samples have " + join(unknown, ", ") +
                      ", which the data set's " + description_name +
                      " does not name; mend it, or remove it and name the arrays with --targets");
  }
  record_ranges(set.samples, set.contract, pieces);
  set.contract.min_points = fewest;
  set.contract.max_points = most;
  // With a source flag the result is linear in the source values, which a shift would break; a
  // common scale would change nothing.
  if (!set.contract.source_flag()) {
    if (set.contract.value_components() > 0)
      set.contract.input_normalisation = statistics(set.samples, false, pieces);
    if (!arrays.classes) set.contract.output_normalisation = statistics(set.samples, true, pieces);
  }
  set.contract.validate();
  return set;
}

void UnknownClasses::add(const Sample& sample, const Contract& contract) {
  for (std::size_t i = 0; i < contract.outputs.size(); ++i) {
    const OutputArray& output = contract.outputs[i];
    if (!output.is_class()) continue;
    for (const int value : distinct_classes(sample.targets.select(1, static_cast<std::int64_t>(i)),
                                            sample.query.weights, array_in(sample, output)))
      if (value != output.ignored &&
          !std::binary_search(output.classes.begin(), output.classes.end(), value))
        values_[output.name].insert(value);
  }
}

std::vector<std::string> UnknownClasses::texts() const {
  std::vector<std::string> texts;
  for (const auto& [output, values] : values_) {
    std::vector<std::string> numbers;
    for (const int value : values) numbers.push_back(std::to_string(value));
    texts.push_back((numbers.size() == 1 ? "the class " : "the classes ") + join(numbers, ", ") +
                    " of '" + output + "'");
  }
  return texts;
}

std::vector<std::string> unknown_classes(const std::vector<Sample>& samples,
                                         const Contract& contract) {
  UnknownClasses unknown;
  for (const Sample& sample : samples) unknown.add(sample, contract);
  return unknown.texts();
}

std::vector<fs::path> training_files(const fs::path& location) {
  return list_samples(fs::is_directory(location / "train") ? location / "train" : location);
}

std::vector<fs::path> validation_files(const fs::path& location) {
  if (!fs::is_directory(location / "valid")) return {};
  return list_samples(location / "valid");
}

std::vector<std::pair<std::string, std::vector<fs::path>>> test_sets(const fs::path& location) {
  std::vector<std::pair<std::string, std::vector<fs::path>>> sets;
  if (fs::is_directory(location / "test")) {
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(location)) {
      const std::string name = entry.path().filename().string();
      if (entry.is_directory() && (name == "test" || name.rfind("test_", 0) == 0))
        folders.push_back(entry.path());
    }
    std::sort(folders.begin(), folders.end());
    for (const fs::path& folder : folders)
      sets.emplace_back(folder.filename().string(), list_samples(folder));
    return sets;
  }
  std::string name = location.filename().string();
  if (name.empty()) name = location.parent_path().filename().string();
  sets.emplace_back(name, list_samples(location));
  return sets;
}

fs::path dataset_description(const fs::path& location) {
  return location / description_name;
}

void read_dataset_description(const fs::path& location, ArrayChoice& arrays,
                              CoordinateHandling& coordinates) {
  const fs::path file = dataset_description(location);
  if (!fs::is_regular_file(file)) return;
  try {
    const Contract contract = Contract::from_json(Json::parse(read_file(file)).at("contract"));
    if (arrays.inputs.empty() && arrays.parameters.empty() && arrays.source_flag.empty())
      for (const InputArray& input : contract.inputs) {
        if (input.role == InputRole::source_flag)
          arrays.source_flag = input.name;
        else if (input.role == InputRole::parameter)
          arrays.parameters.push_back(input.name);
        else
          arrays.inputs.push_back(input.name);
      }
    if (arrays.targets.empty())
      for (const OutputArray& output : contract.outputs) arrays.targets.push_back(output.name);
    for (const OutputArray& output : contract.outputs)
      if (output.is_class()) arrays.described_classes.push_back(output);
    if (!arrays.association) arrays.association = contract.association();
    if (arrays.weights.empty()) arrays.weights = contract.weights;
    if (coordinates.axes.empty()) coordinates = contract.coordinates;
  } catch (const std::exception& error) {
    throw FileError("cannot use '" + file.string() + "': " + error.what() +
                    "; mend it, or remove it and name the arrays with --inputs and --targets");
  }
}

fs::path description_above(const fs::path& location) {
  if (fs::is_regular_file(location / description_name)) return {};
  const fs::path above = fs::absolute(location).lexically_normal() / ".." / description_name;
  const fs::path file = above.lexically_normal();
  return fs::is_regular_file(file) ? file : fs::path();
}

void write_dataset_description(const fs::path& folder, const std::string& title,
                               const Contract& contract, const Json& generated) {
  Json description = {{"title", title}, {"contract", contract.to_json()}};
  if (!generated.empty()) description["generated"] = generated;
  write_file_atomically(folder / description_name, description.dump(2) + "\n");
}

}  // namespace funcattn
