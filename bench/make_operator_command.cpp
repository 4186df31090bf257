#include "bench/commands.h"
#include "bench/trained_scale.h"
#include "core/error.h"
#include "operators/operator_file.h"

namespace funcattn {

namespace {

/// Coordinates as they are, so that a reader of the weights alone can reproduce the result.
Contract plain_contract(const ModelConfig& config) {
  Contract contract;
  if (config.value_features > 0)
    contract.inputs.push_back(
        {{"field", Association::point, config.value_features, ""}, InputRole::value});
  contract.outputs.push_back({"result", Association::point, config.out_features, ""});
  for (int axis = 0; axis < config.coordinate_dimension; ++axis) {
    contract.coordinates.axes.push_back(axis);
    contract.coordinates.center.push_back(0.0);
  }
  return contract;
}

class MakeOperatorCommand : public Command {
 public:
  std::string name() const override { return "make-operator"; }
  std::string summary() const override { return "write an operator with weights of trained scale"; }
  std::vector<std::string> examples() const override { return {}; }

  void describe(OptionTable& table) override {
    std::vector<std::pair<std::string, Form>> forms;
    for (const std::string& form : form_names()) forms.emplace_back(form, form_from_string(form));
    table.value("output,o", output_, "operator file").required();
    table.choice("form", config_.form, forms, "form of attention");
    table.value("dimension", config_.coordinate_dimension, "coordinates").at_least(1).at_most(3);
    table.value("values", config_.value_features, "values at each point").at_least(0);
    table.value("outputs", config_.out_features, "components of the result").at_least(1);
    table.value("width", config_.width, "features of a point").at_least(1);
    table.value("heads", config_.heads, "attention heads").at_least(1);
    table.value("basis", config_.basis, "basis functions of a head").at_least(1);
    table.value("blocks", config_.blocks, "residual blocks").at_least(1);
    table.value("mlp-ratio", config_.mlp_ratio, "hidden width of the MLPs over the width")
        .at_least(1);
    table.choice("dtype", dtype_, {{"float32", torch::kFloat32}, {"float64", torch::kFloat64}},
                 "of the weights");
    table.value("seed", seed_, "of the weights");
  }

  void validate() const override {
    if (config_.form == Form::few_shot)
      throw UsageError("option '--form': few_shot has no blocks to measure; ./dev bench sine does");
    config_.validate();
  }

  int run(Console& console) override {
    const auto model = make_model(config_, dtype_, seed_);
    scale_as_trained(*model, seed_);
    save_operator(output_, Operator(model, plain_contract(config_), {{"task", "bench"}}));
    console.print_json({{"operator", output_.string()},
                        {"parameters", model->parameter_count()},
                        {"model", config_.to_json()}});
    return 0;
  }

 private:
  std::filesystem::path output_;
  ModelConfig config_ = published_network();
  torch::Dtype dtype_ = torch::kFloat32;
  std::uint64_t seed_ = 1;
};

}  // namespace

std::unique_ptr<Command> make_operator_command() {
  return std::make_unique<MakeOperatorCommand>();
}

}  // namespace funcattn
