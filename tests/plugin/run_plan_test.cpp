#include "plugin/cli/run_plan.h"

#include <sstream>

#include "core/error.h"
#include "meshio/series.h"
#include "tests/plugin/support.h"

namespace funcattn {
namespace {

using test::error_of;

class RunPlanTest : public ::testing::Test {
 protected:
  RunPlanTest() {
    for (const char* name : {"a_1.vtu", "a_2.vtu", "shape.stl"}) folder_.write(name, "");
    write_pvd(folder_ / "run.pvd", {{folder_ / "a_1.vtu", 0.5}, {folder_ / "a_2.vtu", 1e-300}});
    options_.operator_file = folder_ / "op.safetensors";
  }

  RunPlan plan(const std::vector<std::filesystem::path>& inputs, const std::string& list = "") {
    options_.inputs = inputs;
    std::istringstream standard_input(list);
    OutputGuard guard;
    return plan_run(options_, standard_input, guard);
  }

  std::string refusal(const std::vector<std::filesystem::path>& inputs) {
    return error_of<UsageError>([&] { (void)plan(inputs); });
  }

  std::vector<std::string> outputs(const std::vector<std::filesystem::path>& inputs,
                                   const std::string& list = "") {
    std::vector<std::string> names;
    for (const RunJob& job : plan(inputs, list).jobs) names.push_back(job.output.string());
    return names;
  }

  test::TemporaryFolder folder_;
  RunOptions options_;
};

using Names = std::vector<std::string>;

TEST_F(RunPlanTest, ResultsAreNamedAfterTheirInputs) {
  EXPECT_EQ(outputs({folder_ / "a_1.vtu"}), Names{"a_1_predicted.vtu"});
  EXPECT_EQ(outputs({folder_ / "a_*.vtu"}), (Names{"a_1_predicted.vtu", "a_2_predicted.vtu"}));
  EXPECT_EQ(outputs({"-"}, (folder_ / "a_2.vtu").string() + "\n"), Names{"a_2_predicted.vtu"});
  // The format of the result is chosen where that of the input cannot be written.
  EXPECT_EQ(outputs({folder_ / "shape.stl"}), Names{"shape_predicted"});
  EXPECT_EQ(plan({folder_ / "shape.stl"}).jobs.front().stem, "shape_predicted");
  EXPECT_FALSE(plan({folder_ / "shape.stl"}).jobs.front().has_extension());
  EXPECT_EQ(plan({folder_ / "a_1.vtu"}).jobs.front().stem, "a_1_predicted");
  EXPECT_TRUE(plan({folder_ / "a_1.vtu"}).jobs.front().has_extension());
  // A file that is not there fails in its turn.
  EXPECT_EQ(outputs({"none.vtu"}), Names{"none_predicted.vtu"});
  EXPECT_EQ(outputs({"-"}, "none.vtu\n" + (folder_ / "a_2.vtu").string() + "\n"),
            (Names{"none_predicted.vtu", "a_2_predicted.vtu"}));
  options_.output = "named.vtp";
  EXPECT_EQ(outputs({folder_ / "a_1.vtu"}), Names{"named.vtp"});
  EXPECT_EQ(plan({folder_ / "a_1.vtu"}).jobs.front().stem, "");
  EXPECT_TRUE(plan({folder_ / "a_1.vtu"}).jobs.front().has_extension());
  std::filesystem::create_directory(folder_ / "out");
  options_.output = folder_ / "out";
  EXPECT_EQ(outputs({folder_ / "a_1.vtu"}), Names{(folder_ / "out").string() + "/a_1.vtu"});
}

TEST_F(RunPlanTest, FoldersThatDoNotExistAreToBeMade) {
  EXPECT_EQ(plan({folder_ / "a_1.vtu"}).new_folder, "");
  // A slash says so; several results need one.
  options_.output = folder_.path().string() + "/new/";
  EXPECT_EQ(outputs({folder_ / "a_1.vtu"}), Names{folder_.path().string() + "/new/a_1.vtu"});
  EXPECT_EQ(plan({folder_ / "a_1.vtu"}).new_folder, options_.output);
  EXPECT_EQ(plan({folder_ / "run.pvd"}).series.at(0).output, options_.output / "run.pvd");
  options_.output = folder_ / "new.1";
  EXPECT_EQ(outputs({folder_ / "a_1.vtu", folder_ / "a_2.vtu"}),
            (Names{(folder_ / "new.1").string() + "/a_1.vtu",
                   (folder_ / "new.1").string() + "/a_2.vtu"}));
  EXPECT_EQ(plan({folder_ / "a_1.vtu", folder_ / "a_2.vtu"}).new_folder, folder_ / "new.1");
  EXPECT_NE(refusal({folder_ / "a_1.vtu"}).find("; the name of a new folder ends with /"),
            std::string::npos);
  std::filesystem::create_directory(folder_ / "new.1");
  EXPECT_EQ(plan({folder_ / "a_1.vtu"}).new_folder, "");
  // A file of that name is in the way, whatever its extension.
  options_.output = folder_.write("taken", "");
  EXPECT_NE(refusal({folder_ / "a_1.vtu", folder_ / "a_2.vtu"}).find("is no folder"),
            std::string::npos);
}

// Names with dots, as versions and numbers of files have them.
TEST_F(RunPlanTest, OnlyTheEndOfANameIsItsExtension) {
  folder_.write("car.v2.stl", "");
  folder_.write("wing.vtu.0.case", "");
  folder_.write("car.v2.vtu", "");
  std::filesystem::create_directory(folder_ / "out");
  for (const bool into_folder : {false, true}) {
    const std::string end = into_folder ? "" : "_predicted";
    const std::string before = into_folder ? (folder_ / "out").string() + "/" : "";
    if (into_folder) options_.output = folder_ / "out";
    for (const auto& [input, stem] : {std::pair<std::string, std::string>("car.v2.stl", "car.v2"),
                                      {"wing.vtu.0.case", "wing.vtu.0"}}) {
      const RunJob job = plan({folder_ / input}).jobs.front();
      EXPECT_EQ(job.output, before + stem + end);
      EXPECT_FALSE(job.has_extension()) << job.output;
    }
    EXPECT_EQ(outputs({folder_ / "car.v2.vtu"}), Names{before + "car.v2" + end + ".vtu"});
  }
}

TEST_F(RunPlanTest, AQueryGivesTheFormat) {
  options_.query = folder_ / "a_2.vtu";
  EXPECT_EQ(outputs({folder_ / "shape.stl"}), Names{"shape_predicted.vtu"});
}

TEST_F(RunPlanTest, ASeriesGivesASeries) {
  const RunPlan result = plan({folder_ / "run.pvd"});
  ASSERT_EQ(result.series.size(), 1u);
  EXPECT_EQ(result.series[0].output, "run_predicted.pvd");
  ASSERT_EQ(result.jobs.size(), 2u);
  EXPECT_EQ(result.jobs[0].output, "run_predicted_0000.vtu");
  EXPECT_EQ(result.jobs[1].output, "run_predicted_0001.vtu");
  EXPECT_EQ(result.jobs[1].time, 1e-300);
  EXPECT_FALSE(result.jobs[1].step);
  EXPECT_EQ(result.jobs[1].series, 0u);
  options_.output = "b.pvd";
  EXPECT_EQ(outputs({folder_ / "run.pvd"}), (Names{"b_0000.vtu", "b_0001.vtu"}));
  options_.output = "b.vtu";
  EXPECT_EQ(refusal({folder_ / "run.pvd"}),
            "option '--output': 'b.vtu' cannot hold the 2 steps of '" +
                (folder_ / "run.pvd").string() +
                "'; give the name of a .pvd, or a folder, whose name ends with /");
}

TEST_F(RunPlanTest, WhatACollectionSaysOfAStepStaysWithIt) {
  write_pvd(folder_ / "named.pvd",
            {{folder_ / "a_1.vtu", 0.5, "g", "3", "inlet"}, {folder_ / "a_2.vtu", 1, "", "", ""}});
  const auto jobs = plan({folder_ / "named.pvd"}).jobs;
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0].listed.group, "g");
  EXPECT_EQ(jobs[0].listed.part, "3");
  EXPECT_EQ(jobs[0].listed.name, "inlet");
  EXPECT_EQ(jobs[1].listed.name, "");
}

// The others are done, and it is reported among them.
TEST_F(RunPlanTest, WhatStandsForNothingFailsInItsTurn) {
  folder_.write("list.txt",
                "\xEF\xBB\xBF"
                "a_1.vtu\nnone.vtu\n");
  folder_.write("empty.txt", "# nothing\n");
  folder_.write("damaged.pvd", "<VTKFile");
  folder_.write("part.pvd",
                "<VTKFile type=\"Collection\"><Collection>"
                "<DataSet timestep=\"0\" file=\"none_2.vtu\"/>"
                "<DataSet timestep=\"1\" file=\"a_2.vtu\"/></Collection></VTKFile>");
  std::filesystem::create_directory(folder_ / "hollow");
  const auto jobs = plan({folder_ / "list.txt", folder_ / "x*.vtu", folder_ / "empty.txt",
                          folder_ / "damaged.pvd", folder_ / "hollow", folder_ / "part.pvd", "-",
                          folder_ / "shape.stl"},
                         "")
                        .jobs;
  ASSERT_EQ(jobs.size(), 10u);
  EXPECT_EQ(jobs[0].input, folder_ / "a_1.vtu");
  EXPECT_EQ(jobs[1].input, folder_ / "none.vtu");
  EXPECT_EQ(jobs[1].error, "") << "reading it will say what is wrong";
  EXPECT_EQ(jobs[2].input, folder_ / "x*.vtu");
  EXPECT_EQ(jobs[2].error, "no file matches '" + (folder_ / "x*.vtu").string() + "'");
  EXPECT_EQ(jobs[3].error,
            "'" + (folder_ / "empty.txt").string() + "' lists no file; put one path per line");
  EXPECT_EQ(jobs[4].error.rfind("cannot read '" + (folder_ / "damaged.pvd").string() + "': ", 0),
            0u);
  EXPECT_EQ(jobs[5].error.rfind("'" + (folder_ / "hollow").string() + "' holds no mesh file (", 0),
            0u);
  EXPECT_EQ(jobs[6].input, folder_ / "none_2.vtu");
  EXPECT_EQ(jobs[6].series, 0u);
  EXPECT_EQ(jobs[7].output, "part_predicted_0001.vtu");
  EXPECT_EQ(jobs[8].input, "standard input");
  EXPECT_EQ(jobs[8].error, "the list on standard input lists no file; put one path per line");
  EXPECT_EQ(jobs[9].error, "");
}

TEST_F(RunPlanTest, NothingIsReplaced) {
  options_.output = folder_.path();
  EXPECT_EQ(refusal({folder_ / "a_1.vtu"}),
            "the result '" + (folder_ / "a_1.vtu").string() + "' would replace the input '" +
                (folder_ / "a_1.vtu").string() + "'; give another --output");
  EXPECT_NE(refusal({folder_ / "run.pvd"}).find("run.pvd' would replace the input"),
            std::string::npos);
  options_.output.clear();
  std::filesystem::create_directory(folder_ / "other");
  folder_.write("other/a_1.vtu", "");
  EXPECT_EQ(refusal({folder_ / "a_1.vtu", folder_ / "other/a_1.vtu"}),
            "'" + (folder_ / "a_1.vtu").string() + "' and '" +
                (folder_ / "other/a_1.vtu").string() +
                "' would both be written to 'a_1_predicted.vtu'; run them one at a time");
  EXPECT_EQ(refusal({folder_ / "a_1.vtu", folder_ / "a_*.vtu"}),
            "'" + (folder_ / "a_1.vtu").string() + "' is listed twice; list it once");
  options_.output = folder_ / "new.vtu";
  EXPECT_EQ(refusal({folder_ / "a_1.vtu", folder_ / "a_2.vtu"}),
            "option '--output': '" + options_.output.string() +
                "' is no folder, which the results of 2 files need; give an existing one, or end "
                "the name of a new one with /");
}

TEST_F(RunPlanTest, OutputsMustBeWritable) {
  options_.output = "out.stl";
  const std::string message = refusal({folder_ / "a_1.vtu"});
  EXPECT_EQ(
      message.rfind("option '--output': the extension '.stl' of 'out.stl' is none that can be "
                    "written; known: ",
                    0),
      0u)
      << message;
}

TEST(OutputGuard, KnowsAFileByAnyPath) {
  const test::TemporaryFolder folder;
  folder.write("a.vtu", "");
  OutputGuard guard;
  guard.protect(folder / "a.vtu", "the query");
  EXPECT_NE(error_of<UsageError>([&] {
              guard.claim(folder.path() / "." / "a.vtu", "b.vtu");
            }).find("would replace the query"),
            std::string::npos);
  guard.claim(folder / "c.vtu", "b.vtu");
  EXPECT_NE(error_of<UsageError>([&] {
              guard.claim(folder / "c.vtu", "d.vtu");
            }).find("'b.vtu' and 'd.vtu' would both be written"),
            std::string::npos);
}

}  // namespace
}  // namespace funcattn
