#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "operators/engine/inference_engine.h"
#include "operators/published.h"
#include "operators/safetensors.h"
#include "tests/support/source_folder.h"

// Recorded results of the published implementations, reproduced through the importer.

namespace funcattn {
namespace {

namespace fs = std::filesystem;

fs::path golden_folder() {
  if (const char* folder = std::getenv("FUNCATTN_GOLDEN")) return folder;
  return test::source_folder() / ".." / "shared" / "golden";
}

std::vector<fs::path> golden_files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".safetensors") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

const Tensor& required(const Safetensors& file, const std::string& name) {
  const Tensor* tensor = file.find(name);
  if (!tensor) throw std::runtime_error("golden file lacks the tensor " + name);
  return *tensor;
}

// Features [n,f] or [B,n,f] as samples: the leading features are coordinates.
PointSamples samples_of(Tensor features, const ModelConfig& config, const Tensor* weights) {
  if (features.dim() == 2) features = features.unsqueeze(0);
  const auto dimension = config.coordinate_dimension;
  return {features.narrow(2, 0, dimension),
          features.narrow(2, dimension, features.size(2) - dimension),
          weights ? *weights : at::ones({features.size(0), features.size(1)}, features.options())};
}

using Predict = std::function<Tensor(const PointSamples&, const PointSamples&)>;

Tensor reproduce(const Safetensors& file, Form form, const ModelConfig& config,
                 const Predict& predict) {
  if (form == Form::few_shot) {
    const Tensor& context = required(file, "context_x");
    const Tensor& query = required(file, "query_x");
    return predict({context, required(file, "context_y"),
                    at::ones({context.size(0), context.size(1)}, context.options())},
                   {query, Tensor(), at::ones({query.size(0), query.size(1)}, query.options())});
  }
  if (form == Form::paper) {
    const auto source =
        samples_of(required(file, "source"), config, &required(file, "source_weights"));
    return predict(source, config.cross ? samples_of(required(file, "query"), config,
                                                     &required(file, "query_weights"))
                                        : source);
  }
  const auto source = samples_of(required(file, "input"), config, nullptr);
  return predict(source, source);
}

double tolerance(Form form, torch::Dtype dtype) {
  if (dtype == torch::kFloat32) return 2e-5;
  return form == Form::sum_coefficients ? 1e-8 : 1e-10;
}

double root_mean_square(const Tensor& difference) {
  return difference.square().mean().sqrt().item<double>();
}

TEST(Golden, PublishedResultsAreReproduced) {
  const fs::path folder = golden_folder();
  if (!fs::is_directory(folder)) {
    GTEST_SKIP() << "no golden files at " << folder << "; set FUNCATTN_GOLDEN to their folder";
  }
  const torch::NoGradGuard no_grad;
  int reproduced = 0;
  for (const fs::path& path : golden_files(folder)) {
    SCOPED_TRACE(path.filename());
    const Safetensors file = read_safetensors(path);
    const std::string* name = file.find_metadata("form");
    if (!name) {
      ADD_FAILURE() << "the metadata hold no form";
      continue;
    }
    const Form form = form_from_string(*name);
    const Tensor& expected = required(file, "output");
    ImportOptions options;
    options.dtype = expected.scalar_type();
    const ImportResult imported = import_published(file, form, options);
    Model& model = imported.op.model();
    const InferenceEngine engine(model);
    const Tensor output =
        reproduce(file, form, model.config(), [&](const auto& source, const auto& query) {
          return model.predict(source, query);
        }).view(expected.sizes());
    const Tensor by_engine =
        reproduce(file, form, model.config(), [&](const auto& source, const auto& query) {
          return engine.predict(source, query);
        }).view(expected.sizes());
    EXPECT_EQ(output.scalar_type(), expected.scalar_type());
    const double largest = expected.abs().max().item<double>();
    const double error = (output - expected).abs().max().item<double>() / largest;
    EXPECT_LE(error, tolerance(form, expected.scalar_type()));
    const double engine_error = (by_engine - expected).abs().max().item<double>() / largest;
    EXPECT_LE(engine_error, tolerance(form, expected.scalar_type()));
    if (const Tensor* truth = file.find("truth")) {
      EXPECT_NEAR(root_mean_square(output - *truth), 0.0102, 5e-5);
      EXPECT_NEAR(root_mean_square(output - *truth), root_mean_square(expected - *truth), 1e-10);
    }
    std::cout << path.filename().string() << ": " << *name << ", max error / max |output| " << error
              << ", engine " << engine_error << "\n";
    ++reproduced;
  }
  EXPECT_GT(reproduced, 0) << "no *.safetensors in " << folder;
}

}  // namespace
}  // namespace funcattn
