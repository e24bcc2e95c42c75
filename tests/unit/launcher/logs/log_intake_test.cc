#include "launcher/logs/log_intake.h"

#include <gmock/gmock.h>

#include "tests/unit/launcher/logs/fake_log_directory.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const AttemptId kAttempt{JobId("job"), 1};
const NodeId kNode{1};

constexpr Instant kArrival{1'700'000'000'000'000'000};

LogKey key(int rank, LogStream stream = LogStream::out) { return {kAttempt, rank, stream}; }

class LogIntakeTest : public testing::Test {
 protected:
  LogIntakeTest() { directory_.jobs[JobId("job")] = {1, false, "Running"}; }

  LogIntake::Sinks sinks() {
    LogIntake::Sinks sinks;
    sinks.ack = [this](const std::string& peer, std::uint64_t, const LogAck& ack) {
      acks_.push_back(peer + ":" + std::to_string(ack.key.rank) + "@" +
                      std::to_string(ack.durable));
    };
    sinks.grew = [this](const LogKey& k) { grew_.push_back(k); };
    sinks.logs_durable = [this](const AttemptId&, NodeId node) { durable_.push_back(node.value); };
    return sinks;
  }
  Status append(int rank, std::uint64_t offset, std::string data, NodeId sender = kNode) {
    return intake_.append("peer", 1, sender, {sender, key(rank), offset, std::move(data)},
                          kArrival);
  }
  // The next line of this rank, read at `at` by its node's clock; it comes at kArrival.
  void append_line(int rank, Instant at) {
    const std::uint64_t offset = store_.extent(key(rank))->written;
    const NodeId node(rank < 2 ? 1 : 2);
    const LogAppend line{node, key(rank), offset, "line\n", {{offset, at}}};
    ASSERT_TRUE(intake_.append("peer", 1, node, line, kArrival));
  }
  Instant time_of_line(int rank, std::uint64_t line) { return store_.time_at(key(rank), 5 * line); }
  void sync() {
    if (auto batch = intake_.turn_end()) {
      ASSERT_TRUE(batch->sync());
      intake_.synced(*batch);
    }
  }
  std::vector<std::string> take_acks() { return std::exchange(acks_, {}); }

  test::TempDir dir_;
  LogStore store_{dir_.path()};
  test::FakeLogDirectory directory_;
  std::vector<std::string> acks_;
  std::vector<LogKey> grew_;
  std::vector<std::uint64_t> durable_;
  LogIntake intake_{store_, directory_, sinks()};
};

TEST_F(LogIntakeTest, AcknowledgesOnlyAfterTheSync) {
  ASSERT_TRUE(append(0, 0, "abc"));
  EXPECT_THAT(acks_, IsEmpty());
  EXPECT_EQ(grew_.size(), 1u);
  sync();
  EXPECT_THAT(take_acks(), ElementsAre("peer:0@3"));
}

TEST_F(LogIntakeTest, WhatCameDuringASyncIsAcknowledgedByTheNext) {
  ASSERT_TRUE(append(0, 0, "abc"));
  const auto batch = intake_.turn_end();
  ASSERT_TRUE(batch);
  ASSERT_TRUE(append(0, 3, "def"));
  EXPECT_FALSE(intake_.turn_end()) << "one batch at a time";
  ASSERT_TRUE(batch->sync());
  intake_.synced(*batch);
  EXPECT_THAT(take_acks(), ElementsAre("peer:0@3"));
  sync();
  EXPECT_THAT(take_acks(), ElementsAre("peer:0@6"));
}

TEST_F(LogIntakeTest, ADoubledChunkIsAcknowledgedAtOnce) {
  ASSERT_TRUE(append(0, 0, "abc"));
  sync();
  take_acks();
  ASSERT_TRUE(append(0, 0, "abc"));
  EXPECT_THAT(take_acks(), ElementsAre("peer:0@3"));
}

TEST_F(LogIntakeTest, AGapIsAnsweredWithWhatIsThere) {
  ASSERT_TRUE(append(0, 0, "abc"));
  sync();
  take_acks();
  ASSERT_TRUE(append(0, 100, "x"));
  EXPECT_THAT(take_acks(), ElementsAre("peer:0@3"));
}

TEST_F(LogIntakeTest, ANodeWritesOnlyItsOwnRanks) {
  EXPECT_EQ(append(2, 0, "x").error().code, ErrorCode::permission_denied);
  EXPECT_EQ(append(9, 0, "x").error().code, ErrorCode::permission_denied);
  EXPECT_EQ(intake_.append("peer", 1, kNode, {NodeId(2), key(2), 0, "x"}, kArrival).error().code,
            ErrorCode::permission_denied)
      << "the field is not believed";
}

TEST_F(LogIntakeTest, ANodeWritesTheLogOfItsOwnEnvironment) {
  const auto append_environment = [this](int node_rank, NodeId sender) {
    return intake_.append("peer", 1, sender,
                          {sender, key(node_rank, LogStream::environment), 0, "solving\n"},
                          kArrival);
  };
  EXPECT_TRUE(append_environment(0, NodeId(1)));
  EXPECT_TRUE(append_environment(1, NodeId(2))) << "rank 1 is of node 1, node rank 1 is node 2";
  const auto foreign = append_environment(1, NodeId(1));
  EXPECT_EQ(foreign.error().code, ErrorCode::permission_denied);
  EXPECT_EQ(foreign.error().message,
            "node rank 1 of job.1 is not on node 1: its environment log is refused");
  EXPECT_EQ(append_environment(2, NodeId(1)).error().code, ErrorCode::permission_denied);
  sync();
  EXPECT_THAT(take_acks(), ElementsAre("peer:0@8", "peer:1@8"));
}

TEST_F(LogIntakeTest, AwaitsTheEnvironmentBesideTheRankOfTheSameNumber) {
  intake_.await(kAttempt, kNode, {{0, 3, 0}, {0, 0, 0, 4}});
  EXPECT_EQ(intake_.lacking(kAttempt, kNode), 7u);
  ASSERT_TRUE(append(0, 0, "abc"));
  sync();
  EXPECT_THAT(durable_, IsEmpty());
  EXPECT_EQ(intake_.lacking(kAttempt, kNode), 4u);
  ASSERT_TRUE(intake_.append("peer", 1, kNode, {kNode, key(0, LogStream::environment), 0, "done"},
                             kArrival));
  sync();
  EXPECT_THAT(durable_, ElementsAre(1u));
}

TEST_F(LogIntakeTest, ResumeTellsEachLog) {
  ASSERT_TRUE(append(0, 0, "abc"));
  sync();
  take_acks();
  ASSERT_TRUE(intake_.resume("peer", 1, kNode, {kNode, {key(0), key(1)}}));
  EXPECT_THAT(take_acks(), ElementsAre("peer:0@3", "peer:1@0"));
}

TEST_F(LogIntakeTest, OneForeignLogInAResumeDoesNotHideTheOthers) {
  const auto done = intake_.resume("peer", 1, kNode, {kNode, {key(2), key(0), key(1)}});
  EXPECT_EQ(done.error().code, ErrorCode::permission_denied);
  EXPECT_THAT(take_acks(), ElementsAre("peer:0@0", "peer:1@0"));
}

TEST_F(LogIntakeTest, AfterARestartAResumeWaitsForTheSync) {
  ASSERT_TRUE(append(0, 0, "abc"));
  LogStore again(dir_.path());
  LogIntake intake(again, directory_, sinks());
  ASSERT_TRUE(intake.resume("peer", 1, kNode, {kNode, {key(0)}}));
  EXPECT_THAT(acks_, IsEmpty());
  const auto batch = intake.turn_end();
  ASSERT_TRUE(batch && batch->sync());
  intake.synced(*batch);
  EXPECT_THAT(take_acks(), ElementsAre("peer:0@3"));
}

TEST_F(LogIntakeTest, SaysWhenAllThatWasAwaitedIsDurable) {
  intake_.await(kAttempt, kNode, {{0, 3, 0}, {1, 0, 2}});
  ASSERT_TRUE(append(0, 0, "abc"));
  sync();
  EXPECT_THAT(durable_, IsEmpty());
  ASSERT_TRUE(intake_.append("peer", 1, kNode, {kNode, key(1, LogStream::err), 0, "de"}, kArrival));
  EXPECT_THAT(durable_, IsEmpty()) << "written is not durable";
  sync();
  EXPECT_THAT(durable_, ElementsAre(1u));
  intake_.await(kAttempt, kNode, {{0, 3, 0}});
  EXPECT_THAT(durable_, ElementsAre(1u, 1u)) << "asked again after a restart: answered at once";
}

TEST_F(LogIntakeTest, SaysHowMuchOfWhatIsAwaitedIsLacking) {
  EXPECT_EQ(intake_.lacking(kAttempt, kNode), 0u) << "nothing is awaited";
  intake_.await(kAttempt, kNode, {{0, 10, 0}, {1, 0, 2}});
  EXPECT_EQ(intake_.lacking(kAttempt, kNode), 12u);
  ASSERT_TRUE(append(0, 0, "abc"));
  EXPECT_EQ(intake_.lacking(kAttempt, kNode), 12u) << "written is not durable";
  sync();
  EXPECT_EQ(intake_.lacking(kAttempt, kNode), 9u);
}

TEST_F(LogIntakeTest, AwaitingWhatAnEarlierProcessWroteIsAnsweredAfterASync) {
  ASSERT_TRUE(append(0, 0, "abc"));
  LogStore again(dir_.path());
  LogIntake intake(again, directory_, sinks());
  intake.await(kAttempt, kNode, {{0, 3, 0}});
  EXPECT_THAT(durable_, IsEmpty());
  const auto batch = intake.turn_end();
  ASSERT_TRUE(batch && batch->sync());
  intake.synced(*batch);
  EXPECT_THAT(durable_, ElementsAre(1u));
}

// Node 1's clock is 0.3 s ahead and node 2's a second behind. Their ranks write in turns.
TEST_F(LogIntakeTest, TimesOfNodesWhoseClocksDifferAreByTheLaunchers) {
  directory_.clock_ahead = {{NodeId(1), milliseconds(300)}, {NodeId(2), -seconds(1)}};
  const auto written = [](int line) { return kArrival - seconds(60) + milliseconds(50) * line; };
  for (int line = 0; line < 6; ++line) {
    const bool is_second = line % 2 == 1;
    const Duration ahead = is_second ? -seconds(1) : milliseconds(300);
    append_line(is_second ? 2 : 0, written(line) + ahead);
  }
  for (int line = 0; line < 6; ++line)
    EXPECT_EQ(time_of_line(line % 2 == 1 ? 2 : 0, static_cast<std::uint64_t>(line) / 2),
              written(line))
        << line;
}

TEST_F(LogIntakeTest, ALogsTimesNeverGoBackWhenItsClockIsMeasuredAgain) {
  append_line(0, kArrival - seconds(10));
  directory_.clock_ahead[NodeId(1)] = seconds(5);
  append_line(0, kArrival - seconds(9));
  append_line(0, kArrival - seconds(2));
  EXPECT_EQ(time_of_line(0, 0), kArrival - seconds(10));
  EXPECT_EQ(time_of_line(0, 1), kArrival - seconds(10)) << "by the measure 14 s ago";
  EXPECT_EQ(time_of_line(0, 2), kArrival - seconds(7));
  LogStore again(dir_.path());
  ASSERT_TRUE(again.append(key(0), 15, "line\n", {{15, kArrival - seconds(8)}}));
  EXPECT_EQ(again.time_at(key(0), 15), kArrival - seconds(7)) << "after a restart too";
}

TEST_F(LogIntakeTest, NoLineIsOfTheFutureThoughAClockIsNotMeasuredYet) {
  append_line(0, kArrival + minutes(60));
  append_line(0, kArrival + minutes(61));
  EXPECT_EQ(time_of_line(0, 0), kArrival);
  directory_.clock_ahead[NodeId(1)] = minutes(60);
  append_line(2, kArrival - milliseconds(1));
  append_line(0, kArrival + minutes(60));
  EXPECT_EQ(time_of_line(2, 0), kArrival - milliseconds(1));
  EXPECT_EQ(time_of_line(0, 2), kArrival);
}

}  // namespace
}  // namespace lockstep::launcher
