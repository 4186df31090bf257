#pragma once

// Jobs of the C interface on the surrogate, for the tests that hand it arrays.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "operators/operator_file.h"
#include "plugin/capi/funcattn.h"
#include "plugin/stage.h"
#include "tests/plugin/samples.h"
#include "tests/plugin/support.h"

namespace funcattn::test {

/// What a function said.
struct Said {
  int code;
  std::string message;
};

/// Handles that free themselves, and errors in the form of tests.
class Handles {
 public:
  Handles() : status(funcattn_status_create()) {}
  ~Handles() {
    funcattn_job_free(job);
    funcattn_free(op);
    funcattn_status_free(status);
  }
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;

  void load(const std::filesystem::path& file) {
    ASSERT_EQ(funcattn_load(file.c_str(), &op, status), FUNCATTN_OK) << message();
    ASSERT_EQ(funcattn_job_create(op, &job, status), FUNCATTN_OK) << message();
  }
  std::string message() const { return funcattn_status_message(status); }
  Said said(int code) const {
    EXPECT_EQ(funcattn_status_code(status), code);
    return {code, message()};
  }

  funcattn_status* status;
  funcattn_operator* op = nullptr;
  funcattn_job* job = nullptr;
};

#define EXPECT_OK(call) EXPECT_EQ(call, FUNCATTN_OK) << funcattn_status_message(handles_.status)
#define EXPECT_SAYS(call, expected_code, text) \
  {                                            \
    const Said said = handles_.said(call);     \
    EXPECT_EQ(said.code, expected_code);       \
    EXPECT_EQ(said.message, text);             \
  }

/// The surrogate at scattered points, whose arrays the tests hand over in many layouts.
class CapiTest : public ::testing::Test {
 protected:
  static constexpr int points_ = 48;

  void SetUp() override { use(make_surrogate()); }

  void use(const Operator& op) {
    save_operator(folder_ / "op.safetensors", op);
    const Mesh grid = make_grid(8, 6);
    ASSERT_EQ(grid.count(Association::point), points_);
    coordinates_ = grid.coordinates(Association::point);
    load_ = grid.array("load", Association::point).to_double();
    force_ = grid.array("force", Association::point).to_double();
    pressure_.assign(points_, unset);
    displacement_.assign(3 * points_, unset);
    funcattn_job_free(handles_.job);
    funcattn_free(handles_.op);
    handles_.load(folder_ / "op.safetensors");
  }

  /// What the C++ stage gives for the same points: pressure, displacement.
  RowMatrix expected(const std::vector<double>& weights = {}, StageOptions options = {}) const {
    Mesh cloud = make_point_cloud(coordinates_, "cloud")
                     .with_array({"load", Association::point, 1, ""}, load_)
                     .with_array({"force", Association::point, 3, ""}, force_);
    options.weights = "uniform";
    if (!weights.empty()) {
      cloud = cloud.with_array({"w", Association::point, 1, ""},
                               Eigen::Map<const RowMatrix>(weights.data(), points_, 1));
      options.weights = "array:w";
    }
    const Mesh result = run(cloud, folder_ / "op.safetensors", options).mesh;
    RowMatrix all(points_, 4);
    all << result.array("pressure_predicted", Association::point).to_double(),
        result.array("displacement_predicted", Association::point).to_double();
    return all;
  }

  void set_inputs() {
    EXPECT_OK(funcattn_job_set_points(handles_.job, FUNCATTN_SOURCE, points_, handles_.status));
    EXPECT_OK(funcattn_job_set_coordinates(handles_.job, FUNCATTN_SOURCE, coordinates_.data(),
                                           FUNCATTN_DOUBLE, 3, 0, 0, handles_.status));
    EXPECT_OK(funcattn_job_set_input(handles_.job, FUNCATTN_SOURCE, "load", load_.data(),
                                     FUNCATTN_DOUBLE, 0, 0, handles_.status));
    EXPECT_OK(funcattn_job_set_input(handles_.job, FUNCATTN_SOURCE, "force", force_.data(),
                                     FUNCATTN_DOUBLE, 0, 0, handles_.status));
  }

  void set_outputs() {
    EXPECT_OK(funcattn_job_set_output(handles_.job, "pressure", pressure_.data(), FUNCATTN_DOUBLE,
                                      0, 0, handles_.status));
    EXPECT_OK(funcattn_job_set_output(handles_.job, "displacement", displacement_.data(),
                                      FUNCATTN_DOUBLE, 0, 0, handles_.status));
  }

  RowMatrix outputs() const {
    RowMatrix all(points_, 4);
    all << Eigen::Map<const RowMatrix>(pressure_.data(), points_, 1),
        Eigen::Map<const RowMatrix>(displacement_.data(), points_, 3);
    return all;
  }

  void expect_outputs_untouched() const {
    EXPECT_EQ(outputs(), RowMatrix::Constant(points_, 4, unset));
  }

  static constexpr double unset = -12345;
  TemporaryFolder folder_;
  Handles handles_;
  RowMatrix coordinates_, load_, force_;
  std::vector<double> pressure_, displacement_;
};

}  // namespace funcattn::test
