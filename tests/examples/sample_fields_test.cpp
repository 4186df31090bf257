#include "examples/evaluate/sample_fields.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "core/atomic_file.h"
#include "core/error.h"
#include "operators/model.h"
#include "tests/support/temporary_folder.h"

namespace funcattn {
namespace {

RowMatrix column(const std::vector<double>& values) {
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

Tensor rows(const std::vector<double>& values) {
  return torch::tensor(values, torch::kFloat64).unsqueeze(1);
}

Mesh line(int points) {
  RowMatrix places = RowMatrix::Zero(points, 3);
  for (int i = 0; i < points; ++i) places(i, 0) = i;
  return make_polyline(places, "line");
}

/// One that has these outputs; it is not evaluated.
Operator with_outputs(const std::vector<OutputArray>& outputs) {
  Contract contract;
  contract.inputs.push_back({{"a", Association::point, 1, ""}, InputRole::value});
  contract.outputs = outputs;
  contract.coordinates.axes = {0};
  contract.coordinates.center = {0};
  ModelConfig config;
  config.coordinate_dimension = config.value_features = 1;
  config.out_features = contract.output_components();
  return {make_model(config), contract};
}

TEST(SampleFields, AreThePredictionAndItsDifference) {
  const Operator op = with_outputs({{{"u", Association::point, 1, ""}, {}, {}}});
  Sample sample;
  sample.targets = rows({1, 2, 3});
  const Mesh mesh = with_fields(line(3), op, sample, rows({1.5, 2, 2}));
  EXPECT_EQ(mesh.array("u_predicted", Association::point).to_double(), column({1.5, 2, 2}));
  EXPECT_EQ(mesh.array("u_error", Association::point).to_double(), column({0.5, 0, -1}));
}

TEST(SampleFields, OfClassesTellWhereTheTruthIsNotKnown) {
  const Operator op = with_outputs({{{"label", Association::point, 1, ""}, {10, 20}, 7}});
  Sample sample;
  // Right, wrong, of a class that the operator does not have, ignored, not a number.
  sample.targets = rows({10, 20, 3, 7, std::numeric_limits<double>::quiet_NaN()});
  const Tensor logits = torch::tensor({1.0, 0.0}, torch::kFloat64).expand({5, 2});
  const Mesh mesh = with_fields(line(5), op, sample, logits);
  EXPECT_EQ(mesh.array("label_predicted", Association::point).to_double(),
            column({10, 10, 10, 10, 10}));
  EXPECT_EQ(mesh.array("label_error", Association::point).to_double(), column({0, 1, 1, -1, -1}));
}

TEST(SampleFields, ReplaceNoSampleAndNoOther) {
  const SampleFields fields("out");
  const std::vector<std::string> names = {"op"};
  EXPECT_NO_THROW(fields.check({{"test", {{"a/0.vtp", "a/1.vtp"}, {}}}}, names));
  // STL has no arrays: 0.stl would become 0.vtp.
  EXPECT_THROW(fields.check({{"test", {{"a/0.vtp", "b/0.stl"}, {}}}}, names), UsageError);
  EXPECT_THROW(fields.check({{"test", {{"out/op/test/0.vtp"}, {}}}}, names), UsageError);
  EXPECT_THROW(fields.check({{"test", {{"a/0.vtp"}, {"out/op/test/0.vtp"}}}}, names), UsageError);
}

// A link leads to the sample from the place of the result, or the other way round.
TEST(SampleFields, SeeThroughLinks) {
  namespace fs = std::filesystem;
  const test::TemporaryFolder folder;
  const fs::path results = folder.path() / "out/op/set";
  fs::create_directories(results);
  fs::create_directories(folder.path() / "set");
  const auto refuses = [&](const std::string& sample) {
    EXPECT_THROW(SampleFields(folder.path() / "out")
                     .check({{"set", {{folder.path() / "set" / sample}, {}}}}, {"op"}),
                 UsageError)
        << sample;
  };
  write_file_atomically(results / "0.vtu", "a sample");
  fs::create_symlink("../out/op/set/0.vtu", folder.path() / "set/0.vtu");
  refuses("0.vtu");
  write_file_atomically(folder.path() / "set/1.vtu", "a sample");
  fs::create_symlink("../../../set/1.vtu", results / "1.vtu");
  refuses("1.vtu");
}

}  // namespace
}  // namespace funcattn
