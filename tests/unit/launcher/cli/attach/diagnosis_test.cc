#include "launcher/cli/attach/diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "runner/attach/standing_line.h"
#include "tests/unit/launcher/cli/samples.h"

namespace lockstep::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

RankStanding standing(int rank) {
  RankStanding one;
  one.rank = rank;
  one.doing = Doing::waits_peer;
  one.call = "poll";
  one.on = "10.0.0.4:41999";
  one.at = "train.py:88";
  one.within = "MPI_Barrier";
  one.taken = Instant{} + seconds(200);
  one.since = Instant{} + seconds(70);
  one.doing_since = Instant{} + seconds(80);
  one.cpu_milli = 990;
  one.collectives = {{"0xab", "AllReduce", 41}};
  one.versions.nccl = "2.21.5";
  return one;
}

TEST(Standings, OfARunnersLinesAreReadAndTheRestIsLeft) {
  const std::string stacks = "{\"rank\": 3, \"pid\": 17, \"command\": \"x\"}\n";
  std::string lines = runner::standing_line(standing(3)) + stacks +
                      runner::standing_line(standing(3)) + runner::standing_line(standing(9));
  const auto standings = take_standings("n2", {3}, &lines);
  EXPECT_EQ(lines, stacks);
  ASSERT_EQ(standings.size(), 1u) << "each rank of this node once";
  EXPECT_EQ(standings[0].doing, "waits");
  EXPECT_EQ(standings[0].within, "MPI_Barrier");
  EXPECT_EQ(standings[0].still, 130);
  EXPECT_EQ(standings[0].doing_for, 120);
  EXPECT_EQ(standings[0].cpus, 0.99);
  EXPECT_EQ(standings[0].collectives.at(0).count, 41);
  EXPECT_EQ(standings[0].nccl, "2.21.5");
}

TEST(Standings, OtherBytesAreLeftOrReadAsFarAsTheyGo) {
  std::string lines =
      "\xff\n[]\n{\"rank\": \"x\", \"standing\": {}}\n{\"rank\": 3, \"standing\": 4}\n";
  const std::string before = lines;
  EXPECT_TRUE(take_standings("n1", {3}, &lines).empty());
  EXPECT_EQ(lines, before);
  lines =
      "{\"rank\": 3, \"standing\": {\"doing\": 7, \"still\": -1, \"threads\": 99999999999999, "
      "\"collectives\": [4, {}]}}\n";
  const auto standings = take_standings("n1", {3}, &lines);
  ASSERT_EQ(standings.size(), 1u);
  EXPECT_EQ(standings[0].doing, "");
  EXPECT_EQ(standings[0].still, 0);
  EXPECT_EQ(standings[0].threads, INT32_MAX);
}

Diagnosis diagnosis() {
  Diagnosis diagnosis;
  diagnosis.job = sample_job();
  diagnosis.job.status = JobStatus::running;
  AttemptView& attempt = diagnosis.job.attempts[0];
  Found found;
  found.kind = FoundKind::stopped;
  found.verdict = FoundVerdict::hangs;
  found.ranks = {{3, 1, "stopped", "", "", "", 0}};
  found.lasting = seconds(130);
  attempt.found = {found};
  attempt.probe = ProbeResult{{{1, "eth1", "10.0.0.4", milliseconds(1), 94'000, 9'000}}, {}, false};
  attempt.parts[0].settings = {
      {"NCCL_SOCKET_IFNAME", "=eth1", SettingSource::probe, "it is fastest", ""}};
  diagnosis.at = kNoon;
  std::string lines = runner::standing_line(standing(3));
  diagnosis.standings = take_standings("local-1", {3}, &lines);
  diagnosis.clocks = {{"local-1", {milliseconds(-300), milliseconds(1)}}};
  diagnosis.no_stacks = "nobody asked";
  return diagnosis;
}

TEST(Diagnosis, APageHasAllParts) {
  const std::string text = diagnosis_text(diagnosis());
  EXPECT_THAT(text, HasSubstr("job gray_pig, attempt 1: Running at 2030-01-01T12:00:00.000Z\n"));
  EXPECT_THAT(text, HasSubstr("found\n  hang: rank 3 on local-1 has been stopped for 130 s"));
  EXPECT_THAT(text, HasSubstr("ranks\nRANK  NODE"));
  EXPECT_THAT(text, HasSubstr("\n(FOR: it has done that so long; NO PROGRESS: "));
  EXPECT_THAT(text, HasSubstr("poll() on 10.0.0.4:41999  train.py:88 (MPI_Barrier)"));
  EXPECT_THAT(text,
              HasSubstr("  local-1: eth1 10.0.0.4, 94.0 Gbit/s, round trip 1.000 ms, MTU 9000"));
  EXPECT_THAT(text, HasSubstr("  NCCL_SOCKET_IFNAME==eth1  (it is fastest)\n"));
  EXPECT_THAT(text, HasSubstr("clocks\n  local-1: 0.30 s behind the launcher's"));
  EXPECT_THAT(text, HasSubstr("stacks\n  none: nobody asked\n"));
}

// A node tells of the first nodes of a large gang alone.
TEST(Diagnosis, CountsTheNodesOfWhoseNetworkNothingIsShown) {
  Diagnosis large = diagnosis();
  AttemptView& attempt = large.job.attempts[0];
  attempt.parts.resize(100, attempt.parts[0]);
  attempt.probe->chosen.resize(64, attempt.probe->chosen[0]);
  EXPECT_THAT(diagnosis_text(large), HasSubstr("  and 68 more nodes\n"));
}

TEST(Diagnosis, OfAJobWithoutTroubleSaysSo) {
  Diagnosis healthy = diagnosis();
  healthy.job.attempts[0].found.clear();
  EXPECT_THAT(diagnosis_text(healthy),
              HasSubstr("found\n  nothing; a rank that others wait for is named after 2m00s "
                        "(lockstep.hang_after)\n"));
  healthy.job.status = JobStatus::failed;
  EXPECT_THAT(diagnosis_text(healthy), HasSubstr("found\n  nothing\n"));
  healthy.job.spec.hang.after = Duration::zero();
  EXPECT_THAT(diagnosis_text(healthy), HasSubstr("nothing is looked for"));
}

TEST(Diagnosis, IsJsonToo) {
  const api::Json json = api::to_json(diagnosis());
  EXPECT_EQ(json["found"][0]["kind"], "stopped");
  EXPECT_EQ(json["ranks"][0]["within"], "MPI_Barrier");
  EXPECT_EQ(json["ranks"][0]["exit_code"], api::Json());
  EXPECT_EQ(json["probe"]["chosen"][0]["interface"], "eth1");
  EXPECT_EQ(json["settings"][0]["settings"][0]["value"], "=eth1");
  EXPECT_EQ(json["no_stacks"], "nobody asked");
}

TEST(Diagnosis, ItsFileIsNamedByItsTime) {
  EXPECT_EQ(diagnosis_file(kNoon), "diagnosis-20300101T120000Z");
}

}  // namespace
}  // namespace lockstep::cli
