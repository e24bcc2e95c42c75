// Attachments to ranks in a container: programs run in it, as the rank does, and end with it.

#include <gtest/gtest.h>
#include <signal.h>

#include "tests/unit/runner/attach/attach_talk.h"
#include "tests/unit/runner/container/container_fixture.h"

namespace lockstep::runner::testing {
namespace {

class ContainerAttachTest : public ContainerTest {
 protected:
  void start_rank() {
    attempt_.shell("id -u; pwd; cat /proc/self/cgroup; echo up; exec sleep 600").start();
    agent_ = std::make_unique<FakeAgent>(attempt_);
    ASSERT_TRUE(attempt_.printed("up"));
  }
  void stop_to_end() {
    attempt_.assignment.phase = WantedPhase::stop;
    agent_->send(attempt_.assignment);
    EXPECT_EQ(attempt_.wait(), 0);
    expect_nothing_left();
  }

  std::unique_ptr<FakeAgent> agent_;
};

TEST_F(ContainerAttachTest, AProgramRunsWhereItsRankDoes) {
  start_rank();
  const std::string wanted = attempt_.out().substr(0, attempt_.out().find("up\n"));
  AttachTalk talk(*agent_, attempt_);
  ASSERT_TRUE(talk.open(program_order(
      {"sh", "-c", "id -u; pwd; cat /proc/self/cgroup; echo $OF_THE_IMAGE; cat; exit 3"})));
  talk.type("typed\n", true);
  EXPECT_EQ(talk.code(), 3) << talk.error;
  EXPECT_EQ(talk.output, wanted + "1\ntyped\n");
  stop_to_end();
}

TEST_F(ContainerAttachTest, ATerminalIsOneAndLeavesNothing) {
  start_rank();
  AttachTalk talk(*agent_, attempt_);
  AttachProgram order = program_order({}, true);
  order.size = {33, 111};
  ASSERT_TRUE(talk.open(order));
  talk.type("stty -echo; PS1=; stty size; [ -t 0 ] && echo is_$((1 + 1))\n");
  ASSERT_TRUE(talk.shows("33 111\r\n"));
  ASSERT_TRUE(talk.shows("is_2\r\n"));
  talk.type("(setsid sh -c \"trap '' HUP TERM; while :; do sleep 1; done\" &); exit 7\n");
  EXPECT_EQ(talk.code(), 7);
  EXPECT_EQ(attempt_.survivors().size(), 1u) << "the rank alone";
  stop_to_end();
}

TEST_F(ContainerAttachTest, ACanceledJobEndsIt) {
  start_rank();
  AttachTalk talk(*agent_, attempt_);
  ASSERT_TRUE(talk.open(program_order({"sh", "-c", "trap '' HUP TERM; echo on; sleep 600"})));
  ASSERT_TRUE(talk.shows("on\n"));
  attempt_.assignment.phase = WantedPhase::stop;
  agent_->send(attempt_.assignment);
  EXPECT_EQ(talk.code(), 125);
  EXPECT_EQ(attempt_.wait(), 0);
  expect_nothing_left();
}

TEST_F(ContainerAttachTest, AnImageWithoutAShellNeedsAProgram) {
  container().shell.clear();
  attempt_.argv({"sleep", "600"}).start();
  agent_ = std::make_unique<FakeAgent>(attempt_);
  AttachTalk talk(*agent_, attempt_);
  EXPECT_FALSE(talk.open(program_order({}, true)));
  EXPECT_NE(talk.refused->message.find("no shell"), std::string::npos);
  stop_to_end();
}

}  // namespace
}  // namespace lockstep::runner::testing
