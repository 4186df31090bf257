// What a job is told besides arrays: parameters, the device, which outputs are wanted; and memory.

#include <cmath>

#include "tests/plugin/capi/capi_fixture.h"
#include "tests/support/memory_limit.h"

namespace funcattn {
namespace {

using test::CapiTest;
using test::Said;

/// The surrogate, whose force is one for all points.
class CapiParameters : public CapiTest {
 protected:
  void SetUp() override {
    use(test::make_parametric());
    for (int i = 0; i < 3; ++i) force_.col(i).setConstant(value_[i]);
  }

  void set_all() {
    EXPECT_OK(funcattn_job_set_points(handles_.job, FUNCATTN_SOURCE, points_, handles_.status));
    EXPECT_OK(funcattn_job_set_coordinates(handles_.job, FUNCATTN_SOURCE, coordinates_.data(),
                                           FUNCATTN_DOUBLE, 3, 0, 0, handles_.status));
    EXPECT_OK(funcattn_job_set_input(handles_.job, FUNCATTN_SOURCE, "load", load_.data(),
                                     FUNCATTN_DOUBLE, 0, 0, handles_.status));
    set_outputs();
  }

  int set(const double* values, int count) {
    return funcattn_job_set_parameter(handles_.job, "force", values, count, handles_.status);
  }

  /// What the operator gives that takes the same force as an array.
  RowMatrix expected_of_array() {
    save_operator(folder_ / "op.safetensors", test::make_surrogate());
    return expected();
  }

  const double value_[3] = {0.25, -0.5, 2};
};

TEST_F(CapiParameters, ActAsAnArrayThatIsTheSameEverywhere) {
  set_all();
  double value[3] = {value_[0], value_[1], value_[2]};
  EXPECT_OK(set(value, 3));
  value[0] = 9;  // A copy was taken.
  EXPECT_OK(funcattn_run(handles_.job, handles_.status));
  const RowMatrix first = outputs();
  EXPECT_EQ(funcattn_job_warning_count(handles_.job), 1) << "weights";
  const double other[3] = {0.75, -0.5, 2};
  EXPECT_OK(set(other, 3));
  EXPECT_OK(funcattn_run(handles_.job, handles_.status));
  EXPECT_GT((outputs() - first).cwiseAbs().maxCoeff(), 1e-3) << "the parameter does not matter";
  EXPECT_OK(
      funcattn_job_set_option(handles_.job, "parameter.force", "0.25,-0.5,2", handles_.status));
  EXPECT_OK(funcattn_run(handles_.job, handles_.status));
  EXPECT_EQ(outputs(), first);
  EXPECT_EQ(first, expected_of_array());
}

TEST_F(CapiParameters, ServeAQueryAsWell) {
  set_all();
  EXPECT_OK(set(value_, 3));
  EXPECT_OK(funcattn_run(handles_.job, handles_.status));
  const RowMatrix first = outputs();
  EXPECT_OK(funcattn_job_set_points(handles_.job, FUNCATTN_QUERY, points_, handles_.status));
  EXPECT_OK(funcattn_job_set_coordinates(handles_.job, FUNCATTN_QUERY, coordinates_.data(),
                                         FUNCATTN_DOUBLE, 3, 0, 0, handles_.status));
  EXPECT_OK(funcattn_job_set_input(handles_.job, FUNCATTN_QUERY, "load", load_.data(),
                                   FUNCATTN_DOUBLE, 0, 0, handles_.status));
  set_outputs();
  EXPECT_OK(funcattn_run(handles_.job, handles_.status));
  EXPECT_LT((outputs() - first).cwiseAbs().maxCoeff(), 1e-12);
}

TEST_F(CapiParameters, OutsideTheRangeOfTrainingWarn) {
  set_all();
  const double far[3] = {0.25, 0.5, 2};
  EXPECT_OK(set(far, 3));
  EXPECT_OK(funcattn_run(handles_.job, handles_.status));
  ASSERT_EQ(funcattn_job_warning_count(handles_.job), 2);
  EXPECT_STREQ(funcattn_job_warning(handles_.job, 1),
               "the job: the parameter 'force' is (0.25, 0.5, 2) N, training had (0, -1, 2) to (1, "
               "0, 2) N: the prediction extrapolates");
}

TEST_F(CapiParameters, AreCheckedWhenTheyAreSet) {
  set_all();
  const auto run = [&] { return funcattn_run(handles_.job, handles_.status); };
  const auto option = [&](const char* key, const char* value) {
    return funcattn_job_set_option(handles_.job, key, value, handles_.status);
  };
  const std::string missing =
      "the parameter 'force' (3 components, N) was not given (funcattn_job_set_parameter)";
  EXPECT_SAYS(run(), FUNCATTN_USAGE_ERROR, missing);
  EXPECT_SAYS(funcattn_job_set_input(handles_.job, FUNCATTN_SOURCE, "force", force_.data(),
                                     FUNCATTN_DOUBLE, 0, 0, handles_.status),
              FUNCATTN_USAGE_ERROR,
              "the input 'force' (3 components, N) is one value for all points, not an array "
              "(funcattn_job_set_parameter)");
  EXPECT_SAYS(funcattn_job_set_parameter(handles_.job, "load", value_, 3, handles_.status),
              FUNCATTN_USAGE_ERROR,
              "the operator has no parameter 'load'; its parameters are 'force'");
  EXPECT_SAYS(set(value_, 1), FUNCATTN_USAGE_ERROR,
              "the parameter 'force' (3 components, N) was given 1 number");
  EXPECT_SAYS(option("parameter.force", "1,2"), FUNCATTN_USAGE_ERROR,
              "the parameter 'force' (3 components, N) was given 2 numbers");
  const double hole[3] = {1, std::nan(""), 2};
  EXPECT_SAYS(set(hole, 3), FUNCATTN_USAGE_ERROR,
              "the parameter 'force' (3 components, N) was given nan; expected finite numbers");
  for (const char* text : {"", "1,2,", "1,x,2", "1;2;3"})
    EXPECT_SAYS(option("parameter.force", text), FUNCATTN_USAGE_ERROR,
                "option 'parameter.force' cannot be '" + std::string(text) +
                    "'; expected numbers with commas between them");
  EXPECT_SAYS(run(), FUNCATTN_USAGE_ERROR, missing);
  expect_outputs_untouched();

  EXPECT_OK(set(value_, 3));
  EXPECT_OK(run());
  EXPECT_OK(set(nullptr, 0));
  EXPECT_SAYS(run(), FUNCATTN_USAGE_ERROR, missing);
  EXPECT_OK(set(value_, 3));
  EXPECT_OK(set(value_, 0));
  EXPECT_SAYS(run(), FUNCATTN_USAGE_ERROR, missing);
  EXPECT_OK(set(value_, 3));
  EXPECT_OK(option("parameter.force", nullptr));
  EXPECT_SAYS(run(), FUNCATTN_USAGE_ERROR, missing);
  // The number of points is none of their business.
  EXPECT_OK(set(value_, 3));
  EXPECT_OK(funcattn_job_set_points(handles_.job, FUNCATTN_SOURCE, points_ - 1, handles_.status));
  EXPECT_OK(funcattn_job_set_points(handles_.job, FUNCATTN_SOURCE, points_, handles_.status));
  set_all();
  EXPECT_OK(run());
}

TEST_F(CapiParameters, AreToldOfTheContract) {
  EXPECT_EQ(funcattn_input_association(handles_.op, 0), FUNCATTN_POINT);
  EXPECT_EQ(funcattn_input_association(handles_.op, 1), FUNCATTN_FIELD);
  EXPECT_EQ(funcattn_input_role(handles_.op, 0), FUNCATTN_VALUE);
  EXPECT_EQ(funcattn_input_role(handles_.op, 1), FUNCATTN_PARAMETER);
  EXPECT_EQ(funcattn_input_components(handles_.op, 1), 3);
  EXPECT_EQ(funcattn_input_min(handles_.op, 1, 1), -1);
  EXPECT_EQ(funcattn_input_max(handles_.op, 1, 1), 0);
  EXPECT_EQ(funcattn_input_max(handles_.op, 1, 2), 2);
  for (const int component : {-1, 3})
    EXPECT_TRUE(std::isnan(funcattn_input_min(handles_.op, 1, component)));
  EXPECT_TRUE(std::isnan(funcattn_input_min(handles_.op, 0, 0))) << "an array";
  EXPECT_TRUE(std::isnan(funcattn_input_max(handles_.op, 2, 0))) << "no such input";
  EXPECT_TRUE(std::isnan(funcattn_input_max(nullptr, 0, 0)));
}

TEST_F(CapiTest, TheDeviceIsChosenAndTold) {
  const auto set = [&](const char* value) {
    return funcattn_job_set_option(handles_.job, "device", value, handles_.status);
  };
  set_inputs();
  set_outputs();
  EXPECT_STREQ(funcattn_job_device(handles_.job), "");
  EXPECT_EQ(set("gpu"), FUNCATTN_USAGE_ERROR);
  EXPECT_NE(handles_.message().find("gpu"), std::string::npos) << handles_.message();
  EXPECT_OK(set("cpu"));
  EXPECT_OK(funcattn_run(handles_.job, handles_.status));
  EXPECT_STREQ(funcattn_job_device(handles_.job), "cpu");
  EXPECT_EQ(outputs(), expected());
  EXPECT_OK(set("cuda:99"));
  EXPECT_EQ(funcattn_run(handles_.job, handles_.status), FUNCATTN_USAGE_ERROR);
  EXPECT_STREQ(funcattn_job_device(handles_.job), "");
  EXPECT_OK(set(nullptr));
  EXPECT_OK(funcattn_run(handles_.job, handles_.status));
  EXPECT_STREQ(funcattn_job_device(handles_.job), "cpu");
  EXPECT_EQ(funcattn_job_device(nullptr), nullptr);
}

TEST_F(CapiTest, PointsThatMemoryDoesNotHoldAreAMemoryError) {
  const Operator small = test::make_surrogate();
  ModelConfig wide = small.model().config();
  wide.width = 512;
  use({make_model(wide, torch::kFloat64, 7), small.contract()});
  // 1.6 GB of features.
  constexpr std::int64_t count = 400000;
  std::vector<double> arrays(7 * count);
  for (std::int64_t i = 0; i < 7 * count; ++i)
    arrays[static_cast<std::size_t>(i)] = std::fmod(0.618034 * static_cast<double>(i), 1);
  const auto at = [&](std::int64_t array) { return arrays.data() + array * count; };
  EXPECT_OK(funcattn_job_set_points(handles_.job, FUNCATTN_SOURCE, count, handles_.status));
  EXPECT_OK(funcattn_job_set_coordinates(handles_.job, FUNCATTN_SOURCE, at(0), FUNCATTN_DOUBLE, 3,
                                         0, 0, handles_.status));
  EXPECT_OK(funcattn_job_set_input(handles_.job, FUNCATTN_SOURCE, "load", at(3), FUNCATTN_DOUBLE, 0,
                                   0, handles_.status));
  EXPECT_OK(funcattn_job_set_input(handles_.job, FUNCATTN_SOURCE, "force", at(4), FUNCATTN_DOUBLE,
                                   0, 0, handles_.status));
  std::vector<double> pressure(count, unset);
  EXPECT_OK(funcattn_job_set_output(handles_.job, "pressure", pressure.data(), FUNCATTN_DOUBLE, 0,
                                    0, handles_.status));
  int code = FUNCATTN_OK;
  {
    const test::MemoryLimit limit(800000000);
    code = funcattn_run(handles_.job, handles_.status);
  }
  EXPECT_EQ(code, FUNCATTN_MEMORY_ERROR);
  EXPECT_EQ(handles_.message().rfind("the features of the points need 1.53 GiB", 0), 0u)
      << handles_.message();
  EXPECT_EQ(pressure, std::vector<double>(count, unset));
}

TEST_F(CapiTest, OutputsThatNobodyAskedForAreNotLookedAt) {
  const Operator op = test::make_surrogate();
  {
    const torch::NoGradGuard no_grad;
    for (auto& parameter : op.model().parameters()) parameter.mul_(20);
  }
  use(op);
  set_inputs();
  set_outputs();
  EXPECT_OK(funcattn_run(handles_.job, handles_.status));
  const RowMatrix all = outputs();

  Contract overflowing = op.contract();
  overflowing.output_normalisation.mean[0] = overflowing.output_normalisation.scale[0] = 1e308;
  use({op.shared_model(), overflowing});
  set_inputs();
  set_outputs();
  EXPECT_EQ(funcattn_run(handles_.job, handles_.status), FUNCATTN_NUMERIC_ERROR);
  expect_outputs_untouched();
  EXPECT_OK(funcattn_job_set_output(handles_.job, "pressure", nullptr, 0, 0, 0, handles_.status));
  EXPECT_OK(funcattn_run(handles_.job, handles_.status));
  EXPECT_EQ(outputs().rightCols(3), all.rightCols(3));
  EXPECT_EQ(pressure_, std::vector<double>(points_, unset));
}

}  // namespace
}  // namespace funcattn
