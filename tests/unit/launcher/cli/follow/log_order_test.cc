#include "launcher/cli/follow/log_order.h"

#include <gtest/gtest.h>

#include <random>

namespace lockstep::cli {
namespace {

constexpr Instant at(std::int64_t ms) { return {1'000'000'000'000 + ms * 1'000'000}; }
const JobId kJob("j");

LogChunk chunk(int rank, std::uint64_t offset, std::string data, std::vector<LogTime> times,
               bool more, LogStream stream = LogStream::out) {
  LogChunk chunk;
  chunk.key = {{kJob, 1}, rank, stream};
  chunk.offset = offset;
  chunk.data = std::move(data);
  chunk.times = std::move(times);
  chunk.more = more;
  return chunk;
}

struct Shown {
  std::string text;
  LogOrder::Sink sink() {
    return [this](const LogChunk& piece) {
      text += std::to_string(piece.key.rank) + (piece.key.stream == LogStream::err ? "e[" : "[") +
              piece.data + "]";
    };
  }
};

TEST(LogOrder, WhatNobodyElseWaitsForIsPassedOnAtOnce) {
  Shown shown;
  LogOrder order(true, shown.sink());
  order.add(chunk(0, 0, "par", {{0, at(0)}}, false));
  EXPECT_EQ(shown.text, "0[par]");
  EXPECT_FALSE(order.holds());
}

TEST(LogOrder, LinesOfSeveralLogsComeInTheOrderOfTheirTimes) {
  Shown shown;
  LogOrder order(true, shown.sink());
  order.add(chunk(0, 0, "a\nc\ne\n", {{0, at(0)}, {2, at(20)}, {4, at(40)}}, true));
  EXPECT_EQ(shown.text, "0[a\n]") << "the next chunk begins no earlier";
  order.add(chunk(1, 0, "b\nd\nf\n", {{0, at(10)}, {2, at(30)}, {4, at(50)}}, false));
  EXPECT_EQ(shown.text, "0[a\n]1[b\n]0[c\n]1[d\n]0[e\n]1[f\n]");
}

TEST(LogOrder, StdoutAndStderrOfARankAreTwoLogs) {
  Shown shown;
  LogOrder order(true, shown.sink());
  order.add(chunk(0, 0, "a\nc\n", {{0, at(0)}, {2, at(20)}}, true));
  order.add(chunk(0, 0, "b\n", {{0, at(10)}}, false, LogStream::err));
  EXPECT_EQ(shown.text, "0[a\n]0e[b\n]0[c\n]");
}

TEST(LogOrder, ALineIsAsOldAsItsFirstByteAndNeverTorn) {
  Shown shown;
  LogOrder order(true, shown.sink());
  order.add(chunk(0, 0, "begun, ended\nlate\n", {{0, at(0)}, {7, at(20)}, {13, at(30)}}, true));
  order.add(chunk(1, 0, "x\r\ny\n", {{0, at(10)}, {2, at(35)}}, false));
  EXPECT_EQ(shown.text, "0[begun, ended\n]1[x\r\n]0[late\n]1[y\n]");
}

TEST(LogOrder, AProgressBarsStatesAreLinesOfTheirOwn) {
  Shown shown;
  LogOrder order(true, shown.sink());
  order.add(chunk(0, 0, "1%\r99%\n", {{0, at(0)}, {3, at(20)}}, true));
  order.add(chunk(1, 0, "x\n", {{0, at(10)}}, false));
  EXPECT_EQ(shown.text, "0[1%\r]1[x\n]0[99%\n]");
}

TEST(LogOrder, BytesWithoutTimesAreTheOldest) {
  Shown shown;
  LogOrder order(true, shown.sink());
  order.add(chunk(0, 0, "old\n", {}, true));
  order.add(chunk(1, 0, "older\n", {}, true));
  order.add(chunk(2, 0, "new\n", {{0, at(5)}}, false));
  EXPECT_EQ(shown.text, "0[old\n]1[older\n]2[new\n]");
}

TEST(LogOrder, AClockThatWasSetBackChangesNoOrderWithinALog) {
  Shown shown;
  LogOrder order(true, shown.sink());
  order.add(chunk(0, 0, "a\n", {{0, at(100)}}, true));
  order.add(chunk(0, 2, "b\n", {{2, at(10)}}, true));
  order.add(chunk(1, 0, "c\n", {{0, at(50)}}, false));
  const auto a = shown.text.find('a'), b = shown.text.find('b');
  EXPECT_LT(a, b) << shown.text;
}

TEST(LogOrder, BytesThatCameAreNotShownTwiceAndMissingOnesAreSaid) {
  Shown shown;
  LogOrder order(true, shown.sink());
  order.add(chunk(0, 0, "abc\n", {}, false));
  EXPECT_EQ(order.add(chunk(0, 0, "abc\n", {}, false)), LogOrder::Outcome::seen_before);
  EXPECT_EQ(order.add(chunk(0, 9, "x", {}, false)), LogOrder::Outcome::gap);
  EXPECT_EQ(order.add(chunk(0, 2, "c\nd", {}, false)), LogOrder::Outcome::taken);
  EXPECT_EQ(shown.text, "0[abc\n]0[d]");
  ASSERT_EQ(order.positions(kJob).size(), 1u);
  EXPECT_EQ(order.positions()[0].offset, 5u);
}

TEST(LogOrder, OfSeveralJobsNothingIsPassedOnThatAnotherMayStillPrecede) {
  Shown shown;
  LogOrder order(true, shown.sink());
  order.expect(kJob, at(0));
  order.expect(JobId("other"), at(15));
  order.add(chunk(0, 0, "a\nz\n", {{0, at(0)}, {2, at(100)}}, false));
  EXPECT_EQ(shown.text, "0[a\n]");
  order.done(kJob);
  EXPECT_EQ(shown.text, "0[a\n]") << "the other job's lines may be older than z";
  LogChunk theirs = chunk(7, 0, "m\n", {{0, at(50)}}, false);
  theirs.key.attempt.job = JobId("other");
  order.add(theirs);
  EXPECT_EQ(order.reached(JobId("other")), at(50));
  order.done(JobId("other"));
  EXPECT_EQ(shown.text, "0[a\n]7[m\n]0[z\n]");
  EXPECT_FALSE(order.holds(kJob));
}

// Chunks as the launcher sends them: of the logs that wait the oldest begin first.
TEST(LogOrder, WhateverTheChunksTheOrderIsThatOfTime) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    const auto upto = [&](int most) {
      return static_cast<int>(random() % static_cast<unsigned>(most));
    };
    struct Source {
      std::string data;
      std::vector<LogTime> times;
      std::size_t sent = 0;
    };
    std::vector<Source> sources(4);
    std::string wanted;
    for (int ms = 1; ms <= 300; ++ms) {
      Source& source = sources[static_cast<std::size_t>(upto(4))];
      const std::string line = std::to_string(ms) + "\n";
      source.times.push_back({source.data.size(), at(ms)});
      source.data += line;
      wanted += line;
    }
    std::string shown;
    LogOrder order(true, [&](const LogChunk& piece) { shown += piece.data; });
    const auto next_time = [](const Source& source) {
      for (const LogTime& time : source.times)
        if (time.offset == source.sent) return time.at;
      return Instant::never();
    };
    for (;;) {
      std::size_t waiting = 0, first = 0;
      for (std::size_t i = 0; i < sources.size(); ++i) {
        if (sources[i].sent == sources[i].data.size()) continue;
        if (waiting++ == 0 || next_time(sources[i]) < next_time(sources[first])) first = i;
      }
      if (waiting == 0) break;
      Source& source = sources[first];
      std::size_t end = source.sent;
      for (int lines = 1 + upto(8); lines > 0 && end < source.data.size(); --lines)
        end = source.data.find('\n', end) + 1;
      std::vector<LogTime> times;
      for (const LogTime& time : source.times)
        if (time.offset >= source.sent && time.offset < end) times.push_back(time);
      order.add(chunk(static_cast<int>(first), source.sent,
                      source.data.substr(source.sent, end - source.sent), times,
                      waiting > 1 || end < source.data.size()));
      source.sent = end;
    }
    ASSERT_EQ(shown, wanted) << "seed " << seed;
  }
}

}  // namespace
}  // namespace lockstep::cli
