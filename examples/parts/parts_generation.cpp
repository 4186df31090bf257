#include "examples/parts/parts_generation.h"

#include "core/error.h"
#include "examples/parts/figure.h"
#include "meshio/class_array.h"

namespace funcattn {

namespace {

constexpr const char* label_name = "label";

Mesh labelled_surface(const Figure& figure, int points) {
  const Mesh surface = figure.surface(points);
  const RowMatrix places = surface.coordinates(Association::point);
  RowMatrix normals(places.rows(), 3);
  Eigen::VectorXi labels(places.rows());
  for (Eigen::Index i = 0; i < places.rows(); ++i) {
    const Eigen::Vector3d place = places.row(i).transpose();
    normals.row(i) = figure.normal(place).transpose();
    labels[i] = static_cast<int>(figure.part(place));
  }
  return with_class_array(surface.with_array({"normal", Association::point, 3, ""}, normals),
                          label_name, Association::point, labels);
}

class PartsGeneration : public GeneratedTask {
 public:
  std::string name() const override { return "parts"; }
  std::string title() const override {
    return "the part of a figure that a point of its surface belongs to: 0 body, 1 head, 2 limb, "
           "3 ring";
  }
  void describe(OptionTable&) override {}
  int default_points() const override { return 1000; }
  void validate(int points) const override {
    if (points < 200)
      throw UsageError("a surface with parts needs at least 200 points; give more --points");
  }

  Contract contract() const override {
    Contract contract;
    contract.inputs.push_back({{"normal", Association::point, 3, ""}, InputRole::value});
    contract.outputs.push_back({{label_name, Association::point, 1, ""}, {}, {}});
    for (int part = 0; part < figure_parts; ++part) contract.outputs.back().classes.push_back(part);
    contract.coordinates.axes = {0, 1, 2};
    contract.coordinates.center = {0, 0, 0};
    contract.coordinates.scale = 1;
    contract.weights = "measure";
    return contract;
  }
  std::string extension() const override { return ".vtp"; }

  std::vector<Mesh> draw(int points, const std::vector<SampleSet>& sets,
                         RandomGenerator& random) override {
    const Figure figure(random);
    std::vector<Mesh> meshes;
    for (const SampleSet& set : sets)
      meshes.push_back(labelled_surface(figure, points * set.factor));
    return meshes;
  }
};

}  // namespace

std::unique_ptr<GeneratedTask> make_parts_generation() {
  return std::make_unique<PartsGeneration>();
}

}  // namespace funcattn
