#include "examples/sine/sine_generation.h"

#include "examples/sine/samples.h"

namespace funcattn {

namespace {

class SineGeneration : public GeneratedTask {
 public:
  std::string name() const override { return "sine"; }
  std::string title() const override { return "f(x) = alpha sin(x - gamma), " + protocol_; }

  void describe(OptionTable& table) override {
    table.value("protocol", protocol_, "few-shot (200 points) or masked-grid (120 points)")
        .choices({"few-shot", "masked-grid"});
    table.value("context", context_, "context points K").at_least(1);
  }

  int default_points() const override { return sampling(0).base_points(); }
  void validate(int points) const override { sampling(points).validate(); }
  Contract contract() const override { return sine_contract(Form::few_shot); }
  std::string extension() const override { return ".vtp"; }

  std::vector<Mesh> draw(int points, const std::vector<SampleSet>& sets,
                         RandomGenerator& random) override {
    std::vector<Mesh> meshes;
    const RandomGenerator before = random;
    for (const SampleSet& set : sets) {
      random = before;
      meshes.push_back(sine_mesh(draw_sine_episode(sampling(points), set.factor, random)));
    }
    return meshes;
  }

 private:
  SineSampling sampling(int points) const {
    SineSampling sampling;
    sampling.protocol = sine_protocol_from_string(protocol_);
    sampling.context = context_;
    sampling.points = points;
    return sampling;
  }

  std::string protocol_ = "few-shot";
  int context_ = 10;
};

}  // namespace

std::unique_ptr<GeneratedTask> make_sine_generation() {
  return std::make_unique<SineGeneration>();
}

}  // namespace funcattn
