#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/random.h"
#include "operators/operator.h"
#include "operators/training/trainer.h"
#include "tests/support/folder_test.h"

namespace funcattn::test {

/// A pointwise network of two layers: the smallest model that can be trained.
class PointwiseModel final : public Model {
 public:
  explicit PointwiseModel(torch::Dtype dtype = torch::kFloat32, int width = 8)
      : Model(configuration(width)) {
    RandomGenerator random(7);
    const auto make = [&](const char* name, std::vector<std::int64_t> shape) {
      Tensor values = torch::empty(shape, torch::kFloat64);
      for (std::int64_t i = 0; i < values.numel(); ++i)
        values.data_ptr<double>()[i] = random.uniform(-0.7, 0.7);
      return register_parameter(name, values.to(dtype));
    };
    hidden_weight_ = make("hidden_weight", {width, 2});
    hidden_bias_ = make("hidden_bias", {width});
    out_weight_ = make("out_weight", {1, width});
    out_bias_ = make("out_bias", {1});
  }

  Tensor predict(const PointSamples& source, const PointSamples&) override {
    const Tensor features = torch::cat({source.coordinates, source.values}, -1);
    const Tensor hidden = torch::tanh(torch::linear(features, hidden_weight_, hidden_bias_));
    const Tensor result = torch::linear(hidden, out_weight_, out_bias_);
    return poisoned_.defined() ? result + poisoned_.sqrt() : result;
  }

  /// Adds the square root of a parameter that is 0: a finite loss with an infinite gradient.
  void poison_gradient() {
    poisoned_ = register_parameter("poisoned", torch::zeros({1}, hidden_weight_.options()));
  }

 private:
  static ModelConfig configuration(int width) {
    ModelConfig config;
    config.form = Form::shared_basis;
    config.coordinate_dimension = 1;
    config.value_features = 1;
    config.out_features = 1;
    config.width = width;
    config.heads = 1;
    config.basis = 4;
    config.blocks = 1;
    return config;
  }

  Tensor hidden_weight_, hidden_bias_, out_weight_, out_bias_, poisoned_;
};

inline Contract pointwise_contract(double output_mean = 100.0, double output_scale = 5.0) {
  Contract contract;
  InputArray input;
  input.name = "u";
  contract.inputs = {input};
  OutputArray output;
  output.name = "y";
  contract.outputs = {output};
  contract.coordinates.axes = {0};
  contract.coordinates.center = {0.5};
  contract.input_normalisation = {{0.0}, {1.0}};
  contract.output_normalisation = {{output_mean}, {output_scale}};
  return contract;
}

inline Operator pointwise_operator(torch::Dtype dtype = torch::kFloat32, int width = 8) {
  return Operator(std::make_shared<PointwiseModel>(dtype, width), pointwise_contract());
}

/// y = 100 + 5 (x - u^2) at `points` random points; physical units, float64.
inline Sample pointwise_sample(const std::string& name, std::int64_t points, std::uint64_t seed) {
  RandomGenerator random(seed);
  Sample sample;
  sample.name = name;
  sample.source.coordinates = torch::empty({points, 1}, torch::kFloat64);
  sample.source.values = torch::empty({points, 1}, torch::kFloat64);
  sample.source.weights = torch::ones({points}, torch::kFloat64);
  sample.targets = torch::empty({points, 1}, torch::kFloat64);
  for (std::int64_t i = 0; i < points; ++i) {
    const double x = random.uniform();
    const double u = random.uniform(-1.0, 1.0);
    sample.source.coordinates.data_ptr<double>()[i] = x;
    sample.source.values.data_ptr<double>()[i] = u;
    sample.targets.data_ptr<double>()[i] = 100.0 + 5.0 * (x - u * u);
  }
  sample.query = sample.source;
  return sample;
}

inline std::vector<Sample> pointwise_samples(int count, std::uint64_t seed = 100) {
  std::vector<Sample> samples;
  for (int i = 0; i < count; ++i)
    samples.push_back(pointwise_sample("sample" + std::to_string(i), 5 + i % 3,
                                       seed + static_cast<std::uint64_t>(i)));
  return samples;
}

inline bool bit_equal(const Tensor& a, const Tensor& b) {
  return a.scalar_type() == b.scalar_type() && torch::equal(a, b);
}

/// Message of the exception of type E that `action` throws; a failure if it throws none.
template <typename E>
std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
    return {};
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

/// Tests that train: every run has a folder of its own for its files.
class TrainingFolderTest : public FolderTest {
 protected:
  TrainerOptions files_in(const std::string& name) {
    const std::filesystem::path place = folder_ / name;
    std::filesystem::create_directories(place);
    TrainerOptions options;
    options.best_path = place / "best.safetensors";
    options.last_path = place / "last.safetensors";
    options.state_path = place / "state.safetensors";
    options.log_path = place / "log.jsonl";
    return options;
  }
};

#define EXPECT_CONTAINS(text, part) \
  EXPECT_NE((text).find(part), std::string::npos) << "in: " << (text)

}  // namespace funcattn::test
