// Curves as text: exactly as wide and high as was asked for, with each dot where its value is.

#include "launcher/metrics/curves/braille.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "common/base/utf8.h"

namespace lockstep::metrics {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::size_t characters(std::string_view text) {
  std::size_t count = 0;
  while (!text.empty()) {
    const auto first = first_character(text);
    EXPECT_NE(first.length, 0u) << "not UTF-8";
    text.remove_prefix(std::max<std::size_t>(1, first.length));
    ++count;
  }
  return count;
}

const double kNan = std::nan("");
const double kInf = std::numeric_limits<double>::infinity();

TEST(Braille, ARisingLineGoesFromTheLowerLeftToTheUpperRight) {
  EXPECT_THAT(braille_curve({{0, 0}, {1, 1}}, 2, 1), ElementsAre("⡠⠊"));
  EXPECT_THAT(braille_curve({{0, 1}, {1, 0}}, 2, 1), ElementsAre("⠑⢄"));
}

TEST(Braille, AConstantIsALineInTheMiddle) {
  const auto lines = braille_curve({{0, 7}, {9, 7}}, 3, 1);
  EXPECT_THAT(lines, ElementsAre("⠒⠒⠒"));
}

TEST(Braille, OnePointIsOneDotInTheMiddle) {
  EXPECT_THAT(braille_curve({{5, 5}}, 4, 2), ElementsAre("⠀⠀⡀⠀", "⠀⠀⠀⠀"));
}

TEST(Braille, WithoutAFiniteValueItIsBlank) {
  for (const std::vector<Dot>& dots :
       std::vector<std::vector<Dot>>{{}, {{0, kNan}}, {{0, kInf}, {1, -kInf}}, {{kNan, 1}}})
    EXPECT_THAT(braille_curve(dots, 2, 2), ElementsAre("⠀⠀", "⠀⠀"));
}

TEST(Braille, NanIsAGap) {
  // Nothing joins the two halves.
  const auto lines = braille_curve({{0, 0}, {1, kNan}, {7, 0}}, 4, 1);
  const auto joined = braille_curve({{0, 0}, {7, 0}}, 4, 1);
  EXPECT_NE(lines, joined);
}

TEST(Braille, ALogarithmicScaleLeavesOutWhatIsNotPositive) {
  const auto lines =
      braille_curve({{0, 1}, {1, 10}, {2, 100}, {3, 0}, {4, -1}}, 2, 1, Scale::logarithmic);
  EXPECT_THAT(lines, SizeIs(1));
  EXPECT_THAT(braille_curve({{0, 0}, {1, -1}}, 1, 1, Scale::logarithmic), ElementsAre("⠀"));
}

TEST(Braille, HasTheSizeThatWasAskedForWhateverTheValues) {
  std::mt19937_64 random(7);
  const double extremes[] = {0,    -0.0,  1e308,  -1e308, kNan,
                             kInf, -kInf, 5e-324, 1,      std::numeric_limits<double>::max()};
  for (int round = 0; round < 300; ++round) {
    std::vector<Dot> dots(random() % 40);
    double x = 0;
    for (Dot& dot : dots) dot = {x += static_cast<double>(random() % 3), extremes[random() % 10]};
    const int width = 1 + static_cast<int>(random() % 30);
    const int height = 1 + static_cast<int>(random() % 9);
    const auto scale = random() % 2 == 0 ? Scale::linear : Scale::logarithmic;
    const auto lines = braille_curve(dots, width, height, scale);
    ASSERT_THAT(lines, SizeIs(height));
    for (const std::string& line : lines)
      ASSERT_EQ(characters(line), static_cast<std::size_t>(width));
    const auto framed = framed_curve(dots, width, height, "0", "100", scale);
    ASSERT_THAT(framed, SizeIs(height));
    for (const std::string& line : framed)
      ASSERT_LE(characters(line), static_cast<std::size_t>(width)) << line;
  }
}

TEST(Braille, AFrameSaysWhatTheEndsAre) {
  const auto lines = framed_curve({{0, 2.5}, {1, 0.125}}, 30, 4, "step 0", "step 900");
  ASSERT_THAT(lines, SizeIs(4));
  EXPECT_THAT(lines[0], HasSubstr("2.5┤"));
  EXPECT_THAT(lines[1], HasSubstr("│"));
  EXPECT_THAT(lines[2], HasSubstr("0.125┤"));
  EXPECT_THAT(lines[3], HasSubstr("step 0"));
  EXPECT_TRUE(lines[3].ends_with("step 900"));
}

TEST(Braille, ShortNumbers) {
  EXPECT_EQ(short_number(0.031249), "0.03125");
  EXPECT_EQ(short_number(1.25e-7), "1.25e-07");
  EXPECT_EQ(short_number(kNan), "nan");
  EXPECT_EQ(short_number(-kInf), "-inf");
}

}  // namespace
}  // namespace lockstep::metrics
