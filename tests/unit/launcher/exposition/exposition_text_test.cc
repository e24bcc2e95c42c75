// Numbers, label values and help texts: as the formats have them, whatever they hold.

#include "launcher/exposition/exposition_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>

#include "common/base/utf8.h"
#include "tests/support/hostile_text.h"

namespace lockstep::launcher {
namespace {

TEST(NumberText, IsTheShortest) {
  EXPECT_EQ(number_text(0.0), "0");
  EXPECT_EQ(number_text(17.0), "17");
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(-2.5), "-2.5");
  EXPECT_EQ(number_text(std::nan("")), "NaN");
  EXPECT_EQ(number_text(-std::nan("")), "NaN");
  EXPECT_EQ(number_text(INFINITY), "+Inf");
  EXPECT_EQ(number_text(-INFINITY), "-Inf");
  EXPECT_EQ(number_text(1e300), "1e+300");
  EXPECT_EQ(number_text(MetricValue(std::numeric_limits<std::uint64_t>::max())),
            "18446744073709551615");
  EXPECT_EQ(number_text(MetricValue(std::numeric_limits<std::int64_t>::min())),
            "-9223372036854775808");
  for (const double value : {1.0 / 3, 1e-300, 123456789.125, 4.9e-324, 1769846400.123})
    EXPECT_EQ(std::strtod(number_text(value).c_str(), nullptr), value);
}

TEST(NumberText, OfACounterIsACount) {
  EXPECT_TRUE(is_count(0.0));
  EXPECT_TRUE(is_count(MetricValue(std::uint64_t{7})));
  EXPECT_TRUE(is_count(MetricValue(INFINITY)));
  EXPECT_FALSE(is_count(MetricValue(std::int64_t{-1})));
  EXPECT_FALSE(is_count(-0.5));
  EXPECT_FALSE(is_count(std::nan("")));
}

TEST(BoundText, IsCanonical) {
  using F = ExpositionFormat;
  EXPECT_EQ(bound_text(1, F::open_metrics), "1.0");
  EXPECT_EQ(bound_text(1, F::prometheus_text), "1");
  EXPECT_EQ(bound_text(604'800, F::open_metrics), "604800.0");
  EXPECT_EQ(bound_text(0.00025, F::open_metrics), "0.00025");
  EXPECT_EQ(bound_text(0.00025, F::prometheus_text), "0.00025");
  EXPECT_EQ(bound_text(INFINITY, F::open_metrics), "+Inf");
}

TEST(LabelText, KeepsWhatIsShown) {
  EXPECT_EQ(label_text("", 128), "");
  EXPECT_EQ(label_text("gray_pig_knyllgjbkl", 128), "gray_pig_knyllgjbkl");
  EXPECT_EQ(label_text("a \"b\" c\\d", 128), "a \\\"b\\\" c\\\\d");
  EXPECT_EQ(label_text("two\nlines", 128), "two\\nlines");
  EXPECT_EQ(label_text("jürgen 日本", 128), "jürgen 日本");
  EXPECT_EQ(label_text("{a=\"b\"} 1\n# EOF", 128), "{a=\\\"b\\\"} 1\\n# EOF");
}

TEST(LabelText, ChangesWhatIsNotShownAndSaysSo) {
  const std::string changed = label_text("bell\a", 128);
  EXPECT_TRUE(changed.starts_with("bell\xef\xbf\xbd~")) << changed;
  EXPECT_EQ(changed.size(), 4 + 3 + 1 + 8u);
  // Two values stay two.
  EXPECT_NE(label_text("a\a", 128), label_text("a\b", 128));
  EXPECT_NE(label_text("a\xff", 128), label_text("a\xfe", 128));
  EXPECT_NE(label_text(std::string(500, 'a') + "1", 128),
            label_text(std::string(500, 'a') + "2", 128));
  EXPECT_EQ(label_text(std::string(500, 'a'), 128).size(), 128u);
  EXPECT_LE(label_text("日本日本日本", 15).size(), 15u);
  EXPECT_NE(label_text("a\r\nb", 128).find("~"), std::string::npos);
}

TEST(LabelText, OfHostileTextsIsUtf8InOneLine) {
  std::set<std::string> all;
  std::vector<std::string> texts = test::hostile_texts();
  for (int byte = 0; byte < 256; ++byte) texts.emplace_back(3, static_cast<char>(byte));
  for (const std::string& text : texts) {
    const std::string label = label_text(text, 128);
    EXPECT_TRUE(all.insert(label).second) << "two values have become one: " << label;
    for (std::string_view rest = label; !rest.empty();) {
      const Utf8Character character = first_character(rest);
      ASSERT_GT(character.length, 0u) << label;
      EXPECT_FALSE(is_hidden(character.code)) << label;
      rest.remove_prefix(character.length);
    }
    // No quote ends it.
    for (std::size_t i = 0; i < label.size(); ++i) {
      EXPECT_NE(label[i], '"');
      if (label[i] == '\\') ++i;
    }
  }
}

TEST(HelpText, IsEscapedAsItsFormatHasIt) {
  EXPECT_EQ(help_text("a \"b\"\\\nc", ExpositionFormat::prometheus_text), "a \"b\"\\\\\\nc");
  EXPECT_EQ(help_text("a \"b\"\\\nc", ExpositionFormat::open_metrics), "a \\\"b\\\"\\\\\\nc");
}

TEST(Names, AreThoseOfPrometheus) {
  for (const char* name : {"a", "lockstep_jobs", "a1", "_a"}) EXPECT_TRUE(is_metric_name(name));
  for (const char* name : {"", "1a", "a-b", "a b", "a:b", "ä", "a\n"})
    EXPECT_FALSE(is_metric_name(name)) << name;
  EXPECT_TRUE(is_label_name("target"));
  for (const char* name : {"", "__name__", "_a", "le", "quantile", "a.b"})
    EXPECT_FALSE(is_label_name(name)) << name;
}

}  // namespace
}  // namespace lockstep::launcher
