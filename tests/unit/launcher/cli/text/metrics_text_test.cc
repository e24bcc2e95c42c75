#include "launcher/cli/text/metrics_text.h"

#include <gmock/gmock.h>

#include <cmath>

namespace lockstep::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

metrics::MetricSummary loss() {
  return {"loss", 1, {5, Instant{1'000'000'000}, 0.5}, 0.25, 0.9, 4, 0};
}
metrics::Bucket bucket(std::int64_t at, double value) {
  return {at, at, 1, 0, value, value, value};
}
metrics::Curve curve(std::uint32_t attempt, int rank, std::vector<metrics::Bucket> buckets) {
  return {{attempt, 0, rank}, buckets.size(), 0, std::move(buckets)};
}

TEST(MetricsText, TheTableHasLastLeastAndGreatest) {
  EXPECT_EQ(metrics_table({loss()}),
            "METRIC  LAST  STEP  LEAST  AT STEP  GREATEST  AT STEP\n"
            "loss    0.5   5     0.25   4        0.9       0\n");
  EXPECT_EQ(metrics_table({}), "");
}

TEST(MetricsText, AMetricThatWasNeverANumberHasNoRange) {
  metrics::MetricSummary metric = loss();
  metric.last.value = std::nan("");
  metric.least = metric.greatest = {};
  EXPECT_EQ(metrics_table({metric}),
            "METRIC  LAST  STEP  LEAST  AT STEP  GREATEST  AT STEP\n"
            "loss    nan   5\n");
}

TEST(MetricsText, ATrendIsDrawnInOneLine) {
  const std::string text = metrics_table({loss()}, {{"loss", {1, 2, 3, 4}}});
  EXPECT_THAT(text, HasSubstr("TREND\n"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << text;
  EXPECT_THAT(metrics_table({loss()}, {{"other", {1}}}), HasSubstr("0\n"));
}

TEST(MetricsText, TheTrendIsThatOfTheNewestAttemptsFirstRank) {
  EXPECT_THAT(trend_of({curve(1, 0, {bucket(1, 9)}), curve(2, 1, {bucket(1, 8)}),
                        curve(2, 0, {bucket(1, 7), bucket(2, 6)})}),
              ElementsAre(7, 6));
  EXPECT_THAT(trend_of({}), IsEmpty());
}

TEST(MetricsText, EachCurveSaysWhoseItIs) {
  const std::string text =
      curves_text("loss", {curve(1, 0, {bucket(1, 1), bucket(2, 2)}), curve(1, 1, {})}, {});
  EXPECT_THAT(text, HasSubstr("loss: attempt 1, rank 0, 2 points\n"));
  EXPECT_THAT(text, HasSubstr("step 1"));
  EXPECT_THAT(text, HasSubstr("loss: attempt 1, rank 1, 0 points\n"));
}

TEST(MetricsText, ManyCurvesAreNotAllDrawn) {
  std::vector<metrics::Curve> curves;
  for (int rank = 0; rank < 25; ++rank) curves.push_back(curve(1, rank, {bucket(1, 1)}));
  const std::string text = curves_text("loss", curves, {});
  EXPECT_THAT(text, HasSubstr("rank 19,"));
  EXPECT_THAT(text, Not(HasSubstr("rank 20,")));
  EXPECT_THAT(text, HasSubstr("and 5 more curves; -o json has them\n"));
}

TEST(MetricsCsv, WithoutCurvesHasALineForEachMetric) {
  MetricsReply logged;
  logged.metrics = {loss()};
  EXPECT_EQ(metrics_csv(logged, false),
            "name,attempt,last,last_step,last_at,least,least_step,greatest,greatest_step\n"
            "loss,1,0.5,5,1970-01-01T00:00:01.000Z,0.25,4,0.9,0\n");
  EXPECT_EQ(metrics_csv({}, true), "attempt,rank,first,last_at,points,nans,least,greatest,last\n");
}

TEST(MetricsCsv, ACurveKeepsAllDigitsAndWhatIsNoNumber) {
  MetricsReply logged;
  logged.curves = {curve(2, 3, {bucket(1, 0.1), bucket(2, std::nan("")), bucket(3, -INFINITY)})};
  EXPECT_THAT(metrics_csv(logged, true), HasSubstr("\n2,3,1,1,1,0,0.1,0.1,0.1\n"
                                                   "2,3,2,2,1,0,NaN,NaN,NaN\n"
                                                   "2,3,3,3,1,0,-Infinity,-Infinity,-Infinity\n"));
}

// A metric's name is what a program of somebody wrote.
TEST(MetricsCsv, NamesBreakNoCellAndBecomeNoFormula) {
  const std::pair<std::string, std::string> names[] = {
      {"a,b", "\"a,b\""}, {"a\"b", "\"a\"\"b\""}, {"=cmd()", "'=cmd()"}, {"+1", "'+1"},
      {"@x", "'@x"},      {"a\nb", "a b"},        {"=a,b", "\"'=a,b\""},
  };
  for (const auto& [name, cell] : names) {
    MetricsReply logged;
    logged.metrics = {loss()};
    logged.metrics[0].name = name;
    EXPECT_THAT(metrics_csv(logged, false), HasSubstr("\n" + cell + ",1,0.5,")) << name;
  }
}

}  // namespace
}  // namespace lockstep::cli
