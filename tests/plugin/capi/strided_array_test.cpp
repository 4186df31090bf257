#include "plugin/capi/strided_array.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "core/error.h"

namespace funcattn {
namespace {

std::array<double, 64> memory;

StridedArray at(int first, Eigen::Index rows, int components, std::int64_t row_stride,
                std::int64_t component_stride) {
  return make_strided_array("array", &memory[static_cast<std::size_t>(first)], ScalarType::float64,
                            rows, components, row_stride, component_stride);
}

/// Whether any element of one shares a byte with an element of the other, by looking at them all.
bool share_bytes(const StridedArray& a, const StridedArray& b) {
  std::vector<bool> taken(sizeof memory, false);
  const auto visit = [](const StridedArray& array, const auto& act) {
    for (Eigen::Index row = 0; row < array.rows; ++row)
      for (int component = 0; component < array.components; ++component) {
        const char* element = static_cast<char*>(array.data) + row * array.row_stride +
                              component * array.component_stride;
        const auto offset = element - reinterpret_cast<const char*>(memory.data());
        for (std::size_t byte = 0; byte < size_of(array.type); ++byte)
          act(static_cast<std::size_t>(offset) + byte);
      }
  };
  bool shared = false;
  visit(a, [&](std::size_t byte) { taken[byte] = true; });
  visit(b, [&](std::size_t byte) { shared = shared || taken[byte]; });
  return shared;
}

TEST(StridedArray, ZeroStandsForPacked) {
  const StridedArray rows = at(0, 5, 3, 0, 0);
  EXPECT_EQ(rows.row_stride, 24);
  EXPECT_EQ(rows.component_stride, 8);
  EXPECT_TRUE(rows.is_packed());
  const StridedArray columns = at(0, 5, 3, 0, 40);
  EXPECT_EQ(columns.row_stride, 8);
  EXPECT_FALSE(columns.is_packed());
  EXPECT_TRUE(at(0, 5, 1, 8, 8).is_packed());
  EXPECT_FALSE(at(4, 5, 1, -8, 8).is_packed());
  StridedArray crooked = rows;
  crooked.data = reinterpret_cast<char*>(memory.data()) + 4;
  EXPECT_FALSE(crooked.is_packed()) << "not aligned";
}

TEST(StridedArray, OverlapIsFoundAndInterleavingIsNot) {
  // Every pair of layouts with 4 rows that share a row stride, and those that do not touch.
  std::vector<StridedArray> layouts;
  for (const int first : {0, 1, 2, 3, 5, 8, 20})
    for (const auto& [components, row, component] :
         {std::array{1, 24, 8}, std::array{2, 24, 8}, std::array{1, 32, 8}, std::array{2, 32, 16},
          std::array{1, 8, 8}, std::array{2, 8, 32}, std::array{3, 40, 8}, std::array{2, 40, 16}})
      layouts.push_back(at(first, 4, components, row, component));
  for (const int last : {12, 15, 18, 22}) layouts.push_back(at(last, 4, 1, -24, 8));
  int exact = 0;
  for (const StridedArray& a : layouts)
    for (const StridedArray& b : layouts) {
      const bool shared = share_bytes(a, b);
      if (shared) {
        EXPECT_TRUE(overlap(a, b));
      }
      if (std::abs(a.row_stride) == std::abs(b.row_stride) && !shared) {
        EXPECT_FALSE(overlap(a, b));
        ++exact;
      }
    }
  EXPECT_GT(exact, 100) << "pairs that interleave or lie apart";
}

TEST(StridedArray, CopiesThereAndBack) {
  std::array<float, 12> floats{};
  const StridedArray target =
      make_strided_array("array", floats.data() + 11, ScalarType::float32, 3, 2, -8, -4);
  const RowMatrix values = (RowMatrix(3, 2) << 1, 2, 3, 4, 5, 0.1).finished();
  copy_from(values, target);
  EXPECT_EQ(floats, (std::array<float, 12>{0, 0, 0, 0, 0, 0, 0.1f, 5, 4, 3, 2, 1}));
  RowMatrix back = RowMatrix::Zero(3, 4);
  copy_to(target, back.data() + 1, 4);
  EXPECT_EQ(back.col(0), Eigen::Vector3d::Zero());
  EXPECT_EQ(back.col(1), Eigen::Vector3d(1, 3, 5));
  EXPECT_EQ(back(2, 2), static_cast<double>(0.1f));
  EXPECT_FALSE(overflows(target, values));
  EXPECT_TRUE(overflows(target, RowMatrix::Constant(3, 2, 1e39)));
  EXPECT_FALSE(overflows(target, RowMatrix::Constant(3, 2, std::nan(""))));
}

}  // namespace
}  // namespace funcattn
