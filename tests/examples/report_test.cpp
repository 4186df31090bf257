#include "examples/evaluate/report.h"

#include <gtest/gtest.h>

#include <cmath>

namespace funcattn {
namespace {

CaseMetrics case_of(const std::string& label, double points, double relative_l2) {
  CaseMetrics metrics;
  metrics.label = label;
  metrics.samples = 3;
  metrics.points = points;
  FieldMetrics field;
  field.field = "pressure";
  field.relative_l2 = relative_l2;
  field.mse = 0.25;
  field.rmse = 0.5;
  metrics.fields.push_back(field);
  return metrics;
}

OperatorEvaluation evaluation() {
  OperatorEvaluation result;
  result.name = "darcy";
  result.file = "darcy.safetensors";
  result.parameters = 42;
  result.resolutions = {case_of("coarse", 64, 0.3), case_of("training", 256, 0.2),
                        case_of("fine", 1024, 0.25)};
  result.base = 1;
  result.studies.emplace_back("Shift", std::vector<CaseMetrics>{case_of("far", 256, 0.4)});
  return result;
}

TEST(Report, DriftIsTheDensestOverTheTrainingResolution) {
  EXPECT_DOUBLE_EQ(evaluation().drift(), 1.25);
  OperatorEvaluation one = evaluation();
  one.resolutions.resize(1);
  EXPECT_TRUE(std::isnan(one.drift()));
  EXPECT_TRUE(report_json({one}).at("drift").is_null());
}

TEST(Report, JsonHoldsEveryNumber) {
  const Json json = report_json({evaluation()});
  EXPECT_DOUBLE_EQ(json.at("drift").get<double>(), 1.25);
  const Json& op = json.at("operators").at(0);
  EXPECT_EQ(op.at("parameters").get<int>(), 42);
  ASSERT_EQ(op.at("resolutions").size(), 3u);
  EXPECT_EQ(op.at("resolutions").at(2).at("fields").at("pressure").at("relative_l2").get<double>(),
            0.25);
  EXPECT_EQ(op.at("studies").at("Shift").at(0).at("label").get<std::string>(), "far");
}

TEST(Report, TextNamesOperatorsResolutionsAndDrift) {
  const std::string text = report_text({evaluation()});
  EXPECT_NE(
      text.find("resolution drift of darcy: 1.25 (relative L2 at fine over that at training)"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("Shift"), std::string::npos);
}

}  // namespace
}  // namespace funcattn
