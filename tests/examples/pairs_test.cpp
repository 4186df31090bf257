#include "examples/pairs.h"

#include <fstream>

#include "core/error.h"
#include "examples/evaluate/test_sample.h"
#include "examples/vtk_samples.h"
#include "meshio/class_array.h"
#include "meshio/mesh.h"
#include "meshio/series.h"
#include "meshio/writer.h"
#include "tests/support/folder_test.h"

namespace funcattn {
namespace {

namespace fs = std::filesystem;

class PairsTest : public test::FolderTest {
 protected:
  PairsTest() {
    arrays_.inputs = {"load"};
    arrays_.targets = {"u"};
    ModelConfig config;
    config.coordinate_dimension = config.value_features = config.out_features = 1;
    model_ = make_model(config);
  }

  /// A line from (low, 0, 0) to (high, 0, 0) with "load" = `value` and "u" = `value` x.
  fs::path write(const std::string& name, int points, double low, double high, double value) const {
    RowMatrix places = RowMatrix::Zero(points, 3);
    for (int i = 0; i < points; ++i) places(i, 0) = low + (high - low) * i / (points - 1);
    const Eigen::VectorXi labels =
        Eigen::VectorXi::LinSpaced(points, 0, points - 1).unaryExpr([](int i) { return i % 3; });
    fs::create_directories((folder_ / name).parent_path());
    write_mesh(with_class_array(make_polyline(places, name)
                                    .with_array({"load", Association::point, 1, ""},
                                                RowMatrix::Constant(points, 1, value))
                                    .with_array({"u", Association::point, 1, ""},
                                                RowMatrix(places.col(0) * value)),
                                "label", Association::point, labels),
               folder_ / name);
    return folder_ / name;
  }
  fs::path write(const std::string& name) const { return write(name, 3, 0, 1, 1); }

  std::string refusal(const std::string& data, const std::string& query) const {
    try {
      (void)training_pairs(folder_ / data, folder_ / query);
    } catch (const FileError& error) {
      std::string text = error.what();
      for (std::size_t at; (at = text.find(folder_.string() + "/")) != std::string::npos;)
        text.erase(at, folder_.string().size() + 1);
      return text;
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
  }

  ArrayChoice arrays_;
  std::shared_ptr<Model> model_;  ///< Of the kind that the lines are for.
};

TEST_F(PairsTest, FoldersArePairedByName) {
  for (const char* name : {"a/2.vtp", "a/10.vtp", "b/train/10.vtk", "b/train/2.vtk"}) write(name);
  const SampleFiles files = training_pairs(folder_ / "a", folder_ / "b");
  EXPECT_EQ(files.sources, (std::vector<fs::path>{folder_ / "a/2.vtp", folder_ / "a/10.vtp"}));
  EXPECT_EQ(files.queries,
            (std::vector<fs::path>{folder_ / "b/train/2.vtk", folder_ / "b/train/10.vtk"}));
  EXPECT_TRUE(training_pairs(folder_ / "a", "").queries.empty());
  write("b/train/3.vtk");
  EXPECT_EQ(refusal("a", "b"),
            "'b/train/3.vtk' has no source in 'a': no mesh there is named '3'; add it, or take the "
            "other one away");
  write("a/11.vtp");
  write("a/3.vtp");
  EXPECT_EQ(refusal("a", "b"),
            "'a/11.vtp' has no query in 'b': no mesh there is named '11'; add it, or take the "
            "other one away");
  write("a/2.vtk");
  EXPECT_EQ(refusal("a", "b"),
            "'a/2.vtk' and 'a/2.vtp' have the same name, by which meshes of pairs are told; keep "
            "one of them");
}

TEST_F(PairsTest, ListsArePairedInTheirOrder) {
  for (const char* name : {"x/in.vtp", "y/in.vtp", "x/out.vtp", "y/out.vtp"}) write(name);
  std::ofstream(folder_ / "in.txt") << "y/in.vtp\nx/in.vtp\n";
  std::ofstream(folder_ / "out.txt") << "y/out.vtp\nx/out.vtp\n";
  const SampleFiles files = training_pairs(folder_ / "in.txt", folder_ / "out.txt");
  EXPECT_EQ(files.queries, (std::vector<fs::path>{folder_ / "y/out.vtp", folder_ / "x/out.vtp"}));
  std::ofstream(folder_ / "out.txt") << "y/out.vtp\n";
  EXPECT_EQ(refusal("in.txt", "out.txt"),
            "'x/in.vtp' has no query: 'in.txt' has 2 and 'out.txt' has 1 meshes, which are taken "
            "in their order; list as many of both");
}

TEST_F(PairsTest, CollectionsOfOtherTimesAreTold) {
  const auto series = [&](const std::string& name, const std::vector<double>& times) {
    std::vector<TimedFile> files;
    for (std::size_t i = 0; i < times.size(); ++i)
      files.push_back({write(name + "/" + std::to_string(i) + ".vtp"), times[i]});
    write_pvd(folder_ / (name + ".pvd"), files);
    return folder_ / (name + ".pvd");
  };
  const fs::path first = series("a", {0, 0.1, 0.2});
  EXPECT_EQ(differing_times(first, series("b", {0, 0.1 + 1e-9, 0.2})), "");
  const fs::path later = series("c", {0, 0.1, 0.3});
  const std::string folder = folder_.string() + "/";
  EXPECT_EQ(differing_times(first, later), "'" + folder + "a.pvd' and '" + folder +
                                               "c.pvd' are paired in their order, not by time: '" +
                                               folder + "a/2.vtp' of time 0.2 with '" + folder +
                                               "c/2.vtp' of time 0.3");
  EXPECT_EQ(differing_times(folder_ / "a", folder_ / "c"), "") << "by name";
}

TEST_F(PairsTest, ValidationNeedsBothSides) {
  for (const char* name : {"a/train/0.vtp", "a/valid/0.vtp", "b/train/0.vtp"}) write(name);
  EXPECT_THROW(validation_pairs(folder_ / "a", folder_ / "b"), FileError);
  EXPECT_THROW(validation_pairs(folder_ / "b", folder_ / "a"), FileError);
  write("b/valid/0.vtp");
  EXPECT_EQ(validation_pairs(folder_ / "a", folder_ / "b").queries,
            std::vector<fs::path>{folder_ / "b/valid/0.vtp"});
}

TEST_F(PairsTest, TestSetsBelongTogetherByName) {
  for (const char* name : {"a/test/0.vtp", "a/test_x4/0.vtp", "b/test/0.vtp", "b/test_x4/0.vtp"})
    write(name);
  const auto names = [&](const std::vector<std::string>& data,
                         const std::vector<std::string>& query) {
    std::vector<fs::path> locations, query_locations;
    for (const auto& name : data) locations.push_back(folder_ / name);
    for (const auto& name : query) query_locations.push_back(folder_ / name);
    std::vector<std::string> found;
    for (const TestSet& set : all_test_sets(locations, query_locations)) found.push_back(set.name);
    return found;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names({"a"}, {"b"}), (Names{"test", "test_x4"}));
  EXPECT_EQ(names({"a/test"}, {"b/test_x4"}), Names{"test to test_x4"});
  EXPECT_EQ(names({"a", "b"}, {}), (Names{"a/test", "a/test_x4", "b/test", "b/test_x4"}));
  EXPECT_EQ(names({"a/test", "a/test"}, {"a/test", "b/test"}), (Names{"a/test", "b/test"}));
  EXPECT_EQ(names({"a/test", "b/test"}, {"b/test", "b/test"}).front().substr(0, 5), "a to ");
  for (const Names& twice : {Names{"a", "a/test"}, Names{"b/test/../test", "b/test"}})
    EXPECT_THROW(names(twice, {}), UsageError);
  EXPECT_THROW(names({"a/test", "a/test"}, {"b/test", "b/test"}), UsageError);
  try {
    names({"a"}, {"b/test"});
    FAIL() << "nothing was thrown";
  } catch (const FileError& error) {
    EXPECT_NE(std::string(error.what()).find("has the test sets test, test_x4, "),
              std::string::npos)
        << error.what();
  }
}

TEST_F(PairsTest, TheContractKnowsBothMeshes) {
  const QueryFiles queries{
      {write("b/0.vtp", 9, 0, 4, 5), write("b/1.vtp", 7, 0, 4, 5)}, model_.get(), {}};
  const VtkTrainingSet set =
      load_training_set({write("a/0.vtp", 5, -1, 3, 1), write("a/1.vtp", 4, 0, 3, 3)}, arrays_, {},
                        nullptr, &queries);
  EXPECT_EQ(set.contract.bounds_min, std::vector<double>{-1});
  EXPECT_EQ(set.contract.bounds_max, std::vector<double>{4});
  EXPECT_EQ(set.contract.min_points, 4) << "of the sources";
  EXPECT_EQ(set.contract.max_points, 5);
  EXPECT_NEAR(set.contract.input_normalisation.mean.at(0), 2, 1e-12) << "of the sources";
  EXPECT_NEAR(set.contract.output_normalisation.mean.at(0), 10, 1e-12) << "of the queries";
  EXPECT_EQ(set.samples.at(1).query.weights.size(0), 4 + 7);
  EXPECT_EQ(set.most_results, 5 + 9);
  EXPECT_FALSE(set.has_interpolated_inputs) << "the queries have the load";
  EXPECT_EQ(
      load_samples({folder_ / "a/0.vtp"}, set.contract, nullptr, &queries).at(0).targets.size(0),
      5 + 9);
}

TEST_F(PairsTest, InputsThatWereInterpolatedAreTold) {
  arrays_.targets = {"v"};
  RowMatrix places = RowMatrix::Zero(4, 3);
  places.col(0) = Eigen::VectorXd::LinSpaced(4, 0, 1);
  write_mesh(make_polyline(places, "line")
                 .with_array({"v", Association::point, 1, ""}, RowMatrix(places.col(0))),
             folder_ / "b.vtp");
  const QueryFiles queries{{folder_ / "b.vtp"}, model_.get(), {"", true}};
  const fs::path source = write("a.vtp");
  EXPECT_TRUE(load_training_set({source}, arrays_, {}, nullptr, &queries).has_interpolated_inputs);
}

TEST_F(PairsTest, TestSamplesUnlikeThoseOfTrainingAreTold) {
  const fs::path inside = write("a.vtp"), outside = write("b.vtp", 5, 0, 4, 1);
  const Contract contract = load_training_set({inside}, arrays_, {}).contract;
  const auto warnings = [&](const SampleFiles& files) {
    std::vector<std::string> texts;
    for (const SampleWarning& one : read_test_sample(files, 0, *model_, contract, {}).warnings)
      texts.push_back(one.text);
    return texts;
  };
  EXPECT_TRUE(warnings({{inside}, {}}).empty());
  const std::string text =
      outside.string() + " spans x = 0 to 4, training spanned 0 to 1: the prediction extrapolates";
  EXPECT_EQ(warnings({{outside}, {}}), std::vector<std::string>{text});
  EXPECT_EQ(warnings({{inside}, {outside}}), std::vector<std::string>{text});
  EXPECT_EQ(warnings({{outside}, {inside}}), std::vector<std::string>{text});

  SampleWarnings all;
  all.add({});
  EXPECT_TRUE(all.texts().empty());
  all.add({{"a1.vtu", "a1.vtu is 2 wide"}});
  EXPECT_EQ(all.texts(), std::vector<std::string>{"a1.vtu is 2 wide"});
  all.add({{"a2.vtu", "a2.vtu is 3.5 wide"}, {"a2.vtu", "a2.vtu is 3 high"}});
  EXPECT_EQ(all.texts(), (std::vector<std::string>{"a1.vtu is 2 wide; so it is with 2 meshes",
                                                   "a2.vtu is 3 high"}));
}

TEST_F(PairsTest, MeshesWithoutACommonPlaceAreTold) {
  const fs::path source = write("a.vtp", 5, 0, 1, 1);
  const fs::path touching = write("b.vtp", 5, 1, 2, 1), apart = write("c.vtp", 5, 1.5, 2, 1);
  const QueryFiles queries{{touching, apart}, model_.get(), {}};
  const VtkTrainingSet set = load_training_set({source, source}, arrays_, {}, nullptr, &queries);
  const std::string text = apart.string() + " and its source " + source.string() +
                           " have no place in common; look whether they belong together";
  EXPECT_EQ(set.apart, std::vector<std::string>{text});
  const auto warnings = [&](const fs::path& query) {
    return read_test_sample({{source}, {query}}, 0, *model_, set.contract, {}).warnings;
  };
  EXPECT_TRUE(warnings(touching).empty());
  EXPECT_TRUE(warnings(write("d.vtp", 5, 1 + 1e-7, 2, 1)).empty()) << "single precision";
  ASSERT_EQ(warnings(apart).size(), 1U);
  EXPECT_EQ(warnings(apart).front().text, text);
  SampleWarnings all;
  all.add({{"a.vtp", "a.vtp and its source b.vtp have nothing", "b.vtp"}});
  all.add({{"c.vtp", "c.vtp and its source d.vtp have nothing", "d.vtp"}});
  EXPECT_EQ(all.texts(), std::vector<std::string>{
                             "a.vtp and its source b.vtp have nothing; so it is with 2 meshes"});
}

TEST_F(PairsTest, ClassesAreThoseOfTheQueries) {
  arrays_.targets = {"label"};
  arrays_.classes = true;
  QueryFiles queries{{write("b/0.vtp", 9, 0, 1, 1)}, model_.get(), {}};
  const fs::path source = write("a/0.vtp", 2, 0, 1, 1);
  const VtkTrainingSet set = load_training_set({source}, arrays_, {}, nullptr, &queries);
  EXPECT_EQ(set.contract.outputs.at(0).classes, (std::vector<int>{0, 1, 2}));
  arrays_.targets = {"u"};
  try {
    load_training_set({source}, arrays_, {}, nullptr, &queries);
    FAIL() << "nothing was thrown";
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what())
                  .find("b/0.vtp: point array 'u' holds 0.125 at index 1, which is no class"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace funcattn
