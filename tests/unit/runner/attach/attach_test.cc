// Attachments to ranks of the real lockstep-runner: where programs run and as whom, terminals,
// signals, stacks, and that nothing of them is left.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "tests/unit/runner/attach/attach_talk.h"

namespace lockstep::runner::testing {
namespace {

constexpr unsigned kUserOfRunner = 65534;

class AttachTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam() && running_as_root()) attempt_.runner_uid = kUserOfRunner;
    attempt_.shell("echo up; exec sleep 600");
  }
  void TearDown() override {
    if (HasFailure()) std::fprintf(stderr, "runner.log:\n%s\n", attempt_.runner_log().c_str());
  }
  void start() {
    attempt_.start();
    agent_ = std::make_unique<FakeAgent>(attempt_);
    for (int rank = 0; rank < attempt_.assignment.ranks_here(); ++rank)
      ASSERT_TRUE(attempt_.printed("up", rank));
  }
  void stop() {
    attempt_.assignment.phase = WantedPhase::stop;
    agent_->send(attempt_.assignment);
  }
  void stop_to_end() {
    stop();
    EXPECT_EQ(attempt_.wait(), 0);
    EXPECT_TRUE(attempt_.survivors().empty());
    EXPECT_TRUE(attempt_.leftover_cgroups().empty());
  }
  std::string output_of(std::vector<std::string> argv) {
    AttachTalk talk(*agent_, attempt_, 'o');
    EXPECT_TRUE(talk.open(program_order(std::move(argv))));
    EXPECT_EQ(talk.code(), 0) << talk.error;
    talk.send(AttachClose{});
    return talk.output;
  }

  Attempt attempt_;
  std::unique_ptr<FakeAgent> agent_;
};

INSTANTIATE_TEST_SUITE_P(As, AttachTest, ::testing::Values(false, true), [](const auto& param) {
  return std::string(param.param ? "OrdinaryUser" : "Self");
});

TEST_P(AttachTest, AProgramRunsAsItsRankDoes) {
  attempt_.assignment.spec.environment_variables["OF_THE_JOB"] = "a b";
  attempt_.shell(
      "id -u; pwd; umask; readlink /proc/self/ns/pid /proc/self/ns/mnt; "
      "cut -d: -f3 /proc/self/cgroup | sort -u; echo $OF_THE_JOB $TMPDIR; echo up; "
      "exec sleep 600");
  start();
  // The runner moves both into their cgroups beside their start.
  const std::string wanted = attempt_.out().substr(0, attempt_.out().find("up\n"));
  const std::vector<std::string> words = {
      "sh", "-c",
      "id -u; pwd; umask; readlink /proc/self/ns/pid /proc/self/ns/mnt; "
      "cut -d: -f3 /proc/self/cgroup | sort -u > /dev/null; echo $OF_THE_JOB $TMPDIR"};
  const std::string got = output_of(words);
  EXPECT_EQ(got.substr(0, got.find("mnt:[")), wanted.substr(0, wanted.find("mnt:[")));
  EXPECT_NE(got.find("\na b /"), std::string::npos) << got;
  stop_to_end();
}

// `early` is attached as soon as the rank has started, before the rank has joined its cgroup.
TEST_P(AttachTest, ItsCgroupIsThatOfItsRank) {
  attempt_.start();
  agent_ = std::make_unique<FakeAgent>(attempt_);
  AttachTalk early(*agent_, attempt_, 'e'), late(*agent_, attempt_, 'l');
  const auto order = program_order({"sh", "-c", "echo on; exec sleep 600"});
  ASSERT_TRUE(early.open(order, std::nullopt, 0));
  ASSERT_TRUE(attempt_.printed("up", 0));
  if (attempt_.runner_log().find("under cgroup") == std::string::npos)
    GTEST_SKIP() << "an ordinary user has no cgroups";
  ASSERT_TRUE(early.shows("on\n"));
  ASSERT_TRUE(late.open(order));
  ASSERT_TRUE(late.shows("on\n"));
  const auto cgroup_of = [](int pid) {
    return io::read_file("/proc/" + std::to_string(pid) + "/cgroup").value_or("");
  };
  // All are moved there beside their start.
  EXPECT_TRUE(wait_until([&] {
    const std::vector<int> all = attempt_.survivors();
    return all.size() == 3 && cgroup_of(all[0]) != cgroup_of(attempt_.pid()) &&
           std::all_of(all.begin(), all.end(),
                       [&](int pid) { return cgroup_of(pid) == cgroup_of(all[0]); });
  }));
  stop_to_end();
}

TEST_P(AttachTest, ExitCodesStreamsAndFailuresAreToldApart) {
  start();
  AttachTalk one(*agent_, attempt_, '1'), two(*agent_, attempt_, '2'),
      three(*agent_, attempt_, '3');
  ASSERT_TRUE(one.open(program_order({"sh", "-c", "echo out; echo err >&2; exit 9"})));
  EXPECT_EQ(one.code(), 9);
  EXPECT_EQ(one.output, "out\n");
  EXPECT_EQ(one.error, "err\n");
  EXPECT_EQ(one.opened->rank, 0);
  ASSERT_TRUE(two.open(program_order({"sh", "-c", "kill -USR1 $$"})));
  EXPECT_EQ(two.code(), 128 + SIGUSR1);
  ASSERT_TRUE(three.open(program_order({"no-such-program"})));
  EXPECT_EQ(three.code(), 127);
  EXPECT_EQ(three.end->message, "no-such-program: No such file or directory");
  stop_to_end();
}

TEST_P(AttachTest, MegabytesGoThroughExactlyBothWays) {
  start();
  std::mt19937 random(7);
  std::string bytes(3u << 20, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  AttachTalk talk(*agent_, attempt_);
  ASSERT_TRUE(talk.open(program_order({"cat"})));
  talk.type(bytes, true);
  EXPECT_EQ(talk.code(), 0);
  EXPECT_TRUE(talk.output == bytes) << talk.output.size();
  stop_to_end();
}

TEST_P(AttachTest, ATerminalHasAShellAndItsSize) {
  start();
  AttachTalk talk(*agent_, attempt_);
  AttachProgram order = program_order({}, true);
  order.size = {33, 111};
  ASSERT_TRUE(talk.open(order));
  talk.type("stty -echo; PS1=; stty size; [ -t 0 ] && echo is_$((1 + 1)); echo $TERM\n");
  ASSERT_TRUE(talk.shows("33 111\r\n"));
  ASSERT_TRUE(talk.shows("is_2\r\nxterm\r\n"));
  talk.send(AttachResize{{44, 122}});
  talk.type("stty size\n");
  ASSERT_TRUE(talk.shows("44 122\r\n"));
  talk.type(
      "sh -c 'trap \"echo told; exit 3\" USR1; echo rea''dy; while :; do sleep 0.02; done'\n");
  ASSERT_TRUE(talk.shows("ready\r\n"));
  talk.send(AttachNotify{SIGUSR1});
  ASSERT_TRUE(talk.shows("told\r\n"));
  talk.type("sleep 600 & (setsid sleep 600 &); exit 7\n");
  EXPECT_EQ(talk.code(), 7);
  EXPECT_EQ(attempt_.survivors().size(), 1u) << "the rank alone";
  stop_to_end();
}

TEST_P(AttachTest, TheEndOfItsInputEndsAShellOnATerminal) {
  start();
  AttachTalk talk(*agent_, attempt_);
  ASSERT_TRUE(talk.open(program_order({"sh", "-c", "read line; echo \"got $line\"; cat"}, true)));
  talk.type("words\nrest", true);
  EXPECT_EQ(talk.code(), 0);
  EXPECT_NE(talk.output.find("got words\r\n"), std::string::npos);
  stop_to_end();
}

TEST_P(AttachTest, ASecondOpeningStartsNothingAndRepairs) {
  start();
  AttachTalk talk(*agent_, attempt_);
  ASSERT_TRUE(talk.open(program_order({"sh", "-c", "echo $$; cat"})));
  ASSERT_TRUE(talk.shows("\n"));
  const std::string pid = talk.output;
  talk.open_again();
  ASSERT_TRUE(talk.until([&] { return talk.opened.has_value(); }));
  talk.type("x", true);
  EXPECT_EQ(talk.code(), 0);
  EXPECT_EQ(talk.output, pid + "x");
  talk.end.reset();
  talk.open_again();
  EXPECT_EQ(talk.code(), 0) << "it is told again";
  talk.send(AttachClose{});
  talk.opened.reset();
  EXPECT_FALSE(talk.open(program_order({"sh"}))) << "an id starts one thing, once";
  stop_to_end();
}

TEST_P(AttachTest, WhatAClientLeavesIsEnded) {
  start();
  AttachTalk talk(*agent_, attempt_);
  ASSERT_TRUE(talk.open(program_order(
      {"sh", "-c",
       "trap '' HUP TERM; (setsid sh -c \"trap '' HUP TERM; while :; do sleep 1; done\" &); "
       "echo on; while :; do sleep 1; done"})));
  ASSERT_TRUE(talk.shows("on\n"));
  talk.send(AttachClose{});
  EXPECT_TRUE(wait_until([this] { return attempt_.survivors().size() == 1; }));
  stop_to_end();
}

TEST_P(AttachTest, TheEndOfTheJobEndsThemAndIsNotHeldUp) {
  start();
  AttachTalk talk(*agent_, attempt_);
  ASSERT_TRUE(talk.open(program_order({"sh", "-c", "trap '' HUP TERM; echo on; exec sleep 600"})));
  ASSERT_TRUE(talk.shows("on\n"));
  AttachTalk unread(*agent_, attempt_, 'u');
  ASSERT_TRUE(unread.open(program_order({"yes"})));
  stop();
  EXPECT_EQ(talk.code(), 125);
  EXPECT_EQ(talk.end->message, "the job's ranks on this node are being ended");
  EXPECT_EQ(attempt_.wait(), 0);
  EXPECT_EQ(attempt_.report().cause, Cause::canceled);
  EXPECT_TRUE(attempt_.survivors().empty());
}

// The frame that said so may be lost with a relay.
TEST_P(AttachTest, AClientMayAskOnceMoreWhenThePartHasEnded) {
  start();
  AttachTalk talk(*agent_, attempt_);
  ASSERT_TRUE(talk.open(program_order({"sleep", "600"})));
  stop();
  ASSERT_TRUE(agent_->report_in(PartState::finished));
  talk.open_again();
  EXPECT_EQ(talk.code(), 125);
  talk.send(AttachClose{});
  EXPECT_EQ(attempt_.wait(), 0);
}

TEST_P(AttachTest, ASignalGoesToTheRanksThatItNames) {
  attempt_.ranks(2).shell("trap 'echo told; exit 4' USR1; echo up; while :; do sleep 0.02; done");
  start();
  AttachTalk talk(*agent_, attempt_);
  ASSERT_TRUE(talk.open(AttachSignal{SIGUSR1}, 1));
  EXPECT_EQ(talk.code(), 0);
  EXPECT_EQ(attempt_.wait(), 0);
  EXPECT_EQ(attempt_.out(1), "up\ntold\n");
  EXPECT_EQ(attempt_.out(0), "up\n");
  EXPECT_EQ(attempt_.report().first_failed_rank, 1);
}

TEST_P(AttachTest, WhatIsNotThereIsRefused) {
  start();
  AttachTalk other(*agent_, attempt_, 'r');
  EXPECT_FALSE(other.open(program_order({"true"}), 5));
  EXPECT_EQ(other.refused->message, "rank 5 is not on this node, which has ranks 0 to 0");
  AttachTalk bad(*agent_, attempt_, 'b');
  EXPECT_FALSE(bad.open(AttachMain{}));
  EXPECT_NE(bad.refused->message.find("run --pty"), std::string::npos);
  stop_to_end();
}

// A tool in the job's PATH, as the tools of its environment are.
TEST_P(AttachTest, StacksAreLinesOfTheToolsThatAreThere) {
  TemporaryDirectory tools;
  ASSERT_TRUE(io::write_file_atomically(tools.path() + "/eu-stack",
                                        "#!/bin/sh\necho \"stack of $2\"; echo noise >&2\n", 0755));
  attempt_.assignment.spec.environment_variables["PATH"] = tools.path() + ":/usr/bin:/bin";
  // Until the shell's child is `sleep`, it is a shell, too.
  attempt_.shell("sleep 600 & until grep -qx sleep /proc/$!/comm; do :; done; echo up; wait");
  start();
  AttachTalk talk(*agent_, attempt_);
  ASSERT_TRUE(talk.open(AttachStacks{}));
  EXPECT_EQ(talk.code(), 0);
  const std::string scope = io::read_file("/proc/sys/kernel/yama/ptrace_scope").value_or("0");
  if (scope[0] > '1') GTEST_SKIP() << "kernel.yama.ptrace_scope is " << scope;
  EXPECT_EQ(std::count(talk.output.begin(), talk.output.end(), '\n'), 2) << talk.output;
  EXPECT_NE(talk.output.find("\"command\":\"sleep 600\""), std::string::npos) << talk.output;
  EXPECT_NE(talk.output.find("\"text\":\"stack of "), std::string::npos) << talk.output;
  EXPECT_NE(talk.output.find("\"tool\":\"eu-stack\""), std::string::npos) << talk.output;
  stop_to_end();
}

}  // namespace
}  // namespace lockstep::runner::testing
