#include "examples/evaluate/report.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <regex>

#include "core/atomic_file.h"
#include "tests/support/temporary_folder.h"

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

TEST(Report, DriftIsOfSetsThatDifferInTheirDensity) {
  OperatorEvaluation same = evaluation();
  same.base = 2;
  EXPECT_TRUE(std::isnan(same.drift()));
  EXPECT_EQ(same.no_drift(), "fine, which is nearest to the training resolution, is the densest");
  OperatorEvaluation close = evaluation();
  close.resolutions[2].points = 383;
  EXPECT_EQ(close.no_drift(), "with 383 points fine is hardly denser than training with 256");
  EXPECT_TRUE(report_json({close}).at("drift").is_null());
  EXPECT_EQ(report_text({close}).find("resolution drift"), std::string::npos);
  close.resolutions[2].points = 384;
  EXPECT_EQ(close.no_drift(), "");
  EXPECT_DOUBLE_EQ(close.drift(), 1.25);
}

TEST(Report, DriftIsOfSetsThatAreSampledAlike) {
  OperatorEvaluation mixed = evaluation();
  mixed.resolutions.push_back(case_of("graded_data/test_scattered", 4000, 0.9));
  EXPECT_DOUBLE_EQ(mixed.drift(), 1.25);
  EXPECT_NE(report_text({mixed}).find("at fine over that at training"), std::string::npos);
  mixed.resolutions.erase(mixed.resolutions.begin() + 2);
  EXPECT_EQ(mixed.no_drift(),
            "training, which is nearest to the training resolution, is the densest of its kind");
  EXPECT_EQ(sampling_of("test_graded_x4"), "graded");
  EXPECT_EQ(sampling_of("graded_data/test_x4"), "") << "the name of a folder around the set";
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
  one.seed = two.seed = "3";
  EXPECT_TRUE(seed_spreads({one, two}).empty()) << "best and last operator of one run";
  two.seed = "4";
  EXPECT_EQ(seed_spreads({one, two}).size(), 4u);
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
  field.relative_l2_worst = 0.75;
  const std::string text = report_text({one});
  for (const char* part :
       {"parameters", "median", "relative H1", "accuracy", "0.125", "0.875", " 42 ",
        "Worst samples\n", "  darcy     coarse    pressure  relative L2 0.75  c.vtu\n"})
    EXPECT_NE(text.find(part), std::string::npos) << part << text;
}

/// Of one resolution, whose field is a class.
OperatorEvaluation class_evaluation() {
  OperatorEvaluation one = evaluation();
  one.resolutions.resize(1);
  one.studies.clear();
  one.resolutions[0].fields[0].is_class = true;
  return one;
}

TEST(Report, TheTableOfClassesHasMedianAndWorst) {
  OperatorEvaluation one = class_evaluation();
  FieldMetrics& field = one.resolutions[0].fields[0];
  field.relative_l2 = field.relative_l2_median = field.relative_l2_worst = field.mse = field.rmse =
      field.max_error = std::nan("");
  field.accuracy = SampleFigure{0.875, 0.9375, 0.5, "b.vtu"};
  const std::string text = report_text({one});
  EXPECT_TRUE(std::regex_search(text, std::regex("accuracy +median +worst +s per"))) << text;
  EXPECT_TRUE(std::regex_search(text, std::regex("0\\.875 +0\\.938 +0\\.5 "))) << text;
}

TEST(Report, FewClassesAreATableAndManyTheWorstOfThem) {
  OperatorEvaluation one = class_evaluation();
  FieldMetrics& field = one.resolutions[0].fields[0];
  field.classes = {{3, 8, 4, 4}, {5, 0, 2, 0}, {7, 2, 4, 2}};
  field.unknown_points = 1;
  const std::string few = report_text({one});
  for (const char* row : {"class +points +recall +precision", "pressure +3 +8 +0\\.5 +1\n",
                          "pressure +5 +0 +- +0\n", "pressure +7 +2 +1 +0\\.5\n",
                          "pressure +others +1 +0 +-\n", "pressure +mean +10 +0\\.75 +-\n"})
    EXPECT_TRUE(std::regex_search(few, std::regex(row))) << row << "\n" << few;
  for (int value = 8; value < 18; ++value) field.classes.push_back({value, 4, 4, value - 8});
  const std::string many = report_text({one});
  EXPECT_EQ(many.find("By class"), std::string::npos);
  EXPECT_NE(many.find("classes of darcy at coarse, pressure: mean recall "), std::string::npos);
  EXPECT_NE(many.find(" over the 12 of 13 that occur; least 8 (recall 0 of 4 points), 9 (recall "
                      "0.25 of 4 points), 3 (recall 0.5 of 8 points), 10 (recall 0.5 of 4 points), "
                      "11 (recall 0.75 of 4 points)\n"),
            std::string::npos)
      << many;
}

TEST(Report, TextNamesOperatorsResolutionsAndDrift) {
  const std::string text = report_text({evaluation()});
  EXPECT_NE(
      text.find("resolution drift of darcy: 1.25 (relative L2 at fine over that at training)"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("Shift"), std::string::npos);
}

/// Width, height and bytes of a PNG.
struct Picture {
  int width = 0, height = 0;
  std::string bytes;
};

Picture picture_at(const std::filesystem::path& path) {
  Picture picture;
  picture.bytes = read_file(path);
  EXPECT_EQ(picture.bytes.substr(1, 3), "PNG");
  const auto number = [&](std::size_t at) {
    int value = 0;
    for (std::size_t i = 0; i < 4; ++i)
      value = 256 * value + static_cast<unsigned char>(picture.bytes.at(at + i));
    return value;
  };
  picture.width = number(16);
  picture.height = number(20);
  return picture;
}

SampleView square(const std::string& field) {
  SampleView view;
  view.title = "square";
  view.field = field;
  const auto shape = std::make_shared<ViewShape>();
  shape->kind = ViewShape::Kind::plane;
  shape->horizontal = "x";
  shape->vertical = "y";
  shape->parts = {{{{0, 0}, {1, 0}, {0, 1}}, {0, 1, 2}, 1},
                  {{{1, 0}, {1, 1}, {0, 1}}, {1, 3, 2}, 1}};
  view.shape = shape;
  view.truth = {1, 2, 3, 4};
  view.predictions = {{"first", {1, 2, 2, 4}, {0, 0, 1, 0}}};
  return view;
}

TEST(Report, EveryOperatorHasItsMapsAndFacesWithoutValueAreGrey) {
  const test::TemporaryFolder folder;
  const auto drawn = [&](const SampleView& view) {
    draw_report(folder / "a.png", {}, {view});
    return picture_at(folder / "a.png");
  };
  SampleView view = square("u");
  const Picture one = drawn(view);
  EXPECT_EQ(one.width, 3 * 460) << "true, predicted, error";
  EXPECT_EQ(one.height, 380);
  view.predictions.push_back({"second", {1, 2, 3, 4}, {0, 0, 0, 0}});
  const Picture two = drawn(view);
  EXPECT_EQ(two.width, 3 * 460) << "true, two predictions";
  EXPECT_EQ(two.height, 2 * 380) << "and their errors";
  const Picture same = drawn(view);
  EXPECT_EQ(two.bytes, same.bytes);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  view.truth[3] = nan;
  EXPECT_NE(drawn(view).bytes, two.bytes);
  view.truth = {nan, nan, nan, nan};
  EXPECT_EQ(drawn(view).width, 3 * 460);
}

/// What draw_report() tells gnuplot, which draws it too.
std::string script_of(const std::vector<OperatorEvaluation>& evaluations,
                      const std::vector<SampleView>& views) {
  const test::TemporaryFolder folder;
  const std::string before = std::getenv("PATH");
  const std::filesystem::path copy = folder / "script";
  std::filesystem::permissions(
      folder.write("gnuplot", "#!/bin/sh\ncp \"$1\" '" + copy.string() + "'\nPATH='" + before +
                                  "' exec gnuplot \"$@\"\n"),
      std::filesystem::perms::owner_all);
  ::setenv("PATH", (folder.path().string() + ":" + before).c_str(), 1);
  draw_report(folder / "a.png", evaluations, views);
  ::setenv("PATH", before.c_str(), 1);
  return read_file(copy);
}

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

TEST(Report, ManyClassesHaveFewLabelsAndWrongPointsNoScale) {
  SampleView view = square("label");
  view.are_classes = true;
  view.truth = {0, 121, 7, 3};
  view.predictions[0].values = {0, 121, 3, 3};
  const std::string script = script_of({}, {view});
  EXPECT_NE(script.find("set format cb '%.0f'\nset cbtics 20\n"), std::string::npos);
  EXPECT_NE(script.find("wrong points of first"), std::string::npos);
  EXPECT_NE(script.find("set cbtics ('right' 0.25, 'wrong' 0.75)"), std::string::npos);
  EXPECT_EQ(script.find("absolute error"), std::string::npos);
  view.truth = {0, 10, 7, 3};
  view.predictions[0].values = {0, 3, 3, 3};
  EXPECT_NE(script_of({}, {view}).find("set cbtics 1\n"), std::string::npos);
  EXPECT_NE(script_of({}, {square("u")}).find("absolute error of first"), std::string::npos);
}

TEST(Report, ManyOperatorsStandInSeveralRows) {
  const test::TemporaryFolder folder;
  SampleView view = square("u");
  for (int i = 1; i < 13; ++i)
    view.predictions.push_back({std::to_string(i), {1, 2, 3, 4}, {0, 0, 0, 0}});
  draw_report(folder / "a.png", {}, {view});
  const Picture picture = picture_at(folder / "a.png");
  EXPECT_EQ(picture.width, 9 * 300 + 80) << "true, eight predictions, colours";
  EXPECT_EQ(picture.height, 2 * 2 * 325);
}

TEST(Report, TheCurveOfErrorsFitsThemAndJoinsSetsThatAreSampledAlike) {
  OperatorEvaluation one = evaluation();
  const auto curve = [&] {
    const std::string script = script_of({one}, {});
    return script.substr(script.find("'Error against density'"));
  };
  const std::string plain = curve();
  EXPECT_NE(plain.find("set ytics (\"0.2\" 0.2, \"0.22\" 0.22, \"0.25\" 0.25, "
                       "\"0.28\" 0.28, \"0.3\" 0.3)"),
            std::string::npos)
      << plain;
  EXPECT_EQ(count_of(plain, " with linespoints"), 1);
  one.resolutions.push_back(case_of("test_graded", 1100, 0.5));
  one.resolutions.push_back(case_of("test_graded_x4", 4100, 0.5));
  one.resolutions.push_back(case_of("test_scattered", 4200, 0.5));
  const std::string mixed = curve();
  EXPECT_EQ(count_of(mixed, " with linespoints"), 3);
  EXPECT_NE(mixed.find("\"darcy, graded\""), std::string::npos) << mixed;
}

TEST(Report, SetsOfAboutAsManyPointsMakeNoCurve) {
  OperatorEvaluation one = evaluation();
  for (CaseMetrics& metrics : one.resolutions) metrics.points = 256;
  const SampleView view = square("pressure");
  EXPECT_EQ(script_of({one}, {view}).find("Error against density"), std::string::npos);
  EXPECT_NE(script_of({evaluation()}, {view}).find("Error against density"), std::string::npos);
}

TEST(Report, EveryFieldHasAPictureOfItsOwn) {
  const test::TemporaryFolder folder;
  using Names = std::vector<std::string>;
  EXPECT_EQ(draw_reports(folder.path(), {}, {square("p")}), Names{"report.png"});
  EXPECT_EQ(draw_reports(folder.path(), {},
                         {square("p"), square("wall shear"), square("p"), square("wall/shear")}),
            (Names{"report_p.png", "report_wall_shear.png", "report_wall_shear_2.png"}));
  EXPECT_EQ(picture_at(folder / "report_p.png").height, 2 * 380);
  EXPECT_EQ(picture_at(folder / "report_wall_shear.png").height, 380);
}

TEST(Report, TellsWhyThereIsNoDrift) {
  OperatorEvaluation unrelated = evaluation();
  unrelated.other_problems = "a and b do not hold the same problems: they have 2 and 3 samples";
  EXPECT_TRUE(std::isnan(unrelated.drift()));
  const std::string text = report_text({unrelated});
  EXPECT_EQ(text.find("resolution drift of darcy: "), std::string::npos);
  EXPECT_NE(text.find("no drift of darcy from set to set: " + unrelated.other_problems),
            std::string::npos)
      << text;
  const Json json = report_json({unrelated});
  EXPECT_TRUE(json.at("drift").is_null());
  EXPECT_EQ(json.at("operators")[0].at("no_drift"), unrelated.other_problems);
}

}  // namespace
}  // namespace funcattn
