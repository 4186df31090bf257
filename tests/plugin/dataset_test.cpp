#include "plugin/dataset.h"

#include <sstream>

#include "core/error.h"
#include "tests/plugin/support.h"

namespace funcattn {
namespace {

using test::error_of;
using test::TemporaryFolder;

std::vector<std::string> names(const std::vector<std::filesystem::path>& files) {
  std::vector<std::string> result;
  for (const auto& file : files) result.push_back(file.filename().string());
  return result;
}

TEST(Dataset, ListsAFolderInNaturalOrder) {
  const TemporaryFolder folder;
  for (const char* name : {"step_10.vtu", "step_9.vtu", "step_09.vtp", "b.VTU", "notes.md",
                           ".step_1.part7.vtu", "dataset.json"})
    folder.write(name, "");
  std::filesystem::create_directory(folder / "inner.vtu");
  EXPECT_EQ(names(list_samples(folder.path())),
            (std::vector<std::string>{"b.VTU", "step_09.vtp", "step_9.vtu", "step_10.vtu"}));
}

TEST(Dataset, SaysWhatAFolderHoldsInstead) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "train");
  std::filesystem::create_directory(folder / "test");
  const std::string message = error_of<FileError>([&] { (void)list_samples(folder.path()); });
  EXPECT_NE(message.find("holds no mesh file"), std::string::npos) << message;
  EXPECT_NE(message.find("it has the folders test, train"), std::string::npos) << message;
  EXPECT_EQ(error_of<FileError>([&] { (void)list_samples(folder / "absent"); }),
            "there is no file or folder '" + (folder / "absent").string() + "'");
}

TEST(Dataset, ReadsAListRelativeToItself) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "sub");
  folder.write("sub/b \u00fc.vtu", "");
  const auto absolute = folder.write("a.vtu", "");
  const auto list =
      folder.write("list.txt", "# samples\nsub/b \u00fc.vtu\r\n\n  " + absolute.string() + "\n");
  const auto files = list_samples(list);
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0], folder / "sub/b \u00fc.vtu");
  EXPECT_EQ(files[1], absolute);
  const auto wrong = folder.write("wrong.lst", "a.vtu\nabsent.vtu\n");
  EXPECT_EQ(error_of<FileError>([&] { (void)list_samples(wrong); }),
            "'" + wrong.string() + "', line 2: there is no file '" +
                (folder / "absent.vtu").string() + "'");
  const auto empty = folder.write("empty.txt", "# nothing\n");
  EXPECT_EQ(error_of<FileError>([&] { (void)list_samples(empty); }),
            "'" + empty.string() + "' lists no file; put one path per line");
}

std::string collection(const std::string& entries) {
  return "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\"><Collection>" +
         entries + "</Collection></VTKFile>\n";
}

TEST(Dataset, ReadsACollectionInItsOrder) {
  const TemporaryFolder folder;
  folder.write("late.vtu", "");
  folder.write("early & old.vtu", "");
  const auto good = folder.write(
      "run.pvd", collection("<DataSet timestep=\"0.5\" part=\"0\" file=\"late.vtu\"/>"
                            "<DataSet timestep=\"1.5\" part=\"0\" file=\"early &amp; old.vtu\"/>"));
  EXPECT_EQ(names(list_samples(good)), (std::vector<std::string>{"late.vtu", "early & old.vtu"}));
  const auto parts = folder.write(
      "parts.pvd", collection("<DataSet timestep=\"1\" part=\"0\" file=\"late.vtu\"/>"
                              "<DataSet timestep=\"1\" part=\"1\" file=\"late.vtu\"/>"));
  EXPECT_EQ(error_of<FileError>([&] { (void)list_samples(parts); }),
            "'" + parts.string() +
                "', entry 2: time step 1 has several parts; merge them into one file per time "
                "step");
  const auto absent = folder.write("absent.pvd", collection("<DataSet file=\"no.vtu\"/>"));
  EXPECT_EQ(error_of<FileError>([&] { (void)list_samples(absent); }),
            "cannot read '" + absent.string() + "': entry 1: there is no file '" +
                (folder / "no.vtu").string() + "'");
  const auto damaged = folder.write("damaged.pvd", "<VTKFile><Collection>");
  const std::string message = error_of<FileError>([&] { (void)list_samples(damaged); });
  EXPECT_EQ(message.rfind("cannot read '" + damaged.string() + "': ", 0), 0u) << message;
}

TEST(Dataset, KeepsTheTimesOfACollection) {
  const TemporaryFolder folder;
  folder.write("a.vtu", "");
  const auto pvd =
      folder.write("run.pvd", collection("<DataSet timestep=\"0.25\" file=\"a.vtu\"/>"));
  const InputFiles input = list_input(pvd);
  EXPECT_TRUE(input.is_series);
  ASSERT_EQ(input.files.size(), 1u);
  EXPECT_EQ(input.files[0].time, 0.25);
  EXPECT_FALSE(list_input(folder.path()).is_series);
}

TEST(Dataset, ReadsAListFromAStream) {
  const TemporaryFolder folder;
  const auto file = folder.write("a.vtu", "");
  std::istringstream list("# one\n" + file.string() + "\n");
  EXPECT_EQ(read_list(list), (std::vector<std::filesystem::path>{file}));
  std::istringstream wrong("absent.vtu\n");
  EXPECT_EQ(error_of<FileError>([&] { (void)read_list(wrong); }),
            "the list on standard input, line 1: there is no file 'absent.vtu'");
  std::istringstream zeros(std::string("a.vtu\0b.vtu", 11));
  EXPECT_EQ(error_of<FileError>([&] { (void)read_list(zeros); }),
            "the list on standard input, line 1 holds NUL bytes; put one path per line (find "
            "-print, not -print0)");
  std::istringstream nothing("");
  EXPECT_EQ(error_of<FileError>([&] { (void)read_list(nothing); }),
            "the list on standard input lists no file; put one path per line");
}

TEST(Dataset, ListsMayHaveTheMarkOfUtf8) {
  const test::TemporaryFolder folder;
  folder.write("a.vtu", "");
  const auto list = folder.write("list.txt",
                                 "\xEF\xBB\xBF"
                                 "a.vtu\n");
  EXPECT_EQ(list_samples(list), (std::vector<std::filesystem::path>{folder / "a.vtu"}));
  const auto wide = folder.write("wide.txt",
                                 "\xFF\xFE"
                                 "a.vtu\n");
  EXPECT_EQ(error_of<FileError>([&] { (void)list_samples(wide); }),
            "'" + wide.string() + "' is UTF-16 text; save it as UTF-8");
}

TEST(Dataset, MissingFilesAreKeptWhereAsked) {
  const test::TemporaryFolder folder;
  const auto list = folder.write("list.txt", "none.vtu\n");
  const InputFiles input = list_input(list, MissingFiles::keep);
  ASSERT_EQ(input.files.size(), 1u);
  EXPECT_EQ(input.files[0].file, folder / "none.vtu");
}

TEST(Dataset, MatchesPatternsInNaturalOrder) {
  const TemporaryFolder folder;
  for (const char* name : {"s_10.vtu", "s_9.vtu", "t_1.vtu", "odd[1].vtu"}) folder.write(name, "");
  EXPECT_EQ(names(match_pattern(folder / "s_*.vtu")),
            (std::vector<std::string>{"s_9.vtu", "s_10.vtu"}));
  EXPECT_TRUE(is_pattern(folder / "s_?.vtu"));
  EXPECT_FALSE(is_pattern(folder / "odd[1].vtu"));
  EXPECT_FALSE(is_pattern(folder / "absent.vtu"));
  EXPECT_EQ(error_of<FileError>([&] { (void)match_pattern(folder / "x*"); }),
            "no file matches '" + (folder / "x*").string() + "'");
}

}  // namespace
}  // namespace funcattn
