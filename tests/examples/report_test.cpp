#include "examples/evaluate/report.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "core/atomic_file.h"

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

TEST(Report, OperatorsOfOneRecipeAreSeeds) {
  OperatorEvaluation one = evaluation(), two = evaluation(), other = evaluation();
  one.recipe = two.recipe = "a";
  two.name = "darcy_2";
  two.resolutions[1].fields[0].relative_l2 = 0.4;
  other.recipe = "b";
  const std::vector<SeedSpread> spreads = seed_spreads({one, other, two});
  ASSERT_EQ(spreads.size(), 4u) << "three resolutions and a study";
  EXPECT_EQ(spreads[1].label, "training");
  EXPECT_EQ(spreads[1].names, (std::vector<std::string>{"darcy", "darcy_2"}));
  EXPECT_NEAR(spreads[1].mean, 0.3, 1e-15);
  EXPECT_NEAR(spreads[1].deviation, 0.1 * std::sqrt(2.0), 1e-15);
  EXPECT_EQ(spreads[1].least, 0.2);
  EXPECT_EQ(spreads[1].greatest, 0.4);
  EXPECT_EQ(spreads[2].deviation, 0);
  EXPECT_NE(report_text({one, two}).find("Over seeds"), std::string::npos);
  EXPECT_NEAR(report_json({one, two}).at("seeds").at(1).at("mean").get<double>(), 0.3, 1e-15);
  EXPECT_EQ(report_text({one, other}).find("Over seeds"), std::string::npos);
  one.recipe = two.recipe = "";
  EXPECT_TRUE(seed_spreads({one, two}).empty()) << "unknown recipes are not the same";
}

TEST(Report, TheTableHasParametersSpreadAndWhatWasMeasured) {
  OperatorEvaluation one = evaluation();
  EXPECT_EQ(report_text({one}).find("relative H1"), std::string::npos);
  FieldMetrics& field = one.resolutions[0].fields[0];
  field.relative_h1 = SampleFigure{0.125, 0.1, 0.2, "a.vtu"};
  field.accuracy = SampleFigure{0.875, 0.9, 0.5, "b.vtu"};
  field.worst_sample = "c.vtu";
  const std::string text = report_text({one});
  for (const char* part : {"parameters", "median", "relative H1", "accuracy", "0.125", "0.875",
                           " 42 ", "worst sample of darcy at coarse, pressure: c.vtu"})
    EXPECT_NE(text.find(part), std::string::npos) << part << text;
}

TEST(Report, TextNamesOperatorsResolutionsAndDrift) {
  const std::string text = report_text({evaluation()});
  EXPECT_NE(
      text.find("resolution drift of darcy: 1.25 (relative L2 at fine over that at training)"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("Shift"), std::string::npos);
}

// One face is filled; the other has no value. Where none has one, points are drawn: both are
// pictures.
TEST(Report, FacesOfAPlaneMeshAreFilled) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  SampleView view;
  view.title = "square";
  view.coordinates = {{0, 0}, {1, 0}, {0, 1}, {1, 1}};
  view.truth = {1, 2, 3, 4};
  view.predictions.emplace_back("predicted", std::vector<double>{1, 2, 2, 4});
  const auto size_of = [&](const SampleView& shown) {
    const std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("faces_" + std::to_string(::getpid()) + ".png");
    draw_report(path, {}, {shown});
    const auto bytes = read_file(path);
    std::filesystem::remove(path);
    EXPECT_EQ(bytes.substr(1, 3), "PNG");
    return bytes.size();
  };
  const auto points = size_of(view);
  view.faces = {{{{0, 0}, {1, 0}, {0, 1}}, {0, 1, 2}}, {{{1, 0}, {1, 1}, {0, 1}}, {1, 3, 2}}};
  EXPECT_NE(size_of(view), points);
  const auto both = size_of(view);
  view.truth[3] = nan;
  EXPECT_NE(size_of(view), both) << "the second face is left out";
  view.truth = {nan, nan, nan, 1};
  EXPECT_GT(size_of(view), 0u);
}

}  // namespace
}  // namespace funcattn
