// Numbers in what ranks print: by patterns, over pieces of any size, and from where an earlier
// reader stopped.

#include "launcher/metrics/sources/line_metrics.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

namespace lockstep::metrics {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

LinePatterns compiled(const std::map<std::string, std::string>& patterns) {
  auto result = LinePatterns::compile(patterns);
  EXPECT_TRUE(result) << result.error().message;
  return result.value_or(LinePatterns());
}

NamedPoint point(const std::string& name, std::int64_t step, double value, std::int64_t at = 1) {
  return {name, {step, Instant{at}, value}};
}

std::vector<NamedPoint> read_all(const LinePatterns& patterns, std::string_view text) {
  LineMetrics metrics(patterns);
  std::vector<NamedPoint> points;
  metrics.take(text, Instant{1}, &points);
  return points;
}

TEST(PrintedNumber, AsProgramsPrintThem) {
  EXPECT_EQ(printed_number("0.5"), 0.5);
  EXPECT_EQ(printed_number("+1e-3"), 1e-3);
  EXPECT_EQ(printed_number("-7"), -7);
  EXPECT_EQ(printed_number("93.5%"), 93.5);
  EXPECT_EQ(printed_number("0.52,"), 0.52);
  EXPECT_EQ(printed_number("0.52)];"), 0.52);
  EXPECT_EQ(printed_number("-inf"), -INFINITY);
  EXPECT_TRUE(std::isnan(printed_number("nan").value_or(0)));
  for (const char* text : {"", "x", "0.5x", "1_000", "0x10", ",", "1 2", "--1", "+", "1e", "٣"})
    EXPECT_EQ(printed_number(text), std::nullopt) << text;
}

TEST(LineMetrics, EachMatchIsAStep) {
  const auto patterns = compiled({{"loss", R"(loss=(?P<value>\S+))"}});
  EXPECT_THAT(
      read_all(patterns, "begin\nloss=0.5, acc=1\nloss=nan\nloss=oops\nloss=0.25\n"),
      ElementsAre(point("loss", 0, 0.5), point("loss", 1, std::nan("")), point("loss", 2, 0.25)));
}

TEST(LineMetrics, AStepThatIsPrintedCounts) {
  const auto patterns = compiled({{"acc", R"(step (?P<step>\d+).* acc (?P<value>\S+))"}});
  EXPECT_THAT(read_all(patterns, "step 10: acc 0.5\nstep 99999999999999999999 acc 0.75\n"),
              ElementsAre(point("acc", 10, 0.5), point("acc", 1, 0.75)))
      << "one that is no number is counted";
}

TEST(LineMetrics, AnOnlyGroupIsTheValue) {
  EXPECT_THAT(read_all(compiled({{"x", "x=([0-9.]+)"}}), "x=3\n"), ElementsAre(point("x", 0, 3)));
}

TEST(LineMetrics, ProgressBarsEndTheirLinesWithCarriageReturns) {
  EXPECT_THAT(read_all(compiled({{"x", "x=(\\d+)"}}), "x=1\rx=2\rx=3\r\nx=4"),
              ElementsAre(point("x", 0, 1), point("x", 1, 2), point("x", 2, 3)))
      << "the last line is not complete";
}

TEST(LineMetrics, TheLastLineNeedsNoNewline) {
  LineMetrics metrics(compiled({{"x", "x=(\\d+)"}}));
  std::vector<NamedPoint> points;
  metrics.take("x=4", Instant{1}, &points);
  EXPECT_THAT(points, IsEmpty());
  metrics.end(Instant{2}, &points);
  EXPECT_THAT(points, ElementsAre(point("x", 0, 4, 2)));
  EXPECT_EQ(metrics.offset(), 3u);
}

TEST(LineMetrics, TheRestOfALongLineIsNotLookedAt) {
  const auto patterns = compiled({{"x", "x=(\\d+)"}});
  const std::string long_line(kMaxMatchedLineBytes, '.');
  EXPECT_THAT(read_all(patterns, long_line + "x=1\nx=2\n"), ElementsAre(point("x", 0, 2)));
}

TEST(LineMetrics, BadPatternsAreNamed) {
  struct Case {
    std::string pattern, why;
  };
  for (const Case& one :
       {Case{"loss=(", "not a valid regular expression"},
        Case{"loss=.*", "which part is the number"}, Case{"(a)(b)", "which part is the number"},
        Case{"(?P<number>\\d)", "which part is the number"},
        Case{std::string(kMaxLinePatternBytes + 1, 'x'), "bytes"}}) {
    const auto result = LinePatterns::compile({{"loss", one.pattern}});
    ASSERT_FALSE(result) << one.pattern;
    EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(result.error().message, HasSubstr("metrics.loss: "));
    EXPECT_THAT(result.error().message, HasSubstr(one.why));
  }
  EXPECT_FALSE(LinePatterns::compile({{"", "(x)"}}));
  std::map<std::string, std::string> many;
  for (std::size_t i = 0; i <= kMaxLinePatterns; ++i) many[std::to_string(i)] = "(x)";
  EXPECT_FALSE(LinePatterns::compile(many));
}

TEST(LineMetrics, AnotherReaderGoesOnWhereOneStopped) {
  const auto patterns = compiled({{"a", "a=(\\d+)"}, {"b", "b=(\\d+)"}});
  std::string text;
  for (int i = 0; i < 30; ++i)
    text += (i % 3 == 0 ? "b=" : "a=") + std::to_string(i) + (i % 5 == 0 ? "\r\n" : "\n");
  const auto whole = read_all(patterns, text);
  ASSERT_EQ(whole.size(), 30u);
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    LineMetrics first(patterns);
    std::vector<NamedPoint> points;
    first.take(std::string_view(text).substr(0, cut), Instant{1}, &points);
    LineMetrics second(patterns, first.state());
    second.take(std::string_view(text).substr(first.offset()), Instant{1}, &points);
    ASSERT_EQ(points, whole) << "cut at " << cut;
  }
}

TEST(LineMetrics, AStateThatDoesNotFitIsNone) {
  const auto patterns = compiled({{"x", "x=(\\d+)"}});
  for (const char* state : {"", "7 8", "seven", "-1", "99999999999999999999"}) {
    LineMetrics metrics(patterns, state);
    std::vector<NamedPoint> points;
    metrics.take("x=1\n", Instant{1}, &points);
    EXPECT_THAT(points, ElementsAre(point("x", 0, 1))) << state;
  }
  LineMetrics metrics(patterns, "7");
  std::vector<NamedPoint> points;
  metrics.take("x=1\n", Instant{1}, &points);
  EXPECT_THAT(points, ElementsAre(point("x", 7, 1)));
}

TEST(LineMetrics, AnyPiecesGiveTheSame) {
  std::mt19937_64 random(9);
  const auto patterns = compiled({{"x", "x=(\\S+)"}});
  for (int round = 0; round < 100; ++round) {
    std::string text;
    for (int i = 0; i < 200; ++i) text += "x=1 \r\n\n\xff\0z"[random() % 10];
    const auto whole = read_all(patterns, text);
    LineMetrics metrics(patterns);
    std::vector<NamedPoint> points;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = 1 + random() % 20;
      metrics.take(std::string_view(text).substr(at, size), Instant{1}, &points);
      at += size;
    }
    ASSERT_EQ(points, whole);
  }
}

// A pattern that takes a backtracking matcher for ever.
TEST(LineMetrics, APatternCannotTakeForEver) {
  const auto patterns = compiled({{"x", "(?:a*)*b(?P<value>\\d)"}});
  EXPECT_THAT(read_all(patterns, std::string(10'000, 'a') + "\n"), IsEmpty());
}

}  // namespace
}  // namespace lockstep::metrics
