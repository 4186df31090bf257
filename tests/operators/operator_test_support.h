#pragma once

#include <gtest/gtest.h>

#include <string>
#include <typeinfo>
#include <vector>

#include "core/error.h"
#include "operators/operator.h"
#include "tests/support/temporary_folder.h"

namespace funcattn::test {

/// Expects exactly the type ErrorType and one line of text with all parts.
template <typename ErrorType, typename Function>
void expect_error(Function&& function, const std::vector<std::string>& parts) {
  try {
    function();
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_TRUE(typeid(error) == typeid(ErrorType)) << typeid(error).name() << ": " << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    for (const std::string& part : parts)
      EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
    return;
  }
  ADD_FAILURE() << "no error; expected one with '" << (parts.empty() ? "" : parts.front()) << "'";
}

/// A small model of each form.
inline ModelConfig small_config(Form form) {
  ModelConfig config;
  config.form = form;
  config.coordinate_dimension = 2;
  config.value_features = 3;
  config.out_features = 2;
  config.width = 8;
  config.heads = 2;
  config.basis = 5;
  config.blocks = 2;
  if (form == Form::few_shot) {
    config.value_features = 2;
    config.activation = Activation::relu;
    config.ridge = 1e-2;
  }
  return config;
}

/// A contract that fits the model, with statistics that no binary fraction represents.
inline Contract fitting_contract(const ModelConfig& config) {
  Contract contract;
  for (int i = 0; i < config.value_features; ++i) {
    contract.inputs.push_back({{"in" + std::to_string(i), Association::point, 1, "m/s"}, {}});
    contract.input_normalisation.mean.push_back(0.1 * (i + 1));
    contract.input_normalisation.scale.push_back(1.0 / 3.0 + i);
  }
  if (config.form == Form::few_shot)
    contract.inputs.push_back({{"known", Association::point, 1, ""}, InputRole::source_flag});
  contract.outputs.push_back({"out", Association::point, config.out_features, "Pa"});
  for (int i = 0; i < config.out_features; ++i) {
    contract.output_normalisation.mean.push_back(-0.7 * i);
    contract.output_normalisation.scale.push_back(1.1 + i);
  }
  for (int axis = 0; axis < config.coordinate_dimension; ++axis) {
    contract.coordinates.axes.push_back(axis);
    contract.coordinates.center.push_back(0.3);
    contract.bounds_min.push_back(-0.9);
    contract.bounds_max.push_back(1.7);
  }
  contract.coordinates.scale = 1.9;
  contract.min_points = 10;
  contract.max_points = 1000;
  return contract;
}

inline Operator small_operator(Form form, torch::Dtype dtype = torch::kFloat32) {
  const ModelConfig config = small_config(form);
  return Operator(make_model(config, dtype, 7), fitting_contract(config),
                  {{"task", "test"}, {"seed", 7}});
}

/// Seeded samples that the operator takes; float64, physical units.
inline PointSamples random_samples(const Operator& op, std::int64_t points, std::uint64_t seed) {
  at::Generator generator = at::detail::createCPUGenerator(seed);
  const auto draw = [&](at::IntArrayRef shape) {
    return torch::rand(shape, generator, torch::dtype(torch::kFloat64));
  };
  PointSamples samples;
  samples.coordinates = draw({2, points, op.contract().coordinates.dimension()});
  samples.values = draw({2, points, op.contract().value_components()});
  samples.weights = draw({2, points}) + 0.1;
  return samples;
}

constexpr Form all_forms[] = {Form::paper,        Form::shared_basis, Form::shared_basis_tied,
                              Form::segmentation, Form::few_shot,     Form::sum_coefficients};

}  // namespace funcattn::test
