#include "core/text.h"

#include <gtest/gtest.h>

#include <clocale>
#include <cmath>

namespace funcattn {
namespace {

TEST(Text, NumbersReadBackExactly) {
  for (const double value : {0.1, -1.0 / 3.0, 1e-300, 6.02e23, 5.0}) {
    const auto read = parse_double(format_number(value));
    ASSERT_TRUE(read.has_value()) << value;
    EXPECT_EQ(*read, value);
  }
  EXPECT_EQ(format_significant(0.0123456, 3), "0.0123");
}

TEST(Text, RejectsWhatIsNotWhollyANumber) {
  for (const char* text : {"", "1.5x", "0,5", "one", " 1"})
    EXPECT_FALSE(parse_double(text)) << text;
  EXPECT_FALSE(parse_integer("3.5"));
  EXPECT_EQ(parse_integer("+42"), 42);
  EXPECT_TRUE(std::isnan(*parse_double("nan")));
}

TEST(Text, IgnoresTheLocale) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  // Where no comma locale is installed the check still holds, trivially.
  std::setlocale(LC_ALL, "de_DE.UTF-8");
  EXPECT_EQ(parse_double("0.5"), 0.5);
  EXPECT_EQ(format_number(0.5), "0.5");
  std::setlocale(LC_ALL, before.c_str());
}

TEST(Text, SuggestsTheLikelyWord) {
  EXPECT_EQ(closest_match("resmaple", {"resample", "report", "seed"}), "resample");
  EXPECT_FALSE(closest_match("xyzzy", {"resample", "report"}));
}

}  // namespace
}  // namespace funcattn
