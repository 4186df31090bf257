#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <thread>
#include <vector>

#include "operators/operator_file.h"
#include "plugin/capi/funcattn.h"
#include "plugin/stage.h"
#include "tests/plugin/capi/capi_fixture.h"
#include "tests/plugin/samples.h"
#include "tests/plugin/support.h"

namespace funcattn {
namespace {

using test::CapiTest;
using test::Handles;
using test::Said;

TEST_F(CapiTest, GivesWhatTheStageGivesBitForBit) {
  set_inputs();
  set_outputs();
  EXPECT_OK(funcattn_run(handles_.job, handles_.status));
  EXPECT_EQ(outputs(), expected());
  EXPECT_GT((outputs().col(0).array() - pressure_[0]).abs().maxCoeff(), 1e-3) << "constant";
  ASSERT_EQ(funcattn_job_warning_count(handles_.job), 1);
  EXPECT_STREQ(funcattn_job_warning(handles_.job, 0),
               "the operator was trained with the weights 'measure', and the points now count "
               "alike; give the share of the domain that each stands for "
               "(funcattn_job_set_weights)");
  EXPECT_EQ(funcattn_job_warning(handles_.job, 1), nullptr);
}

TEST_F(CapiTest, WeightsAreThoseOfTheCaller) {
  std::vector<double> weights(points_);
  for (int i = 0; i < points_; ++i) weights[i] = 0.1 + i % 5;
  set_inputs();
  set_outputs();
  EXPECT_OK(
      funcattn_job_set_weights(handles_.job, weights.data(), FUNCATTN_DOUBLE, 0, handles_.status));
  EXPECT_OK(funcattn_run(handles_.job, handles_.status));
  EXPECT_EQ(outputs(), expected(weights));
  EXPECT_NE(outputs(), expected());
  EXPECT_EQ(funcattn_job_warning_count(handles_.job), 0);
  EXPECT_OK(funcattn_job_set_weights(handles_.job, nullptr, 0, 0, handles_.status));
  EXPECT_OK(funcattn_run(handles_.job, handles_.status));
  EXPECT_EQ(outputs(), expected());
  weights[7] = -1;
  EXPECT_OK(
      funcattn_job_set_weights(handles_.job, weights.data(), FUNCATTN_DOUBLE, 0, handles_.status));
  EXPECT_SAYS(funcattn_run(handles_.job, handles_.status), FUNCATTN_DATA_ERROR,
              "the job: point array 'weights', chosen as weights, holds -1 at point 7; weights "
              "must be finite and >= 0");
}

TEST_F(CapiTest, ReadsAndWritesAnyStrides) {
  // One record per point, as solvers in C hold them; and a byte more, so that nothing is aligned.
#pragma pack(push, 1)
  struct Node {
    char tag;
    double x, y, z, load, force[3], pressure, displacement[3];
  };
#pragma pack(pop)
  std::vector<Node> nodes(points_);
  for (int i = 0; i < points_; ++i)
    nodes[i] = {'n',
                coordinates_(i, 0),
                coordinates_(i, 1),
                coordinates_(i, 2),
                load_(i, 0),
                {force_(i, 0), force_(i, 1), force_(i, 2)},
                unset,
                {unset, unset, unset}};
  const auto member = [&](std::size_t offset) {
    return reinterpret_cast<char*>(nodes.data()) + offset;
  };
  const auto stride = static_cast<std::int64_t>(sizeof(Node));
  EXPECT_OK(funcattn_job_set_points(handles_.job, FUNCATTN_SOURCE, points_, handles_.status));
  EXPECT_OK(funcattn_job_set_coordinates(handles_.job, FUNCATTN_SOURCE, member(offsetof(Node, x)),
                                         FUNCATTN_DOUBLE, 3, stride, 0, handles_.status));
  EXPECT_OK(funcattn_job_set_input(handles_.job, FUNCATTN_SOURCE, "load",
                                   member(offsetof(Node, load)), FUNCATTN_DOUBLE, stride, 0,
                                   handles_.status));
  EXPECT_OK(funcattn_job_set_input(handles_.job, FUNCATTN_SOURCE, "force",
                                   member(offsetof(Node, force)), FUNCATTN_DOUBLE, stride, 0,
                                   handles_.status));
  EXPECT_OK(funcattn_job_set_output(handles_.job, "pressure", member(offsetof(Node, pressure)),
                                    FUNCATTN_DOUBLE, stride, 0, handles_.status));
  EXPECT_OK(funcattn_job_set_output(handles_.job, "displacement",
                                    member(offsetof(Node, displacement)), FUNCATTN_DOUBLE, stride,
                                    0, handles_.status));
  EXPECT_OK(funcattn_run(handles_.job, handles_.status));
  const RowMatrix right = expected();
  for (int i = 0; i < points_; ++i) {
    EXPECT_EQ(nodes[i].tag, 'n');
    EXPECT_EQ(nodes[i].x, coordinates_(i, 0));
    EXPECT_EQ(nodes[i].force[2], force_(i, 2));
    EXPECT_EQ(nodes[i].pressure, right(i, 0));
    for (int c = 0; c < 3; ++c) EXPECT_EQ(nodes[i].displacement[c], right(i, 1 + c));
  }
}

TEST_F(CapiTest, ReadsComponentsApartAndBackwards) {
  // Fortran's force(n,3), the axes in arrays of their own, and pressure from the last to the first.
  const Eigen::MatrixXd columns = force_;
  const Eigen::VectorXd x = coordinates_.col(0);
  const Eigen::VectorXd y = coordinates_.col(1);
  set_inputs();
  set_outputs();
  for (const auto& [axis, values] : {std::pair{0, &x}, {1, &y}})
    EXPECT_OK(funcattn_job_set_axis(handles_.job, FUNCATTN_SOURCE, axis, values->data(),
                                    FUNCATTN_DOUBLE, 0, handles_.status));
  EXPECT_OK(funcattn_job_set_input(handles_.job, FUNCATTN_SOURCE, "force", columns.data(),
                                   FUNCATTN_DOUBLE, 0, points_ * 8, handles_.status));
  EXPECT_OK(funcattn_job_set_output(handles_.job, "pressure", &pressure_.back(), FUNCATTN_DOUBLE,
                                    -8, 0, handles_.status));
  EXPECT_OK(funcattn_job_set_output(handles_.job, "displacement", displacement_.data(),
                                    FUNCATTN_DOUBLE, 8, points_ * 8, handles_.status));
  EXPECT_OK(funcattn_run(handles_.job, handles_.status));
  const RowMatrix right = expected();
  for (int i = 0; i < points_; ++i) {
    EXPECT_EQ(pressure_[points_ - 1 - i], right(i, 0));
    for (int c = 0; c < 3; ++c) EXPECT_EQ(displacement_[c * points_ + i], right(i, 1 + c));
  }
}

TEST_F(CapiTest, ReadsAndWritesFloat) {
  const auto to_float = [](const RowMatrix& values) {
    return std::vector<float>(values.data(), values.data() + values.size());
  };
  const std::vector<float> xyz = to_float(coordinates_);
  const std::vector<float> load = to_float(load_);
  coordinates_ = coordinates_.cast<float>().cast<double>();
  load_ = load_.cast<float>().cast<double>();
  std::vector<float> pressure(2 * points_, -1);
  set_inputs();
  EXPECT_OK(funcattn_job_set_coordinates(handles_.job, FUNCATTN_SOURCE, xyz.data(), FUNCATTN_FLOAT,
                                         3, 0, 0, handles_.status));
  EXPECT_OK(funcattn_job_set_input(handles_.job, FUNCATTN_SOURCE, "load", load.data(),
                                   FUNCATTN_FLOAT, 0, 0, handles_.status));
  EXPECT_OK(funcattn_job_set_output(handles_.job, "pressure", pressure.data(), FUNCATTN_FLOAT, 8, 0,
                                    handles_.status));
  EXPECT_OK(funcattn_run(handles_.job, handles_.status));
  const RowMatrix right = expected();
  for (int i = 0; i < points_; ++i) {
    EXPECT_EQ(pressure[2 * i], static_cast<float>(right(i, 0)));
    EXPECT_EQ(pressure[2 * i + 1], -1) << "between the elements";
  }
  expect_outputs_untouched();
}

TEST_F(CapiTest, AnOutputMayTakeThePlaceOfAnInput) {
  const RowMatrix right = expected();
  set_inputs();
  EXPECT_OK(funcattn_job_set_output(handles_.job, "pressure", load_.data(), FUNCATTN_DOUBLE, 0, 0,
                                    handles_.status));
  EXPECT_OK(funcattn_job_set_output(handles_.job, "displacement", coordinates_.data(),
                                    FUNCATTN_DOUBLE, 0, 0, handles_.status));
  EXPECT_OK(funcattn_run(handles_.job, handles_.status));
  EXPECT_EQ(load_, right.leftCols(1));
  EXPECT_EQ(coordinates_, right.rightCols(3));
}

TEST_F(CapiTest, RefusesOutputsThatOverlapOtherwise) {
  set_inputs();
  set_outputs();
  const RowMatrix before = force_;
  EXPECT_OK(funcattn_job_set_output(handles_.job, "pressure", force_.data() + 1, FUNCATTN_DOUBLE,
                                    24, 0, handles_.status));
  EXPECT_SAYS(funcattn_run(handles_.job, handles_.status), FUNCATTN_USAGE_ERROR,
              "the output 'pressure' overlaps the input 'force' of the source without being the "
              "same array; nothing was computed");
  EXPECT_OK(funcattn_job_set_output(handles_.job, "pressure",
                                    reinterpret_cast<char*>(displacement_.data()) + 4,
                                    FUNCATTN_FLOAT, 24, 0, handles_.status));
  EXPECT_SAYS(funcattn_run(handles_.job, handles_.status), FUNCATTN_USAGE_ERROR,
              "the outputs 'displacement' and 'pressure' overlap each other; nothing was computed");
  EXPECT_EQ(force_, before);
  expect_outputs_untouched();
}

TEST_F(CapiTest, RefusesStridesThatFoldAnArrayOntoItself) {
  set_inputs();
  EXPECT_SAYS(funcattn_job_set_input(handles_.job, FUNCATTN_SOURCE, "force", force_.data(),
                                     FUNCATTN_DOUBLE, 8, 0, handles_.status),
              FUNCATTN_USAGE_ERROR,
              "input 'force' of the source: strides of 8 bytes from point to point and 8 from "
              "component to component, for 48 x 3 elements of 8 bytes, make elements overlap; "
              "strides count bytes, 0 is packed");
  EXPECT_SAYS(funcattn_job_set_output(handles_.job, "pressure", pressure_.data(), FUNCATTN_DOUBLE,
                                      1, 0, handles_.status),
              FUNCATTN_USAGE_ERROR,
              "output 'pressure': strides of 1 bytes from point to point and 8 from component to "
              "component, for 48 x 1 elements of 8 bytes, make elements overlap; strides count "
              "bytes, 0 is packed");
  EXPECT_SAYS(
      funcattn_job_set_weights(handles_.job, load_.data(), FUNCATTN_DOUBLE,
                               std::numeric_limits<std::int64_t>::max() / 16, handles_.status),
      FUNCATTN_USAGE_ERROR,
      "weights: strides of 576460752303423487 bytes from point to point and 8 from "
      "component to component, for 48 x 1 elements of 8 bytes, reach beyond the memory of "
      "any machine");
}

TEST_F(CapiTest, EvaluatesAtOtherPoints) {
  use(test::make_regression());
  const Mesh line = test::make_scattered_line(20, 5);
  const RowMatrix x = line.coordinates(Association::point);
  const RowMatrix y = line.array("y", Association::point).to_double();
  const std::vector<std::int32_t> known = [&] {
    const RowMatrix flags = line.array("known", Association::point).to_double();
    return std::vector<std::int32_t>(flags.data(), flags.data() + flags.size());
  }();
  const RowMatrix at = RowMatrix::NullaryExpr(
      33, 3, [](auto row, auto column) { return column == 0 ? static_cast<double>(row) / 32 : 0; });
  std::vector<double> result(33, unset);
  EXPECT_OK(funcattn_job_set_points(handles_.job, FUNCATTN_SOURCE, 20, handles_.status));
  EXPECT_OK(funcattn_job_set_coordinates(handles_.job, FUNCATTN_SOURCE, x.data(), FUNCATTN_DOUBLE,
                                         1, 24, 0, handles_.status));
  EXPECT_OK(funcattn_job_set_input(handles_.job, FUNCATTN_SOURCE, "y", y.data(), FUNCATTN_DOUBLE, 0,
                                   0, handles_.status));
  EXPECT_OK(funcattn_job_set_input(handles_.job, FUNCATTN_SOURCE, "known", known.data(),
                                   FUNCATTN_INT32, 0, 0, handles_.status));
  EXPECT_OK(funcattn_job_set_points(handles_.job, FUNCATTN_QUERY, 33, handles_.status));
  EXPECT_OK(funcattn_job_set_coordinates(handles_.job, FUNCATTN_QUERY, at.data(), FUNCATTN_DOUBLE,
                                         3, 0, 0, handles_.status));
  EXPECT_OK(funcattn_job_set_output(handles_.job, "y", result.data(), FUNCATTN_DOUBLE, 0, 0,
                                    handles_.status));
  EXPECT_OK(funcattn_run(handles_.job, handles_.status));
  StageOptions options;
  options.weights = "uniform";
  const TreeResult right =
      OperatorStage(folder_ / "op.safetensors")
          .run(MeshTree(line), MeshTree(make_point_cloud(at, "query")), options);
  EXPECT_EQ(Eigen::Map<const RowMatrix>(result.data(), 33, 1),
            right.tree.leaves().front().array("y_predicted", Association::point).to_double());

  // Without a query after all: 20 results, and the output has to be named anew.
  EXPECT_OK(funcattn_job_set_points(handles_.job, FUNCATTN_QUERY, 0, handles_.status));
  EXPECT_SAYS(funcattn_run(handles_.job, handles_.status), FUNCATTN_USAGE_ERROR,
              "no output is asked for; call funcattn_job_set_output for any of 'y' (1 component)");
  EXPECT_OK(funcattn_job_set_output(handles_.job, "y", result.data(), FUNCATTN_DOUBLE, 0, 0,
                                    handles_.status));
  EXPECT_OK(funcattn_run(handles_.job, handles_.status));
  EXPECT_EQ(Eigen::Map<const RowMatrix>(result.data(), 20, 1),
            run(line, folder_ / "op.safetensors", options)
                .mesh.array("y_predicted", Association::point)
                .to_double());
}

TEST_F(CapiTest, AQueryThatNeedsInputsIsToldSo) {
  set_inputs();
  EXPECT_OK(funcattn_job_set_points(handles_.job, FUNCATTN_QUERY, 2, handles_.status));
  EXPECT_OK(funcattn_job_set_coordinates(handles_.job, FUNCATTN_QUERY, coordinates_.data(),
                                         FUNCATTN_DOUBLE, 3, 0, 0, handles_.status));
  EXPECT_OK(funcattn_job_set_output(handles_.job, "pressure", pressure_.data(), FUNCATTN_DOUBLE, 0,
                                    0, handles_.status));
  EXPECT_SAYS(funcattn_run(handles_.job, handles_.status), FUNCATTN_DATA_ERROR,
              "the query: the query mesh has no point array 'load', which this operator needs at "
              "every point that it evaluates; give it the array, or interpolate the inputs from "
              "the source");
  expect_outputs_untouched();
}

TEST_F(CapiTest, EvaluatesAtOtherPointsThatHoldTheInputs) {
  set_inputs();
  EXPECT_OK(funcattn_job_set_points(handles_.job, FUNCATTN_QUERY, 5, handles_.status));
  EXPECT_OK(funcattn_job_set_coordinates(handles_.job, FUNCATTN_QUERY, coordinates_.data(),
                                         FUNCATTN_DOUBLE, 3, 48, 0, handles_.status));
  EXPECT_OK(funcattn_job_set_input(handles_.job, FUNCATTN_QUERY, "load", load_.data(),
                                   FUNCATTN_DOUBLE, 16, 0, handles_.status));
  EXPECT_OK(funcattn_job_set_input(handles_.job, FUNCATTN_QUERY, "force", force_.data(),
                                   FUNCATTN_DOUBLE, 48, 0, handles_.status));
  EXPECT_OK(funcattn_job_set_output(handles_.job, "pressure", pressure_.data(), FUNCATTN_DOUBLE, 0,
                                    0, handles_.status));
  EXPECT_OK(funcattn_run(handles_.job, handles_.status));
  const RowMatrix right = expected();
  for (int i = 0; i < 5; ++i) EXPECT_NEAR(pressure_[i], right(2 * i, 0), 1e-10);
  EXPECT_EQ(pressure_[5], unset);
}

TEST_F(CapiTest, OperatorsOnCellsTakeCentres) {
  use(test::make_surrogate(Association::cell));
  EXPECT_EQ(funcattn_input_association(handles_.op, 0), FUNCATTN_CELL);
  set_inputs();
  set_outputs();
  EXPECT_OK(funcattn_run(handles_.job, handles_.status));
  const RowMatrix cells = outputs();
  use(test::make_surrogate(Association::point));
  EXPECT_EQ(cells, expected()) << "the same weights on the same places";
}

TEST_F(CapiTest, NanIsRefusedOrMasked) {
  load_(8, 0) = std::numeric_limits<double>::quiet_NaN();
  set_inputs();
  set_outputs();
  EXPECT_SAYS(funcattn_run(handles_.job, handles_.status), FUNCATTN_DATA_ERROR,
              "the job: point array 'load' holds NaN or Inf at 1 of 48 entries, the first at index "
              "8; repair these values, or let the NaN policy mask or drop such entries");
  expect_outputs_untouched();
  EXPECT_EQ(funcattn_job_unusable_count(handles_.job), 0);
  EXPECT_OK(funcattn_job_set_option(handles_.job, "nan", "mask", handles_.status));
  EXPECT_OK(funcattn_run(handles_.job, handles_.status));
  EXPECT_EQ(funcattn_job_unusable_count(handles_.job), 1);
  StageOptions mask;
  mask.nan = NanPolicy::mask;
  const RowMatrix right = expected({}, mask);
  for (int i = 0; i < points_; ++i) {
    if (i == 8)
      EXPECT_TRUE(std::isnan(pressure_[i]));
    else
      EXPECT_EQ(pressure_[i], right(i, 0));
  }
}

TEST_F(CapiTest, ValuesBeyondFloatLeaveTheOutputAlone) {
  Operator op = test::make_surrogate();
  Contract contract = op.contract();
  contract.output_normalisation.mean[0] = 1e39;
  use(Operator(op.shared_model(), contract));
  std::vector<float> pressure(points_, -1);
  set_inputs();
  set_outputs();
  EXPECT_OK(funcattn_job_set_output(handles_.job, "pressure", pressure.data(), FUNCATTN_FLOAT, 0, 0,
                                    handles_.status));
  EXPECT_SAYS(funcattn_run(handles_.job, handles_.status), FUNCATTN_NUMERIC_ERROR,
              "the output 'pressure' has values beyond the range of float; take it as double");
  EXPECT_EQ(pressure, std::vector<float>(points_, -1));
  expect_outputs_untouched();
}

TEST_F(CapiTest, OptionsAreCheckedAndTakenBack) {
  const auto set = [&](const char* key, const char* value) {
    return funcattn_job_set_option(handles_.job, key, value, handles_.status);
  };
  EXPECT_SAYS(set("thread", "1"), FUNCATTN_USAGE_ERROR,
              "unknown option 'thread'; did you mean 'threads'? (options: device, memory, nan, "
              "spill_folder, threads, tile_points, weights, parameter.NAME)");
  EXPECT_SAYS(set("threads", "two"), FUNCATTN_USAGE_ERROR,
              "option 'threads' cannot be 'two'; expected a whole number from 0 to 1024");
  EXPECT_SAYS(set("threads", "-1"), FUNCATTN_USAGE_ERROR,
              "option 'threads' cannot be '-1'; expected a whole number from 0 to 1024");
  EXPECT_SAYS(set("nan", "drop"), FUNCATTN_USAGE_ERROR,
              "option 'nan' cannot be 'drop'; expected error or mask: the caller's arrays keep "
              "their points");
  EXPECT_SAYS(set("weights", "measure"), FUNCATTN_USAGE_ERROR,
              "option 'weights' cannot be 'measure'; expected uniform or density: there are no "
              "cells to measure, and weights of the caller's own are set by "
              "funcattn_job_set_weights");
  EXPECT_EQ(set("memory", "disk"), FUNCATTN_USAGE_ERROR);
  EXPECT_SAYS(set(nullptr, "1"), FUNCATTN_USAGE_ERROR, "key is NULL");

  set_inputs();
  set_outputs();
  const RowMatrix right = expected();
  for (const auto& [key, value] :
       {std::pair{"threads", "1"}, {"memory", "spilled"}, {"spill_folder", "nowhere"}})
    EXPECT_OK(set(key, value));
  EXPECT_EQ(funcattn_run(handles_.job, handles_.status), FUNCATTN_FILE_ERROR) << "no such folder";
  EXPECT_NE(handles_.message().find("'nowhere'"), std::string::npos) << handles_.message();
  expect_outputs_untouched();
  EXPECT_OK(set("spill_folder", folder_.path().c_str()));
  EXPECT_OK(funcattn_run(handles_.job, handles_.status));
  EXPECT_EQ(outputs(), right);
  EXPECT_OK(set("tile_points", "2147483647"));  // As many as there are.
  EXPECT_OK(funcattn_run(handles_.job, handles_.status));
  EXPECT_LT((outputs() - right).cwiseAbs().maxCoeff(), 1e-12);
  for (const char* key : {"spill_folder", "memory", "threads", "tile_points"})
    EXPECT_OK(set(key, nullptr));
  EXPECT_OK(set("weights", "density"));
  EXPECT_OK(funcattn_run(handles_.job, handles_.status));
  EXPECT_NE(outputs(), right);
  EXPECT_OK(set("weights", nullptr));
  EXPECT_OK(funcattn_run(handles_.job, handles_.status));
  EXPECT_EQ(outputs(), right);
}

/// What a progress function heard, and after how many calls it asks for an end.
struct Heard {
  std::vector<double> fractions;
  std::size_t last = std::numeric_limits<std::size_t>::max();
};

int hear(double fraction, void* user) {
  auto* heard = static_cast<Heard*>(user);
  heard->fractions.push_back(fraction);
  return heard->fractions.size() >= heard->last ? 1 : 0;
}

TEST_F(CapiTest, TellsItsProgressAndCanBeCancelled) {
  Heard heard;
  set_inputs();
  set_outputs();
  const auto run = [&] { return funcattn_run(handles_.job, handles_.status); };
  EXPECT_OK(funcattn_job_set_progress(handles_.job, hear, &heard, handles_.status));
  EXPECT_OK(run());
  ASSERT_GE(heard.fractions.size(), 2u);
  EXPECT_EQ(heard.fractions.front(), 0);
  EXPECT_EQ(heard.fractions.back(), 1);
  EXPECT_TRUE(std::is_sorted(heard.fractions.begin(), heard.fractions.end()));
  EXPECT_EQ(outputs(), expected());

  pressure_.assign(points_, unset);
  displacement_.assign(3 * points_, unset);
  heard = {{}, 2};
  EXPECT_EQ(run(), FUNCATTN_CANCELLED);
  EXPECT_NE(handles_.message(), "");
  EXPECT_EQ(heard.fractions.size(), 2u);
  expect_outputs_untouched();
  EXPECT_OK(funcattn_job_set_progress(handles_.job, nullptr, nullptr, handles_.status));
  EXPECT_OK(run());
  EXPECT_EQ(heard.fractions.size(), 2u);
  EXPECT_EQ(outputs(), expected());
}

TEST_F(CapiTest, SaysWhatIsMissing) {
  const auto run = [&] { return funcattn_run(handles_.job, handles_.status); };
  EXPECT_SAYS(run(), FUNCATTN_USAGE_ERROR,
              "the job has no points; call funcattn_job_set_points first");
  EXPECT_SAYS(funcattn_job_set_input(handles_.job, FUNCATTN_SOURCE, "load", load_.data(),
                                     FUNCATTN_DOUBLE, 0, 0, handles_.status),
              FUNCATTN_USAGE_ERROR,
              "input 'load' of the source: say first how many source points there are "
              "(funcattn_job_set_points)");
  for (const std::int64_t count : {0, -3})
    EXPECT_SAYS(funcattn_job_set_points(handles_.job, FUNCATTN_SOURCE, count, handles_.status),
                FUNCATTN_USAGE_ERROR,
                "the number of source points is " + std::to_string(count) + "; expected 1 or more");
  EXPECT_SAYS(funcattn_job_set_points(handles_.job, FUNCATTN_QUERY, -1, handles_.status),
              FUNCATTN_USAGE_ERROR,
              "the number of query points is -1; expected 1 or more, or 0 for no query");
  EXPECT_OK(funcattn_job_set_points(handles_.job, FUNCATTN_SOURCE, points_, handles_.status));
  EXPECT_SAYS(run(), FUNCATTN_USAGE_ERROR,
              "no output is asked for; call funcattn_job_set_output for any of 'pressure' (1 "
              "component, Pa), 'displacement' (3 components, m)");
  set_outputs();
  EXPECT_SAYS(run(), FUNCATTN_USAGE_ERROR,
              "the operator uses the x coordinates, which were not given for the source points "
              "(funcattn_job_set_coordinates, funcattn_job_set_axis)");
  EXPECT_OK(funcattn_job_set_coordinates(handles_.job, FUNCATTN_SOURCE, coordinates_.data(),
                                         FUNCATTN_DOUBLE, 1, 24, 0, handles_.status));
  EXPECT_SAYS(run(), FUNCATTN_USAGE_ERROR,
              "the operator uses the y coordinates, which were not given for the source points "
              "(funcattn_job_set_coordinates, funcattn_job_set_axis)");
  set_inputs();
  EXPECT_SAYS(funcattn_job_set_input(handles_.job, FUNCATTN_SOURCE, "lode", load_.data(),
                                     FUNCATTN_DOUBLE, 0, 0, handles_.status),
              FUNCATTN_USAGE_ERROR,
              "the operator has no input 'lode'; its inputs are 'load', 'force'");
  EXPECT_SAYS(funcattn_job_set_output(handles_.job, "velocity", load_.data(), FUNCATTN_DOUBLE, 0, 0,
                                      handles_.status),
              FUNCATTN_USAGE_ERROR,
              "the operator has no output 'velocity'; its outputs are 'pressure', 'displacement'");
  EXPECT_SAYS(funcattn_job_set_output(handles_.job, "pressure", load_.data(), FUNCATTN_INT32, 0, 0,
                                      handles_.status),
              FUNCATTN_USAGE_ERROR,
              "output 'pressure': predictions are written as float or double, not as integers");
  // Another number of points forgets arrays of the old length.
  EXPECT_OK(funcattn_job_set_points(handles_.job, FUNCATTN_SOURCE, points_ - 1, handles_.status));
  EXPECT_EQ(run(), FUNCATTN_USAGE_ERROR);
  expect_outputs_untouched();
}

TEST_F(CapiTest, NullAndNonsenseAreErrors) {
  EXPECT_SAYS(funcattn_load(nullptr, &handles_.op, handles_.status), FUNCATTN_USAGE_ERROR,
              "path is NULL");
  EXPECT_SAYS(funcattn_load("a", nullptr, handles_.status), FUNCATTN_USAGE_ERROR, "op is NULL");
  EXPECT_SAYS(funcattn_job_create(nullptr, &handles_.job, handles_.status), FUNCATTN_USAGE_ERROR,
              "op is NULL");
  EXPECT_EQ(handles_.job, nullptr);
  EXPECT_SAYS(funcattn_run(nullptr, handles_.status), FUNCATTN_USAGE_ERROR, "job is NULL");
  EXPECT_EQ(funcattn_run(nullptr, nullptr), FUNCATTN_USAGE_ERROR) << "a status is optional";
  use(test::make_surrogate());
  EXPECT_SAYS(funcattn_job_set_points(handles_.job, 2, 1, handles_.status), FUNCATTN_USAGE_ERROR,
              "the points 2 are neither FUNCATTN_SOURCE (0) nor FUNCATTN_QUERY (1)");
  EXPECT_OK(funcattn_job_set_points(handles_.job, FUNCATTN_SOURCE, points_, handles_.status));
  EXPECT_SAYS(funcattn_job_set_input(handles_.job, FUNCATTN_SOURCE, "load", nullptr,
                                     FUNCATTN_DOUBLE, 0, 0, handles_.status),
              FUNCATTN_USAGE_ERROR,
              "input 'load' of the source: the pointer to its numbers is NULL");
  EXPECT_SAYS(funcattn_job_set_input(handles_.job, FUNCATTN_SOURCE, nullptr, load_.data(),
                                     FUNCATTN_DOUBLE, 0, 0, handles_.status),
              FUNCATTN_USAGE_ERROR, "name is NULL");
  EXPECT_SAYS(funcattn_job_set_weights(handles_.job, load_.data(), 9, 0, handles_.status),
              FUNCATTN_USAGE_ERROR,
              "the type 9 is unknown; expected FUNCATTN_FLOAT (1), FUNCATTN_DOUBLE (2), "
              "FUNCATTN_INT32 (3), FUNCATTN_INT64 (4) or FUNCATTN_UINT8 (5)");
  EXPECT_SAYS(funcattn_job_set_coordinates(handles_.job, FUNCATTN_SOURCE, load_.data(),
                                           FUNCATTN_DOUBLE, 4, 0, 0, handles_.status),
              FUNCATTN_USAGE_ERROR,
              "coordinates of the source: 4 components; expected 1 to 3, for x, y and z");
  EXPECT_SAYS(funcattn_job_set_axis(handles_.job, FUNCATTN_SOURCE, 3, load_.data(), FUNCATTN_DOUBLE,
                                    0, handles_.status),
              FUNCATTN_USAGE_ERROR, "axis 3 of the source; expected 0, 1 or 2 for x, y and z");
  EXPECT_EQ(funcattn_input_count(nullptr), -1);
  EXPECT_EQ(funcattn_input_name(handles_.op, 2), nullptr);
  EXPECT_EQ(funcattn_input_name(handles_.op, -1), nullptr);
  EXPECT_EQ(funcattn_axis(handles_.op, 2), -1);
  funcattn_free(nullptr);
  funcattn_job_free(nullptr);
  funcattn_status_free(nullptr);
}

TEST_F(CapiTest, FilesThatAreNoOperatorsAreErrors) {
  funcattn_operator* op = handles_.op;
  funcattn_operator* none = op;
  EXPECT_EQ(funcattn_load((folder_ / "absent.safetensors").c_str(), &none, handles_.status),
            FUNCATTN_FILE_ERROR);
  EXPECT_EQ(none, nullptr);
  EXPECT_NE(handles_.message().find("absent.safetensors"), std::string::npos);
  const auto text = folder_.write("text.safetensors", "not an operator, by any means");
  EXPECT_EQ(funcattn_load(text.c_str(), &none, handles_.status), FUNCATTN_OPERATOR_ERROR);
  EXPECT_EQ(funcattn_status_code(handles_.status), FUNCATTN_OPERATOR_ERROR);
}

TEST_F(CapiTest, TellsTheContract) {
  const funcattn_operator* op = handles_.op;
  ASSERT_EQ(funcattn_input_count(op), 2);
  EXPECT_STREQ(funcattn_input_name(op, 1), "force");
  EXPECT_EQ(funcattn_input_components(op, 1), 3);
  EXPECT_STREQ(funcattn_input_unit(op, 1), "");
  EXPECT_EQ(funcattn_input_association(op, 1), FUNCATTN_POINT);
  EXPECT_EQ(funcattn_input_role(op, 1), FUNCATTN_VALUE);
  ASSERT_EQ(funcattn_output_count(op), 2);
  EXPECT_STREQ(funcattn_output_name(op, 0), "pressure");
  EXPECT_STREQ(funcattn_output_unit(op, 0), "Pa");
  EXPECT_EQ(funcattn_output_components(op, 1), 3);
  EXPECT_EQ(funcattn_output_association(op, 1), FUNCATTN_POINT);
  EXPECT_EQ(funcattn_dimension(op), 2);
  EXPECT_EQ(funcattn_axis(op, 0), 0);
  EXPECT_EQ(funcattn_axis(op, 1), 1);
  EXPECT_EQ(funcattn_min_points(op), 10);
  EXPECT_EQ(funcattn_max_points(op), 100);
  EXPECT_EQ(Json::parse(funcattn_contract_json(op)),
            OperatorStage(folder_ / "op.safetensors").contract());
  use(test::make_regression());
  EXPECT_EQ(funcattn_input_role(handles_.op, 1), FUNCATTN_SOURCE_FLAG);
}

TEST_F(CapiTest, JobsOutliveTheOperatorsHandle) {
  set_inputs();
  set_outputs();
  funcattn_free(handles_.op);
  handles_.op = nullptr;
  EXPECT_OK(funcattn_run(handles_.job, handles_.status));
  EXPECT_EQ(outputs(), expected());
}

TEST_F(CapiTest, ManyThreadsShareOneOperator) {
  const RowMatrix right = expected();
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, -1);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::vector<double> pressure(points_);
      funcattn_job* job = nullptr;
      int failures = funcattn_job_create(handles_.op, &job, nullptr);
      failures += funcattn_job_set_points(job, FUNCATTN_SOURCE, points_, nullptr);
      failures += funcattn_job_set_coordinates(job, FUNCATTN_SOURCE, coordinates_.data(),
                                               FUNCATTN_DOUBLE, 3, 0, 0, nullptr);
      for (const auto& [name, values] : {std::pair{"load", &load_}, {"force", &force_}})
        failures += funcattn_job_set_input(job, FUNCATTN_SOURCE, name, values->data(),
                                           FUNCATTN_DOUBLE, 0, 0, nullptr);
      failures +=
          funcattn_job_set_output(job, "pressure", pressure.data(), FUNCATTN_DOUBLE, 0, 0, nullptr);
      for (int i = 0; i < 25; ++i) {
        pressure.assign(points_, 0);
        failures += funcattn_run(job, nullptr);
        failures += Eigen::Map<RowMatrix>(pressure.data(), points_, 1) != right.leftCols(1);
      }
      funcattn_job_free(job);
      wrong[static_cast<std::size_t>(t)] = failures;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST(CapiVersion, TellsWhetherAProgramFits) {
  EXPECT_EQ(funcattn_version_number(), FUNCATTN_VERSION_NUMBER);
  EXPECT_EQ(funcattn_version(), std::to_string(FUNCATTN_VERSION_MAJOR) + "." +
                                    std::to_string(FUNCATTN_VERSION_MINOR) + "." +
                                    std::to_string(FUNCATTN_VERSION_PATCH));
  EXPECT_EQ(funcattn_is_compatible(FUNCATTN_VERSION_NUMBER), 1);
  EXPECT_EQ(funcattn_is_compatible(FUNCATTN_VERSION_NUMBER + 1), 0) << "newer than the library";
  EXPECT_EQ(funcattn_is_compatible(FUNCATTN_VERSION_NUMBER + 10000), 0) << "another major version";
}

}  // namespace
}  // namespace funcattn
