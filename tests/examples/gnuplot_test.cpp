#include "examples/evaluate/gnuplot.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

#include "core/atomic_file.h"
#include "core/error.h"
#include "tests/support/folder_test.h"

namespace funcattn {
namespace {

namespace fs = std::filesystem;

class GnuplotTest : public test::FolderTest {};

TEST_F(GnuplotTest, DrawsAPictureOfTheSizeAskedFor) {
  const fs::path path = folder_ / "curve of x.png";
  draw_png(path, 320, 200, {{"data", {{0, 0}, {1, 1}}}}, "plot $data using 1:2 with lines\n");
  const std::string bytes = read_file(path);
  ASSERT_GT(bytes.size(), 24u);
  EXPECT_EQ(bytes.substr(1, 3), "PNG");
  const auto big_endian = [&](std::size_t at) {
    return static_cast<unsigned char>(bytes[at + 2]) * 256 +
           static_cast<unsigned char>(bytes[at + 3]);
  };
  EXPECT_EQ(big_endian(16), 320);
  EXPECT_EQ(big_endian(20), 200);
}

TEST_F(GnuplotTest, AFailureNamesTheReasonAndWritesNothing) {
  try {
    draw_png(folder_ / "bad.png", 320, 200, {}, "plot $absent using 1:2\n");
    FAIL() << "nothing was thrown";
  } catch (const FileError& error) {
    EXPECT_NE(std::string(error.what()).find("gnuplot says:"), std::string::npos) << error.what();
  }
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(GnuplotTest, AMissingProgramIsNamed) {
  const std::string before = std::getenv("PATH");
  ::setenv("PATH", folder_.c_str(), 1);
  try {
    draw_png(folder_ / "x.png", 320, 200, {}, "plot sin(x)\n");
    ADD_FAILURE() << "nothing was thrown";
  } catch (const FileError& error) {
    EXPECT_NE(std::string(error.what()).find("install the package gnuplot-nox"), std::string::npos);
  }
  ::setenv("PATH", before.c_str(), 1);
}

TEST(GnuplotAxis, IsLabelledBetweenDecades) {
  using Ticks = std::vector<double>;
  EXPECT_EQ(logarithmic_ticks(0.14, 0.31), (Ticks{0.15, 0.2, 0.3}));
  EXPECT_EQ(logarithmic_ticks(0.19, 0.26), (Ticks{0.2, 0.22, 0.25}));
  EXPECT_EQ(logarithmic_ticks(0.1, 0.5), (Ticks{0.1, 0.2, 0.5}));
  EXPECT_EQ(logarithmic_ticks(200, 9000), (Ticks{200, 500, 1000, 2000, 5000}));
  EXPECT_EQ(logarithmic_ticks(1e-6, 2), (Ticks{1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1}));
  EXPECT_EQ(logarithmic_ticks(1e-12, 1).size(), 7u) << "every second decade";
}

TEST(GnuplotAxis, FitsTheValues) {
  const std::string script = logarithmic_axis('y', {0.2, 0, 0.4, std::nan("")});
  EXPECT_NE(script.find("set yrange [0.1904"), std::string::npos) << script;
  EXPECT_NE(script.find("\"0.3\" 0.3"), std::string::npos) << script;
  EXPECT_NE(logarithmic_axis('y', {0.7}).find("set ytics (\"0.6\" 0.6, \"0.7\" 0.7, \"0.8\" 0.8)"),
            std::string::npos)
      << logarithmic_axis('y', {0.7});
  EXPECT_EQ(logarithmic_axis('x', {0}), "set logscale x\n");
}

TEST(GnuplotText, KeepsMarksOfEnhancedTextLiteral) {
  EXPECT_EQ(gnuplot_text("a_b"), "\"a\\\\_b\"");
  EXPECT_EQ(gnuplot_text("say \"x\""), "\"say \\\"x\\\"\"");
  EXPECT_EQ(gnuplot_text("two\nlines"), "\"two\\nlines\"");
}

}  // namespace
}  // namespace funcattn
