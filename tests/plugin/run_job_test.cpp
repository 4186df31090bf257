#include "plugin/cli/run_job.h"

#include <cmath>

#include "plugin/cli/option_hints.h"
#include "tests/plugin/support.h"

namespace funcattn {
namespace {

Json report(double relative_l2, double rmse, double max_error) {
  return {{"errors",
           {{{"array", "p_predicted"},
             {"against", "p"},
             {"relative_l2", relative_l2},
             {"rmse", rmse},
             {"max_error", max_error}}}}};
}

TEST(RunReport, MeanErrorsLeaveFailuresOut) {
  const Json failed = {{"input", "b.vtu"}, {"error", "b.vtu: no such file"}};
  const Json means = mean_errors(Json::array({report(0.1, 3, 5), failed, report(0.3, 4, 2)}));
  ASSERT_EQ(means.size(), 1u);
  EXPECT_NEAR(means[0].at("relative_l2").get<double>(), 0.2, 1e-15);
  EXPECT_NEAR(means[0].at("rmse").get<double>(), std::sqrt(0.5 * (9 + 16)), 1e-15);
  EXPECT_EQ(means[0].at("max_error"), 5);
  EXPECT_EQ(error_text(report(0.012345678, 3, 5).at("errors")[0]),
            "  p_predicted against p: relative L2 0.01235, RMSE 3, largest 5\n");
  EXPECT_TRUE(mean_errors(Json::array({failed})).empty());
}

TEST(RunReport, OfClassesAreAccuracies) {
  const auto report = [](double accuracy) {
    return Json{
        {"errors", {{{"array", "label_predicted"}, {"against", "label"}, {"accuracy", accuracy}}}}};
  };
  const Json means = mean_errors(Json::array({report(0.5), report(1)}));
  ASSERT_EQ(means.size(), 1u);
  EXPECT_EQ(means[0].at("accuracy"), 0.75);
  EXPECT_EQ(error_text(means[0]), "  label_predicted against label: accuracy 0.75\n");
}

TEST(RunReport, TellsWhatADryRunWouldDo) {
  const Json dry = {{"input", "a.vtu"}, {"output", "a_predicted.vtu"}, {"cells", 7},
                    {"inputs", {"u"}},  {"weights", "measure"},        {"arrays", {"p_predicted"}},
                    {"seconds", 0.25},  {"warnings", Json::array()}};
  EXPECT_EQ(job_text(dry),
            "a.vtu: 7 cells\n  would read u (weights: measure)\n  would write a_predicted.vtu with "
            "p_predicted\n");
}

TEST(OptionHints, StandBehindTheAdvice) {
  EXPECT_EQ(with_option_hints("a.vtu: choose another suffix or allow overwriting"),
            "a.vtu: choose another suffix or allow overwriting (--suffix, --overwrite)");
  EXPECT_EQ(
      with_option_hints("a.vtu: the features of the points need 9 GiB, which this machine does "
                        "not give; keep them in a temporary file, or compute them anew"),
      "a.vtu: the features of the points need 9 GiB, which this machine does not give; keep "
      "them in a temporary file, or compute them anew (--memory spilled, --memory "
      "recomputed)");
  EXPECT_EQ(with_option_hints("a.vtu: no such file"), "a.vtu: no such file");
}

TEST(OptionHints, AreThoseOfTheCommand) {
  const std::string advice = "a.vtu: NaN; repair these values";
  const std::string policy = ", or let the NaN policy mask or drop such entries";
  const auto only = [](const std::string& name) {
    return [name](const std::string& option) { return option == name; };
  };
  const std::string told = with_option_hints(advice + policy, only("nan"));
  EXPECT_EQ(told, advice + policy + " (--nan mask, --nan drop)");
  EXPECT_EQ(with_option_hints(told, only("nan")), told) << "once is enough";
  EXPECT_EQ(with_option_hints(advice + policy, only("weights")),
            advice + ", or leave the file out");
  EXPECT_EQ(with_option_hints("choose another suffix or allow overwriting", only("overwrite")),
            "choose another suffix or allow overwriting (--overwrite)");
  EXPECT_EQ(with_option_hints("choose another folder for temporary files", only("weights")),
            "choose another folder for temporary files");
}

}  // namespace
}  // namespace funcattn
