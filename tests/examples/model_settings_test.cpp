#include "plugin/cli/model_settings.h"

#include <map>

#include "core/error.h"
#include "tests/operators/form_samples.h"

namespace funcattn {
namespace {

/// Another value of a setting that a network may have.
Json another(const std::string& setting, const Json& value) {
  const std::map<std::string, std::pair<const char*, const char*>> names = {
      {"coefficients", {"mean", "integral"}},  {"mixing", {"functional", "softmax"}},
      {"bases", {"shared", "separate"}},       {"attention", {"functional", "pointwise"}},
      {"position_bias", {"none", "distance"}}, {"activation", {"gelu", "tanh"}}};
  if (const auto found = names.find(setting); found != names.end())
    return value == found->second.first ? found->second.second : found->second.first;
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number_float()) return 1.5 * value.get<double>();
  return value.get<int>() + (setting == "width" ? 12 : 1);
}

struct Network {
  std::int64_t parameters;
  Tensor prediction;
};

Network network_of(const ModelConfig& config) {
  const torch::NoGradGuard no_gradient;
  const auto model = make_model(config, torch::kFloat64, 5);
  return {model->parameter_count(),
          model->predict(testing::random_points(config, 1, 20, torch::kFloat64, 1),
                         testing::random_points(config, 1, 20, torch::kFloat64, 2))};
}

// What a form is made of changes it, and nothing else does.
TEST(ModelSettings, AreThoseThatChangeTheNetwork) {
  for (const auto& [name, config] : testing::every_config()) {
    SCOPED_TRACE(name);
    const Network before = network_of(config);
    const Json model = config.to_json();
    const Json used = settings_in_use(model);
    for (const char* of_the_data :
         {"form", "coordinate_dimension", "value_features", "out_features"})
      EXPECT_TRUE(used.contains(of_the_data));
    for (const auto& [setting, value] : model.items()) {
      if (setting == "form" || setting == "coordinate_dimension" || setting == "value_features" ||
          setting == "out_features")
        continue;
      Json changed = model;
      changed[setting] = another(setting, value);
      ModelConfig other;
      try {
        other = ModelConfig::from_json(changed);
      } catch (const Error&) {
        continue;  // A network of this form cannot have it.
      }
      const Network after = network_of(other);
      const bool is_same =
          after.parameters == before.parameters && at::equal(after.prediction, before.prediction);
      EXPECT_EQ(used.contains(setting), !is_same)
          << setting << " from " << value << " to " << changed[setting];
    }
  }
}

}  // namespace
}  // namespace funcattn
