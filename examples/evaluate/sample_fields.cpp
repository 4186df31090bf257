#include "examples/evaluate/sample_fields.h"

#include <map>
#include <set>

#include "core/error.h"
#include "meshio/class_array.h"
#include "meshio/writer.h"
#include "operators/classes.h"
#include "plugin/binding.h"

namespace funcattn {

namespace fs = std::filesystem;

namespace {

/// 1 where the class is wrong, 0 where it is right, no_class where the truth is not known.
Tensor wrong_classes(const OutputArray& output, const Tensor& predicted, const Tensor& truth) {
  return predicted.ne(truth)
      .to(torch::kInt64)
      .masked_fill(
          class_indices(output, truth).eq(class_ignored).logical_or(truth.isfinite().logical_not()),
          no_class);
}

/// The places of a file without its extension, which SampleFields::write() may change: where it is,
/// and where it stands if it is a link.
std::vector<std::string> places_of(const fs::path& file) {
  std::error_code ignored;
  fs::path target = fs::weakly_canonical(file, ignored);
  const fs::path link =
      fs::weakly_canonical(file.parent_path().empty() ? "." : file.parent_path(), ignored) /
      file.filename();
  std::vector<std::string> places;
  for (fs::path place : {target, link}) places.push_back(place.replace_extension().string());
  return places;
}

}  // namespace

Eigen::VectorXi to_integers(const Tensor& numbers) {
  return to_matrix(numbers.to(torch::kFloat64).unsqueeze(1)).col(0).cast<int>();
}

Mesh with_fields(Mesh mesh, const Operator& op, const Sample& sample, const Tensor& result) {
  const Tensor prediction = predicted_arrays(op.contract(), result);
  std::int64_t component = 0;
  for (OutputArray output : op.contract().outputs) {
    const Tensor predicted = prediction.narrow(1, component, output.components);
    const Tensor truth = sample.targets.narrow(1, component, output.components);
    component += output.components;
    const std::string name = output.name;
    const std::string predicted_name = name + "_predicted";
    const std::string error_name = name + "_error";
    if (output.is_class()) {
      mesh = with_class_array(mesh, predicted_name, output.association,
                              to_integers(predicted.squeeze(1)));
      mesh = with_class_array(
          mesh, error_name, output.association,
          to_integers(wrong_classes(output, predicted.squeeze(1), truth.squeeze(1))));
      continue;
    }
    output.name = predicted_name;
    mesh = mesh.with_array(output, to_matrix(predicted), true);
    output.name = error_name;
    mesh = mesh.with_array(output, to_matrix(predicted - truth), true);
  }
  return mesh;
}

void SampleFields::check(const std::vector<TestSet>& sets,
                         const std::vector<std::string>& operators) const {
  std::set<std::string> samples;
  for (const TestSet& set : sets)
    for (const auto* files : {&set.files.sources, &set.files.queries})
      for (const fs::path& file : *files)
        for (const std::string& place : places_of(file)) samples.insert(place);
  std::map<std::string, fs::path> results;
  for (const std::string& op : operators)
    for (const TestSet& set : sets)
      for (const fs::path& file : set.files.with_results()) {
        const fs::path path = folder_ / op / set.name / file.filename();
        const std::vector<std::string> places = places_of(path);
        for (const std::string& place : places)
          if (samples.count(place) > 0)
            throw UsageError("'" + path.string() +
                             "' would replace a sample; give another --fields");
        const auto [other, is_new] = results.try_emplace(places.front(), file);
        if (!is_new)
          throw UsageError("--fields would write the results of '" + other->second.string() +
                           "' and of '" + file.string() + "' both to '" + path.string() +
                           "'; evaluate them one after the other, or rename one");
      }
}

void SampleFields::write(const Mesh& mesh, const std::string& op, const std::string& set,
                         const fs::path& file) const {
  fs::path path = folder_ / op / set / file.filename();
  const MeshTree tree(mesh);
  try {
    check_format(tree, path);
  } catch (const UsageError&) {
    path.replace_extension(suggested_extension(tree));
  }
  std::error_code failure;
  fs::create_directories(path.parent_path(), failure);
  if (failure)
    throw FileError("cannot make the folder '" + path.parent_path().string() +
                    "': " + failure.message());
  write_mesh(mesh, path);
}

}  // namespace funcattn
