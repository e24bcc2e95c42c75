// lockstep-runner under conditions of which one test is enough: users, limits, and who connects to
// it.

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

#include "common/domain/why/all/convert.h"
#include "common/domain/why/ranks/notes.h"
#include "common/wire/runners/runner_codec.h"
#include "tests/unit/runner/attach/attach_talk.h"

namespace lockstep::runner::testing {
namespace {

TEST(RunnerAsRootTest, OutOfMemoryIsSaidOfTheRankThatWasKilled) {
  if (!running_as_root()) GTEST_SKIP() << "needs root: a memory cgroup of our own";
  Attempt attempt;
  attempt.assignment.spec.resources.memory = mebibytes(64);
  attempt.assignment.allotment.memory = mebibytes(64);
  attempt.ranks(2).shell(
      "[ $LOCKSTEP_RANK = 0 ] && exec sleep 60; exec /usr/bin/python3 -c 'x=bytearray(200<<20)'");
  ASSERT_EQ(attempt.run(), 0);
  const auto report = attempt.report();
  EXPECT_EQ(report.cause, Cause::out_of_memory) << attempt.runner_log();
  EXPECT_EQ(report.first_failed_rank, 1);
  EXPECT_TRUE(attempt.leftover_cgroups().empty());
}

TEST(RunnerAsRootTest, OutOfMemoryBehindAShellIsSaidToo) {
  if (!running_as_root()) GTEST_SKIP() << "needs root: a memory cgroup of our own";
  Attempt attempt;
  attempt.assignment.spec.resources.memory = mebibytes(64);
  attempt.assignment.allotment.memory = mebibytes(64);
  attempt.shell("/usr/bin/python3 -c 'x=bytearray(200<<20)'; exit $?");
  ASSERT_EQ(attempt.run(), 0);
  EXPECT_EQ(attempt.report().cause, Cause::out_of_memory) << attempt.runner_log();
}

TEST(RunnerAsRootTest, WhatIsAttachedGoesFirstAndIsNoFailureOfTheRank) {
  if (!running_as_root()) GTEST_SKIP() << "needs root: a memory cgroup of our own";
  Attempt attempt;
  attempt.assignment.spec.resources.memory = mebibytes(64);
  attempt.assignment.allotment.memory = mebibytes(64);
  attempt.shell("trap 'exit 3' USR1; echo up; while :; do sleep 0.02; done").start();
  FakeAgent agent(attempt);
  ASSERT_TRUE(attempt.printed("up"));
  AttachTalk hog(agent, attempt, 'h'), signal(agent, attempt, 's');
  ASSERT_TRUE(hog.open(program_order({"/usr/bin/python3", "-c", "x=bytearray(200<<20)"})));
  EXPECT_EQ(hog.code(), 137) << hog.error;
  hog.send(AttachClose{});
  ASSERT_TRUE(signal.open(AttachSignal{SIGUSR1}, 0));
  ASSERT_EQ(attempt.wait(), 0);
  EXPECT_EQ(attempt.report().cause, Cause::exit_code) << attempt.runner_log();
  EXPECT_EQ(attempt.report().ranks.at(0).exit_code, 3);
}

TEST(RunnerAsRootTest, ARunAsUserIsTakenOn) {
  if (!running_as_root()) GTEST_SKIP() << "needs root: only root can change ids";
  Attempt attempt;
  attempt.assignment.spec.run_as = "nobody";
  attempt.shell("id -un; echo $USER; touch outputs/x $TMPDIR/y; echo > /dev/stdout");
  ASSERT_EQ(attempt.run(), 0);
  EXPECT_EQ(attempt.report().cause, Cause::completed) << attempt.err();
  EXPECT_EQ(attempt.out(), "nobody\nnobody\n\n");
}

TEST(RunnerSetupTest, AnUnknownRunAsUserIsSaid) {
  Attempt attempt;
  attempt.assignment.spec.run_as = "no-such-user";
  attempt.shell("echo never");
  ASSERT_EQ(attempt.run(), 0);
  EXPECT_EQ(attempt.report().cause, Cause::start_failed);
  EXPECT_NE(log_text(attempt.report().why).find("no-such-user"), std::string::npos);
}

// The agent told it of the node's fabric, the launcher of the operator's rules.
TEST(RunnerSetupTest, ReportsTheNetworkSettingsOfItsRanks) {
  Attempt attempt;
  NodeFabric fabric;
  FabricInterface eth0;
  eth0.name = "eth0";
  eth0.up = true;
  eth0.addresses = {{"10.0.0.4", 24}};
  fabric.interfaces = {eth0};
  ASSERT_TRUE(io::write_file_atomically(attempt.directory().fabric(), wire::encode(fabric)));
  attempt.assignment.spec.environment_variables["NCCL_SOCKET_IFNAME"] = "=eth7";
  attempt.assignment.operator_settings.variables = {{"NCCL_IB_TC", "106", "fabric.yml:2"}};
  attempt.shell("echo $NCCL_SOCKET_IFNAME $NCCL_IB_TC; sleep 60").start();
  FakeAgent agent(attempt);
  ASSERT_TRUE(attempt.printed("=eth7 106"));
  std::optional<PartReport> report = agent.report_in(PartState::running);
  while (report && report->settings.empty()) report = agent.next_report();
  ASSERT_TRUE(report);
  ASSERT_EQ(report->settings.size(), 2u);
  EXPECT_EQ(report->settings[0], (NetworkSetting{"NCCL_IB_TC", "106", SettingSource::operator_file,
                                                 "fabric.yml:2", ""}));
  EXPECT_EQ(report->settings[1].source, SettingSource::user);
  EXPECT_EQ(report->settings[1].warning, "this node has no interface eth7; it has eth0");
  ASSERT_FALSE(report->notes.empty());
  EXPECT_EQ(report->notes.back(), Why(SettingIsMistaken{{"NCCL_SOCKET_IFNAME"},
                                                        false,
                                                        true,
                                                        "",
                                                        "set by the job or its environment",
                                                        "this node has no interface eth7; it has "
                                                        "eth0"}));
}

TEST(RunnerSetupTest, ASecondRunnerIsRefused) {
  Attempt attempt;
  attempt.shell("true");
  ASSERT_EQ(attempt.run(), 0);
  EXPECT_EQ(attempt.run(), 125);
}

TEST(RunnerSetupTest, APortThatSomebodyTookIsSaid) {
  Attempt attempt;
  attempt.assignment.solo = false;
  attempt.assignment.phase = WantedPhase::prepare;
  attempt.assignment.spec.distribution.kind = Distribution::Kind::pytorch;
  attempt.shell("echo never");
  attempt.start();
  FakeAgent agent(attempt);
  const auto prepared = agent.report_in(PartState::prepared);
  ASSERT_TRUE(prepared);
  const io::Fd intruder(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  setsockopt(intruder.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(prepared->master_port);
  ASSERT_EQ(bind(intruder.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(intruder.get(), 1), 0);
  GangMember self;
  self.address = "127.0.0.1";
  attempt.assignment.phase = WantedPhase::run;
  attempt.assignment.gang = GangTable{{self}, prepared->master_port};
  agent.send(attempt.assignment);
  ASSERT_EQ(attempt.wait(), 0);
  EXPECT_EQ(attempt.report().cause, Cause::port_taken);
  EXPECT_FALSE(io::exists(attempt.directory().log(0, LogStream::out)));
}

TEST(RunnerSetupTest, AFullSpoolIsToldToWhoeverConnectsAndWhatIsTakenMakesRoom) {
  Attempt attempt;
  attempt.log_spool = mebibytes(1);
  attempt.shell("head -c 3000000 /dev/zero; echo end");
  attempt.start();
  {
    FakeAgent first(attempt);
    std::optional<PartReport> report = first.report_in(PartState::running);
    while (report && report->progress.empty()) report = first.next_report();
    ASSERT_TRUE(report);
    EXPECT_NE(report->progress.find("output of rank 0 is paused: the launcher has not yet stored"),
              std::string::npos)
        << report->progress;
  }
  FakeAgent second(attempt);
  const auto report = second.report_in(PartState::running);
  ASSERT_TRUE(report);
  EXPECT_NE(report->progress, "") << "an agent that restarted is told as well";
  EXPECT_TRUE(second.send_control(LogsTaken{{{0, 5'000'000, 0}}}));
  const auto goes_on = second.next_report();
  ASSERT_TRUE(goes_on);
  EXPECT_EQ(goes_on->progress, "");
  EXPECT_TRUE(wait_until([&] {  // again and again: whatever was written by then is taken
    second.send_control(LogsTaken{{{0, 5'000'000, 0}}});
    return attempt.has_report();
  }));
  EXPECT_EQ(attempt.wait(), 0);
  EXPECT_EQ(attempt.report().cause, Cause::completed);
  EXPECT_EQ(attempt.report().logs, (std::vector<LogSize>{{0, 3'000'004, 0}}));
}

}  // namespace
}  // namespace lockstep::runner::testing
