#include "meshio/series.h"

#include <gtest/gtest.h>

#include "core/atomic_file.h"
#include "core/error.h"
#include "meshio/reader.h"
#include "tests/meshio/mesh_samples.h"

namespace funcattn {
namespace {

namespace fs = std::filesystem;

class SeriesTest : public FolderTest {
 protected:
  void touch(const std::string& name) { write_file_atomically(folder_ / name, "x"); }
};

TEST_F(SeriesTest, CollectionKeepsTimesOrderAndRelativePaths) {
  fs::create_directory(folder_ / "a & b");
  touch("a & b/1.vtu");
  touch("2.vtu");
  const double third = 1.0 / 3;
  write_pvd(folder_ / "all.pvd",
            {{folder_ / "a & b" / "1.vtu", third}, {folder_ / "2.vtu", 1e-300}});
  const std::string text = read_file(folder_ / "all.pvd");
  EXPECT_NE(text.find("file=\"a &amp; b/1.vtu\""), std::string::npos) << text;
  EXPECT_EQ(text.find(folder_.string()), std::string::npos) << "paths must be relative";
  EXPECT_NE(text.find("group=\"\" part=\"0\""), std::string::npos) << text;
  const auto entries = read_pvd(folder_ / "all.pvd");
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].file, folder_ / "a & b/1.vtu");
  EXPECT_EQ(entries[0].time, third);
  EXPECT_EQ(entries[1].time, 1e-300);
}

TEST_F(SeriesTest, CollectionKeepsWhatElseItSaysOfAFile) {
  touch("1.vtu");
  write_pvd(folder_ / "a.pvd", {{folder_ / "1.vtu", 0.5, "body", "3", "a \"wing\""}});
  const auto entries = read_pvd(folder_ / "a.pvd");
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].group, "body");
  EXPECT_EQ(entries[0].part, "3");
  EXPECT_EQ(entries[0].name, "a \"wing\"");
  write_file_atomically(folder_ / "b.pvd",
                        "<VTKFile type=\"Collection\"><Collection><DataSet timestep=\"2\" "
                        "material=\"steel\" file=\"1.vtu\"/></Collection></VTKFile>");
  EXPECT_EQ(read_pvd(folder_ / "b.pvd").at(0).time, 2);
}

TEST_F(SeriesTest, DamagedCollections) {
  touch("1.vtu");
  const auto message = [&](const std::string& text) {
    write_file_atomically(folder_ / "a.pvd", text);
    return message_of<FileError>([&] { read_pvd(folder_ / "a.pvd"); });
  };
  const std::string head = "<VTKFile type=\"Collection\"><Collection>";
  const std::string tail = "</Collection></VTKFile>";
  expect_says(message("<VTKFile type=\"PolyData\"/>"), "it is no ParaView collection");
  expect_says(message(head + tail), "it names no file");
  expect_says(message(head + "<DataSet timestep=\"1\"/>" + tail),
              "entry 1 has no attribute 'file'");
  expect_says(message(head + "<DataSet file=\"1.vtu\"/><DataSet file=\"2.vtu\"/>" + tail),
              "entry 2: there is no file '" + (folder_ / "2.vtu").string() + "'");
  expect_says(message(head + "<DataSet file=\"1.vtu\" timestep=\"soon\"/>" + tail),
              "entry 1 has timestep=\"soon\", expected a finite number");
  for (const char* time : {"nan", "inf", "-inf"})
    expect_says(message(head + "<DataSet file=\"1.vtu\" timestep=\"" + time + "\"/>" + tail),
                "expected a finite number");
  expect_says(message(head + "<DataSet file=\"1.vtu\" timestp=\"1\"/>" + tail),
              "with the unknown attribute 'timestp'");
  expect_says(message(head + "<DataSet file=\"1.vtu\"/><DatSet file=\"1.vtu\"/>" + tail),
              "has an element <DatSet> inside <Collection>");
  expect_says(message(head), "its XML is broken or ends early");
}

TEST_F(SeriesTest, NumberedFilesInTheOrderOfTheirNumbers) {
  for (const char* name :
       {"w2_9.vtu", "w2_10.vtu", "w2_08.vtu", "w2_10.vtp", "w3_1.vtu", "w2_x.vtu"})
    touch(name);
  const auto names = [](const std::vector<fs::path>& files) {
    std::vector<std::string> result;
    for (const fs::path& file : files) result.push_back(file.filename().string());
    return result;
  };
  EXPECT_EQ(names(numbered_series(folder_ / "w2_10.vtu")),
            (std::vector<std::string>{"w2_08.vtu", "w2_9.vtu", "w2_10.vtu"}));
  EXPECT_EQ(names(numbered_series(folder_ / "w3_1.vtu")), std::vector<std::string>{"w3_1.vtu"});
  EXPECT_EQ(names(numbered_series(folder_ / "plain.vtu")), std::vector<std::string>{"plain.vtu"});
}

TEST_F(SeriesTest, TimeOfOneFile) {
  store_xml(sample_grid(), folder_ / "a.vtu", {});
  EXPECT_EQ(time_steps(folder_ / "a.vtu"), std::vector<double>{0.1});
  EXPECT_EQ(read_mesh_tree(folder_ / "a.vtu", {0.1}).time(), 0.1);
  expect_says(message_of<FileError>([&] { read_mesh_tree(folder_ / "a.vtu", {0.2}); }),
              "it has no time step 0.2; its times are 0.1");
}

}  // namespace
}  // namespace funcattn
