#include "examples/evaluate/field_views.h"

#include "examples/evaluate/sample_fields.h"
#include "operators/classes.h"
#include "plugin/binding.h"

namespace funcattn {

void FieldViews::add(const std::string& set, const std::filesystem::path& file, const Operator& op,
                     const std::string& name, const Mesh& mesh, const Sample& sample,
                     const Tensor& prediction) {
  const Association association = op.contract().association();
  const Tensor predicted = predicted_arrays(op.contract(), prediction);
  std::int64_t component = 0;
  for (const OutputArray& output : op.contract().outputs) {
    ViewValues values =
        view_values(output.name, to_matrix(sample.targets.narrow(1, component, output.components)),
                    to_matrix(predicted.narrow(1, component, output.components)));
    component += output.components;
    if (output.is_class()) {
      const Tensor truth = sample.targets.select(1, component - output.components);
      const Eigen::VectorXi classes = to_integers(class_indices(output, truth));
      make_classes(values, classes.array() != static_cast<int>(class_ignored));
    }
    const Key key = {set, output.name, association};
    auto found = places_.find(key);
    if (found == places_.end()) {
      SampleView view;
      view.title = set + " " + file.stem().string() + ", " + values.name;
      view.field = output.name;
      view.shape = shape_of(set, association, mesh);
      view.truth = std::move(values.truth);
      view.are_classes = values.are_classes;
      found = places_.emplace(key, views_.size()).first;
      views_.push_back(std::move(view));
    }
    views_[found->second].predictions.push_back(
        {name, std::move(values.predicted), std::move(values.error)});
  }
}

std::shared_ptr<const ViewShape> FieldViews::shape_of(const std::string& set,
                                                      Association association, const Mesh& mesh) {
  auto& shape = shapes_[{set, association}];
  if (!shape) shape = std::make_shared<const ViewShape>(view_shape(mesh, association));
  return shape;
}

}  // namespace funcattn
