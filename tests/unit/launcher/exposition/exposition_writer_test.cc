// The writer: both formats to the letter, and what it leaves out so that the rest is read.

#include "launcher/exposition/exposition_writer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/hostile_text.h"
#include "tests/unit/launcher/exposition/exposition_reader.h"

namespace lockstep::launcher {
namespace {

using test::read_exposition;

constexpr auto kOpen = ExpositionFormat::open_metrics;
constexpr auto kText = ExpositionFormat::prometheus_text;
constexpr double kTwoBounds[] = {0.5, 1};

const MetricFamily kJobs{"lockstep_jobs", MetricType::gauge, "", {"target", "status"}, "Jobs"};
const MetricFamily kSent{"lockstep_sent_bytes", MetricType::counter, "bytes", {}, "Bytes \"sent\""};
const MetricFamily kWaits{
    "lockstep_wait_seconds", MetricType::histogram, "seconds", {"target"}, "Waits"};
const MetricFamily kBuild{"lockstep_build", MetricType::info, "", {"version"}, "Version"};

std::string written(ExpositionFormat format) {
  ExpositionWriter writer(format);
  writer.begin(kBuild);
  writer.add({"0.8"}, 1);
  writer.begin(kJobs);
  writer.add({"lab", "Queued"}, 3);
  writer.add({"a\"b", "Running"}, 0.5);
  writer.begin(kSent);
  writer.add({}, std::uint64_t{1} << 60);
  MetricHistogram waits(kTwoBounds);
  for (const double value : {0.25, 1.0, 7.0}) waits.observe(value);
  writer.begin(kWaits);
  writer.add({"lab"}, waits);
  return writer.finish();
}

TEST(ExpositionWriter, WritesTheTextOfPrometheus) {
  EXPECT_EQ(written(kText),
            "# HELP lockstep_build_info Version\n"
            "# TYPE lockstep_build_info gauge\n"
            "lockstep_build_info{version=\"0.8\"} 1\n"
            "# HELP lockstep_jobs Jobs\n"
            "# TYPE lockstep_jobs gauge\n"
            "lockstep_jobs{target=\"lab\",status=\"Queued\"} 3\n"
            "lockstep_jobs{target=\"a\\\"b\",status=\"Running\"} 0.5\n"
            "# HELP lockstep_sent_bytes_total Bytes \"sent\"\n"
            "# TYPE lockstep_sent_bytes_total counter\n"
            "lockstep_sent_bytes_total 1152921504606846976\n"
            "# HELP lockstep_wait_seconds Waits\n"
            "# TYPE lockstep_wait_seconds histogram\n"
            "lockstep_wait_seconds_bucket{target=\"lab\",le=\"0.5\"} 1\n"
            "lockstep_wait_seconds_bucket{target=\"lab\",le=\"1\"} 2\n"
            "lockstep_wait_seconds_bucket{target=\"lab\",le=\"+Inf\"} 3\n"
            "lockstep_wait_seconds_sum{target=\"lab\"} 8.25\n"
            "lockstep_wait_seconds_count{target=\"lab\"} 3\n");
  EXPECT_EQ(read_exposition(written(kText), kText).wrong, "");
}

TEST(ExpositionWriter, WritesOpenMetrics) {
  EXPECT_EQ(written(kOpen),
            "# TYPE lockstep_build info\n"
            "# HELP lockstep_build Version\n"
            "lockstep_build_info{version=\"0.8\"} 1\n"
            "# TYPE lockstep_jobs gauge\n"
            "# HELP lockstep_jobs Jobs\n"
            "lockstep_jobs{target=\"lab\",status=\"Queued\"} 3\n"
            "lockstep_jobs{target=\"a\\\"b\",status=\"Running\"} 0.5\n"
            "# TYPE lockstep_sent_bytes counter\n"
            "# UNIT lockstep_sent_bytes bytes\n"
            "# HELP lockstep_sent_bytes Bytes \\\"sent\\\"\n"
            "lockstep_sent_bytes_total 1152921504606846976\n"
            "# TYPE lockstep_wait_seconds histogram\n"
            "# UNIT lockstep_wait_seconds seconds\n"
            "# HELP lockstep_wait_seconds Waits\n"
            "lockstep_wait_seconds_bucket{target=\"lab\",le=\"0.5\"} 1\n"
            "lockstep_wait_seconds_bucket{target=\"lab\",le=\"1.0\"} 2\n"
            "lockstep_wait_seconds_bucket{target=\"lab\",le=\"+Inf\"} 3\n"
            "lockstep_wait_seconds_sum{target=\"lab\"} 8.25\n"
            "lockstep_wait_seconds_count{target=\"lab\"} 3\n"
            "# EOF\n");
  EXPECT_EQ(read_exposition(written(kOpen), kOpen).wrong, "");
}

TEST(ExpositionWriter, OfNothingIsReadToo) {
  EXPECT_EQ(ExpositionWriter(kText).finish(), "");
  EXPECT_EQ(ExpositionWriter(kOpen).finish(), "# EOF\n");
}

TEST(ExpositionWriter, LeavesEqualLabelSetsOut) {
  for (const auto format : {kText, kOpen}) {
    ExpositionWriter writer(format);
    writer.begin(kJobs);
    writer.add({"lab", "Queued"}, 1);
    writer.add({"lab", "Queued"}, 2);
    writer.add({"lab", "Running"}, 3);
    EXPECT_EQ(writer.left_out(), (std::map<std::string, std::size_t>{{"lockstep_jobs", 1}}));
    const auto read = read_exposition(writer.finish(), format);
    EXPECT_EQ(read.wrong, "");
    EXPECT_EQ(read.sample("lockstep_jobs", {{"target", "lab"}, {"status", "Queued"}})->value, 1);
  }
}

TEST(ExpositionWriter, LeavesCountersOutThatAreNoCounts) {
  for (const double value : {std::nan(""), -1.0, -INFINITY}) {
    ExpositionWriter writer(kOpen);
    writer.begin(kSent);
    writer.add({}, value);
    EXPECT_EQ(writer.left_out().at("lockstep_sent_bytes"), 1u);
    EXPECT_EQ(read_exposition(writer.finish(), kOpen).series(), 0u);
  }
  // A gauge may be anything.
  ExpositionWriter writer(kOpen);
  writer.begin(kJobs);
  writer.add({"a", "b"}, std::nan(""));
  writer.add({"c", "d"}, -INFINITY);
  const auto read = read_exposition(writer.finish(), kOpen);
  EXPECT_EQ(read.wrong, "");
  EXPECT_EQ(read.series(), 2u);
}

TEST(ExpositionWriter, HasNoMoreSeriesThanItsLimits) {
  ExpositionLimits limits;
  limits.series_of_a_family = 100;
  limits.series = 150;
  ExpositionWriter writer(kText, limits);
  writer.begin(kJobs);
  for (int i = 0; i < 1'000; ++i) writer.add({std::to_string(i), "Queued"}, i);
  writer.begin(kWaits);
  const MetricHistogram waits(kTwoBounds);  // five series each
  for (int i = 0; i < 1'000; ++i) writer.add({std::to_string(i)}, waits);
  EXPECT_EQ(writer.left_out().at("lockstep_jobs"), 900u);
  EXPECT_EQ(writer.left_out().at("lockstep_wait_seconds"), 990u);
  writer.begin_unlimited(kBuild);
  writer.add({"0.8"}, 1);
  const auto read = read_exposition(writer.finish(), kText);
  EXPECT_EQ(read.wrong, "");
  EXPECT_EQ(read.series(), 151u);
}

TEST(ExpositionWriter, HasNoMoreBytesThanItsLimit) {
  ExpositionLimits limits;
  limits.bytes = 10'000;
  ExpositionWriter writer(kText, limits);
  writer.begin(kJobs);
  for (int i = 0; i < 1'000; ++i) writer.add({std::to_string(i), std::string(10'000, 'x')}, i);
  const std::string text = writer.finish();
  EXPECT_LE(text.size(), limits.bytes + 500);
  EXPECT_EQ(read_exposition(text, kText).wrong, "");
}

TEST(ExpositionWriter, GivesHostileLabelsBackAsOneSeriesEach) {
  for (const auto format : {kText, kOpen}) {
    ExpositionWriter writer(format);
    writer.begin(kJobs);
    std::vector<std::string> texts = test::hostile_texts();
    texts.insert(texts.end(), {"\"} 1\nevil 2\n", "a\\", "\\\"", "\n", "# EOF", "}", "{", ",",
                               "a=\"b\"", test::hostile_text()});
    for (const std::string& text : texts) writer.add({text, text}, 1);
    EXPECT_TRUE(writer.left_out().empty());
    const auto read = read_exposition(writer.finish(), format);
    EXPECT_EQ(read.wrong, "");
    EXPECT_EQ(read.series(), texts.size());
    for (const char* text : {"\"} 1\nevil 2\n", "a\\", "\\\"", "\n", "# EOF"})
      EXPECT_NE(read.sample("lockstep_jobs", {{"target", text}, {"status", text}}), nullptr)
          << text;
  }
}

TEST(ExpositionReader, RefusesWhatPrometheusRefuses) {
  const std::string head = "# HELP a A\n# TYPE a gauge\n";
  EXPECT_EQ(read_exposition(head + "a 1\n", kText).wrong, "");
  for (const char* rest : {"a 1", "a{b=\"c\" 1\n", "a{b=\"c\nd\"} 1\n", "a{b=\"c\\x\"} 1\n",
                           "a 1\na 2\n", "a one\n", "b 1\n", "a{b=\"\xff\"} 1\n", "a{1=\"x\"} 1\n",
                           "a{b=\"c\",b=\"d\"} 1\n", "a\n", "a 1\n# TYPE a gauge\n", "a 1\r\n"})
    EXPECT_NE(read_exposition(head + rest, kText).wrong, "") << rest;
  EXPECT_NE(read_exposition("# TYPE a gauge\n# HELP a A\na 1\n", kOpen).wrong, "");  // no EOF
}

}  // namespace
}  // namespace lockstep::launcher
