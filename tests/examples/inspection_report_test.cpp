#include "examples/inspect/inspection_report.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/atomic_file.h"
#include "examples/inspect/inspection_picture.h"
#include "tests/support/folder_test.h"

namespace funcattn {
namespace {

/// Two blocks of two heads; the numbers tell block and head.
SampleInspection sample() {
  SampleInspection result{"wing.vtu", {}};
  for (int block = 1; block <= 2; ++block)
    for (int head = 1; head <= 2; ++head) {
      HeadInspection one;
      one.block = block;
      one.head = head;
      one.basis.entropy = 0.25 * block;
      one.basis.effective_functions = 1.5;
      one.basis.row_sum = 1;
      one.basis.coverage = {0.125, 0.5, 0.375};
      one.basis.points_served = {1, 4, 3};
      one.basis.above_threshold = {0, 4, 2};
      one.rows = 2;
      one.columns = 3;
      one.transport = {1, -2, 3, -4, 5, 10.0 * block + head};
      one.singular_values = {24, 3};
      one.condition_number = 250;
      result.heads.push_back(one);
    }
  return result;
}

TEST(InspectionReport, JsonHoldsEveryFigure) {
  SampleInspection inspection = sample();
  inspection.heads[1].condition_number = INFINITY;
  inspection.heads[2].query_basis = inspection.heads[2].basis;
  inspection.heads[2].query_basis->entropy = 0.75;
  inspection.heads[3].attention_entropy = 0.5;
  inspection.heads[3].attention_coverage = {0.25, 0.25, 0.5};
  const Json json = inspection_json({inspection});
  ASSERT_EQ(json.size(), 1u);
  EXPECT_EQ(json[0].at("sample"), "wing.vtu");
  const Json& heads = json[0].at("heads");
  ASSERT_EQ(heads.size(), 4u);
  EXPECT_EQ(heads[2].at("block"), 2);
  EXPECT_EQ(heads[2].at("head"), 1);
  EXPECT_EQ(heads[2].at("transport"), (Json{{1.0, -2.0, 3.0}, {-4.0, 5.0, 21.0}}));
  EXPECT_EQ(heads[2].at("basis").at("coverage"), (Json{0.125, 0.5, 0.375}));
  EXPECT_EQ(heads[2].at("basis").at("above_threshold"), (Json{0, 4, 2}));
  EXPECT_EQ(heads[2].at("query_basis").at("entropy"), 0.75);
  EXPECT_EQ(heads[0].at("singular_values"), (Json{24.0, 3.0}));
  EXPECT_EQ(heads[0].at("condition_number"), 250.0);
  EXPECT_FALSE(heads[0].contains("query_basis"));
  EXPECT_FALSE(heads[0].contains("attention_entropy"));
  EXPECT_TRUE(heads[1].at("condition_number").is_null()) << "JSON has no infinity";
  EXPECT_EQ(heads[3].at("attention_coverage"), (Json{0.25, 0.25, 0.5}));
}

TEST(InspectionReport, TextHasARowPerHead) {
  EXPECT_EQ(inspection_text({sample()}),
            "wing.vtu\n"
            "  block  head  basis  entropy  effective  least cover  most cover  nowhere above  "
            "condition  "
            "singular values\n"
            "      1     1      -     0.25  1.5 of 3         0.125         0.5              1      "
            "  250  "
            "24 3\n"
            "      1     2      -     0.25  1.5 of 3         0.125         0.5              1      "
            "  250  "
            "24 3\n"
            "      2     1      -      0.5  1.5 of 3         0.125         0.5              1      "
            "  250  "
            "24 3\n"
            "      2     2      -      0.5  1.5 of 3         0.125         0.5              1      "
            "  250  "
            "24 3\n");
}

TEST(InspectionReport, SeparateBasesHaveRowsOfTheirOwn) {
  SampleInspection inspection = sample();
  inspection.heads.resize(1);
  inspection.heads[0].query_basis = inspection.heads[0].basis;
  inspection.heads[0].query_basis->coverage = {0.25, 0.25, 0.5};
  inspection.heads[0].query_basis->above_threshold = {1, 1, 1};
  EXPECT_EQ(inspection_text({inspection}),
            "wing.vtu\n"
            "  block  head  basis   entropy  effective  least cover  most cover  nowhere above  "
            "condition  "
            "singular values\n"
            "      1     1  source     0.25  1.5 of 3         0.125         0.5              1     "
            "   250  "
            "24 3\n"
            "      1     1  query      0.25  1.5 of 3          0.25         0.5              0\n");
}

/// Softmax attention between points: the numbers tell block and head.
SampleInspection of_points() {
  SampleInspection result{"wing.vtu", {}};
  for (int block = 1; block <= 2; ++block)
    for (int head = 1; head <= 2; ++head) {
      HeadInspection one;
      one.block = block;
      one.head = head;
      PointAttentionFigures points;
      points.keys = 1002;
      points.tokens = 2;
      points.entropy = 0.75;
      points.domain = 0.125 * block;
      points.effective_keys = 125.25 * block;
      points.received_domain = 0.5;
      points.above_share = 300 + head;
      for (int i = 0; i <= 100; ++i) points.received.push_back(2.0 - 0.02 * i);
      one.points = points;
      result.heads.push_back(one);
    }
  return result;
}

TEST(InspectionReport, AttentionBetweenPointsHasATableOfItsOwn) {
  EXPECT_EQ(inspection_text({of_points()}),
            "wing.vtu\n"
            "  block  head  entropy  effective    domain  received by  above share\n"
            "      1     1     0.75  125 of 1002   0.125          0.5          301\n"
            "      1     2     0.75  125 of 1002   0.125          0.5          302\n"
            "      2     1     0.75  250 of 1002    0.25          0.5          301\n"
            "      2     2     0.75  250 of 1002    0.25          0.5          302\n");
  const Json heads = inspection_json({of_points()})[0].at("heads");
  EXPECT_FALSE(heads[3].contains("basis"));
  const Json& points = heads[3].at("points");
  EXPECT_EQ(heads[3].at("block"), 2);
  EXPECT_EQ(points.at("keys"), 1002);
  EXPECT_EQ(points.at("tokens"), 2);
  EXPECT_EQ(points.at("entropy"), 0.75);
  EXPECT_EQ(points.at("domain"), 0.25);
  EXPECT_EQ(points.at("effective_keys"), 250.5);
  EXPECT_EQ(points.at("received_domain"), 0.5);
  EXPECT_EQ(points.at("above_share"), 302);
  EXPECT_EQ(points.at("received").size(), 101u);
  EXPECT_EQ(points.at("received")[0], 2.0);
}

class InspectionPicture : public test::FolderTest {
 protected:
  /// Width and height of a PNG file.
  static std::pair<int, int> size_of(const std::filesystem::path& path) {
    const std::string bytes = read_file(path);
    const auto big_endian = [&](std::size_t at) {
      return static_cast<unsigned char>(bytes[at + 2]) * 256 +
             static_cast<unsigned char>(bytes[at + 3]);
    };
    return {big_endian(16), big_endian(20)};
  }
};

TEST_F(InspectionPicture, HasARowPerBlockAndAColumnPerHead) {
  draw_transports(folder_ / "transports.png", sample());
  EXPECT_EQ(size_of(folder_ / "transports.png"), std::make_pair(2 * 280, 2 * 240));
  draw_spectra(folder_ / "spectra.png", sample());
  EXPECT_EQ(size_of(folder_ / "spectra.png"), std::make_pair(840, 660));
}

TEST_F(InspectionPicture, OfAttentionHasARowPerBlock) {
  SampleInspection inspection = of_points();
  inspection.heads[0].points->received.assign(101, NAN);
  inspection.heads[1].points->received.assign(101, 0);
  draw_attention(folder_ / "attention.png", inspection);
  EXPECT_EQ(size_of(folder_ / "attention.png"), std::make_pair(840, 660));
}

TEST_F(InspectionPicture, DrawsWhatIsNotFiniteOrZero) {
  SampleInspection inspection = sample();
  inspection.heads[0].transport.assign(6, NAN);
  inspection.heads[0].singular_values = {NAN, NAN};
  inspection.heads[1].transport.assign(6, 0);
  inspection.heads[1].singular_values = {0, 0};
  draw_transports(folder_ / "transports.png", inspection);
  draw_spectra(folder_ / "spectra.png", inspection);
  EXPECT_EQ(size_of(folder_ / "spectra.png"), std::make_pair(840, 660));
}

}  // namespace
}  // namespace funcattn
