#include "launcher/cli/verbs/people/account_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/io/file_system.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::cli {
namespace {

using testing::HasSubstr;

constexpr Instant kNoon{1'780'000'000'000'000'000};

std::vector<NodeView> alive_at(Instant heard) {
  NodeView alive, lost;
  alive.liveness = Liveness::alive;
  alive.last_heard = heard;
  lost.liveness = Liveness::lost;
  lost.last_heard = heard + seconds(1000);
  return {lost, alive};
}

Finding clock_of(Instant heard) {
  const Findings found = judge_clock(alive_at(heard), kNoon, kNoon + seconds(1));
  EXPECT_EQ(found.size(), 1u);
  return found.front();
}

TEST(Doctor, ALauncherOfAnotherVersionIsNamedWithBoth) {
  EXPECT_EQ(judge_version(LOCKSTEP_VERSION).verdict, Verdict::ok);
  const Finding other = judge_version("0.0.7");
  EXPECT_EQ(other.verdict, Verdict::warning);
  EXPECT_EQ(other.found, "the launcher has 0.0.7, lockstep here has " LOCKSTEP_VERSION);
  EXPECT_THAT(other.advice, HasSubstr("install the same version"));
}

TEST(Doctor, AClockIsWrongOnlyByWhatHeartbeatsAndTheAnswersTimeDoNotExplain) {
  for (const Duration fair : {seconds(-8), seconds(-2), seconds(0), seconds(6)})
    EXPECT_EQ(clock_of(kNoon + fair).found, "agrees with this machine's clock");
  EXPECT_EQ(clock_of(kNoon + seconds(62)).found, "is at least 1m01s ahead of this machine's clock");
  EXPECT_EQ(clock_of(kNoon - seconds(64)).found, "is at least 1m01s behind this machine's clock");
  EXPECT_EQ(clock_of(kNoon - seconds(64)).verdict, Verdict::warning);
  EXPECT_THAT(clock_of(kNoon - seconds(64)).advice, HasSubstr("NTP"));
}

TEST(Doctor, NodesThatAreAwayAreNamed) {
  const Finding found = judge_nodes(alive_at(kNoon));
  EXPECT_EQ(found.verdict, Verdict::warning);
  EXPECT_THAT(found.found, HasSubstr("1 of 2 ALIVE: "));
  EXPECT_THAT(found.found, HasSubstr(" is LOST"));
  EXPECT_EQ(judge_nodes({alive_at(kNoon).back()}).verdict, Verdict::ok);
  EXPECT_EQ(judge_nodes({}).verdict, Verdict::warning);
  NodeView waiting = alive_at(kNoon).back();
  waiting.name = "n3";
  waiting.waits_for_approval = true;
  EXPECT_THAT(judge_nodes({waiting}).found, HasSubstr("0 of 1 ALIVE: n3 waits for approval"));
}

TEST(Doctor, NodesThatTakeNoNewWorkAreWarningsEach) {
  std::vector<NodeView> nodes(4, alive_at(kNoon).back());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].name = "n" + std::to_string(i);
    nodes[i].draining = false;
    nodes[i].reason.clear();
  }
  EXPECT_TRUE(judge_reasons(nodes).empty());
  nodes[1].draining = true;
  nodes[1].reason = "is draining (new disk)";
  nodes[2].reason = "takes no new work: its disk is low";
  nodes[3].liveness = Liveness::lost;  // said by judge_nodes
  nodes[3].reason = "is LOST";
  const Findings found = judge_reasons(nodes);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].verdict, Verdict::warning);
  EXPECT_EQ(found[0].check, "node n1");
  EXPECT_THAT(found[0].advice, HasSubstr("node resume n1"));
  EXPECT_THAT(found[1].found, HasSubstr("its disk is low"));
  EXPECT_EQ(judge_reasons(std::vector<NodeView>(50, nodes[2])).size(), 21U);
}

TEST(Doctor, ALauncherThatIsLowOnDiskIsAWarning) {
  LauncherStatus status;
  status.version = LOCKSTEP_VERSION;
  EXPECT_EQ(judge_status(status).size(), 1U);
  status.low_reason = "less than 5.0 GiB are free";
  ASSERT_EQ(judge_status(status).size(), 2U);
  EXPECT_EQ(judge_status(status)[1].verdict, Verdict::warning);
}

TEST(Doctor, AHomeThatCannotBeMadeOrThatOthersMayChangeIsAProblem) {
  const test::TempDir dir;
  dir.file("file", "");
  EXPECT_FALSE(all_well(examine_home(LocalHome(dir / "file/home"))));
  EXPECT_TRUE(all_well(examine_home(LocalHome(dir / "not/yet"))));
  ASSERT_EQ(::chmod(dir.path().c_str(), 0777), 0);
  const Findings found = examine_home(LocalHome(dir.path()));
  EXPECT_FALSE(all_well(found));
  EXPECT_THAT(found.back().advice, HasSubstr("chmod go-w"));
}

TEST(Doctor, WithANamedLauncherOnlyThatOnesFilesAreLookedAt) {
  const test::TempDir dir;
  const LocalHome home(dir / "home");
  const std::string other = dir / "operator";
  ASSERT_TRUE(io::make_directories(home.launcher_keys(), 0700));
  ASSERT_TRUE(io::make_directories(other + "/keys", 0700));
  const auto put = [](const std::string& path, mode_t mode) {
    ASSERT_TRUE(io::write_file_atomically(path, "x", 0600, false));
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
  };
  put(home.launcher_keys() + "/launcher.key", 0644);
  put(home.endpoint(), 0666);
  put(other + "/endpoint.json", 0600);
  put(other + "/keys/launcher.key", 0600);
  EXPECT_FALSE(all_well(examine_home(home)));
  EXPECT_TRUE(all_well(examine_home(home, other + "/endpoint.json")));
  put(other + "/keys/launcher.key", 0640);
  const Findings found = examine_home(home, other + "/endpoint.json");
  EXPECT_FALSE(all_well(found));
  EXPECT_THAT(found.at(1).found, HasSubstr(other + "/keys/launcher.key has mode 0640"));
  put(dir / "copy.json", 0646);
  EXPECT_THAT(examine_home(home, dir / "copy.json").back().found,
              HasSubstr("others may change it"));
}

TEST(Doctor, NodesWhoseClocksAreWrongAreNamed) {
  auto nodes = alive_at(kNoon);
  nodes.front().clock_ahead = -minutes(24 * 60);
  const Findings found = judge_clock(nodes, kNoon, kNoon + seconds(1));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found.front().check, "node clocks");
  EXPECT_EQ(found.front().verdict, Verdict::warning);
  EXPECT_EQ(found.front().found,
            nodes.front().name + ": its clock is 24h00m behind the launcher's");
  EXPECT_THAT(found.front().advice, HasSubstr("NTP"));
}

TEST(Doctor, WithoutANodeThatIsAliveTheClockIsNotJudged) {
  auto nodes = alive_at(kNoon);
  nodes.pop_back();
  EXPECT_TRUE(judge_clock(nodes, kNoon, kNoon).empty());
}

TEST(Doctor, KeysThatOthersCanReadAreAProblem) {
  const test::TempDir dir;
  const LocalHome home(dir / "home");
  EXPECT_TRUE(all_well(examine_home(home))) << "nothing is there yet";
  EXPECT_FALSE(io::exists(home.path())) << "and nothing was made";
  ASSERT_TRUE(io::make_directories(home.keys(), 0700));
  ASSERT_TRUE(io::write_file_atomically(home.user_key(), "x", 0600, false));
  EXPECT_TRUE(all_well(examine_home(home)));
  ASSERT_EQ(::chmod(home.user_key().c_str(), 0644), 0);
  const Findings found = examine_home(home);
  EXPECT_FALSE(all_well(found));
  EXPECT_EQ(found.back().check, "your key");
  EXPECT_THAT(found.back().found, HasSubstr("mode 0644"));
  EXPECT_THAT(found.back().advice, HasSubstr("chmod 600 " + home.user_key()));
}

}  // namespace
}  // namespace lockstep::cli
