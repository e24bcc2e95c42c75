#include "launcher/cli/text/rank_view.h"
#include "common/domain/why/jobs/ends.h"

#include <gtest/gtest.h>

#include "launcher/cli/text/view_text.h"
#include "tests/unit/launcher/cli/samples.h"

namespace lockstep::cli {
namespace {

RankEnd ended(int rank, int code, Duration after) {
  RankEnd end;
  end.rank = rank;
  end.exit_code = code;
  end.failed = code != 0;
  end.time = kNoon + after;
  return end;
}

PartView part_of(int node, int first_rank, int ranks) {
  PartView part;
  part.node_name = "n" + std::to_string(node);
  part.node_rank = node;
  part.first_rank = first_rank;
  part.ranks = ranks;
  part.state = PartState::running;
  part.addresses = {"10.93.0." + std::to_string(node), "192.168.0." + std::to_string(node)};
  return part;
}

TEST(RankStates, EachRankHasItsStateCodeAndTime) {
  PartView part = part_of(1, 4, 4);
  RankEnd killed = ended(5, 137, seconds(2));
  killed.signal = 9;
  RankEnd stopped = ended(6, 143, seconds(3));
  stopped.signal = 15;
  stopped.terminated_by_us = true;
  part.ended = {ended(4, 0, seconds(1)), killed, stopped};
  EXPECT_EQ(rank_state_lines(part),
            "      rank 4: exited with code 0 at 2030-01-01T12:00:01.000Z\n"
            "      rank 5: killed by signal 9 (exit code 137) at 2030-01-01T12:00:02.000Z\n"
            "      rank 6: terminated (exit code 143) at 2030-01-01T12:00:03.000Z\n"
            "      rank 7: running\n");
  part.state = PartState::staging;
  part.ended.clear();
  EXPECT_EQ(rank_state_lines(part), "");
}

TEST(RankStates, ManyRanksThatDoTheSameShareALine) {
  PartView part = part_of(1, 0, 100);
  for (int rank = 0; rank < 99; ++rank) part.ended.push_back(ended(rank, 0, milliseconds(rank)));
  EXPECT_EQ(rank_state_lines(part),
            "      ranks 0–98: exited with code 0 between 2030-01-01T12:00:00.000Z and "
            "2030-01-01T12:00:00.098Z\n"
            "      rank 99: running\n");
}

TEST(RankStates, OfAPartThatIsGoneNothingIsSaid) {
  PartView part = part_of(1, 0, 2);
  part.state = PartState::finished;
  EXPECT_EQ(rank_state_lines(part), "");
}

struct Failure {
  AttemptView attempt;
  ExitReport report;
  Failure() {
    attempt.parts = {part_of(1, 0, 1), part_of(2, 1, 1), part_of(3, 2, 2)};
    report.rank = 0;
    report.time = kNoon + seconds(10);
    report.stderr_tail = "Connection closed by peer [10.93.0.3]:41012\n";
  }
};

TEST(FailedPeers, WhoEndedWellBeforeTheFailureIsNamed) {
  Failure failure;
  failure.attempt.parts[2].ended = {ended(2, 0, seconds(8)), ended(3, 0, seconds(11))};
  EXPECT_EQ(ended_before_lines(failure.attempt, failure.report),
            "  2.0s before it, rank 2 on n3 had exited with code 0\n");
  failure.attempt.parts[2].ended[0].failed = true;
  EXPECT_EQ(ended_before_lines(failure.attempt, failure.report), "");
}

TEST(FailedPeers, OfManyTheFirstAreNamed) {
  Failure failure;
  failure.attempt.parts[2].ranks = 50;
  for (int rank = 2; rank < 52; ++rank)
    failure.attempt.parts[2].ended.push_back(ended(rank, 0, milliseconds(rank)));
  const std::string text = ended_before_lines(failure.attempt, failure.report);
  EXPECT_NE(text.find("rank 2 on n3"), std::string::npos) << text;
  EXPECT_NE(text.find("  and so had ranks 6–51\n"), std::string::npos) << text;
}

TEST(FailedPeers, AnAddressOfTheGangIsExplained) {
  Failure failure;
  EXPECT_EQ(address_lines(failure.attempt, failure.report), "  10.93.0.3 is n3, ranks 2–3\n");
  for (const char* other : {"10.93.0.31", "110.93.0.3", "10.93.0.3.4", "fd00::10.93.0.3"}) {
    failure.report.stderr_tail = std::string("lost ") + other;
    EXPECT_EQ(address_lines(failure.attempt, failure.report), "") << other;
  }
  for (const char* same :
       {"10.93.0.3", "10.93.0.3:7", "10.93.0.3.", "(10.93.0.3)", "192.168.0.3"}) {
    failure.report.stderr_tail = std::string("lost ") + same;
    EXPECT_NE(address_lines(failure.attempt, failure.report), "") << same;
  }
  failure.report.stderr_tail.clear();
  failure.report.why = NodeFailed{"n1", Cause::start_failed, told("cannot reach 10.93.0.3:29500")};
  EXPECT_NE(address_lines(failure.attempt, failure.report), "") << "in the reason";
  failure.report.why = {};
  failure.attempt.parts[2].addresses = {"fd00::4"};
  failure.report.stderr_tail = "peer [fd00::4]:29500";
  EXPECT_EQ(address_lines(failure.attempt, failure.report), "  fd00::4 is n3, ranks 2–3\n");
}

TEST(FailedPeers, AnAddressOfSeveralNodesIsNobodys) {
  Failure failure;
  for (PartView& part : failure.attempt.parts) part.addresses = {"10.93.0.3"};
  EXPECT_EQ(address_lines(failure.attempt, failure.report), "");
}

TEST(FailedPeers, AreInTheReport) {
  JobView job = sample_job();
  job.attempts[0].parts[0].addresses = {"10.1.1.1"};
  job.attempts[0].parts[0].ended = {ended(2, 0, seconds(9))};
  job.report->stderr_tail = "closed by 10.1.1.1\n";
  const std::string text = failure_report(job);
  EXPECT_NE(text.find("  10.1.1.1 is local-1, ranks 2–3\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  2.0s before it, rank 2 on local-1 had exited with code 0\n"),
            std::string::npos)
      << text;
}

TEST(FailedPeers, OfAProgressBarTheReportHasTheLastState) {
  JobView job = sample_job();
  job.report->stderr_tail = "\r1%\r2%\r 99%\nboom\n";
  EXPECT_NE(failure_report(job).find("    |  99%\n    | boom\n"), std::string::npos)
      << failure_report(job);
}

}  // namespace
}  // namespace lockstep::cli
