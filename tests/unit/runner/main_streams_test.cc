// Rank 0 of a job with a terminal or an open standard input, with the real lockstep-runner: its
// logs have what they always have, and whoever attaches has it too.

#include <gtest/gtest.h>
#include <signal.h>

#include "tests/unit/runner/attach/attach_talk.h"

namespace lockstep::runner::testing {
namespace {

class MainTest : public ::testing::Test {
 protected:
  void TearDown() override {
    if (HasFailure()) std::fprintf(stderr, "runner.log:\n%s\n", attempt_.runner_log().c_str());
  }
  void start(TerminalKind terminal, const std::string& command) {
    attempt_.assignment.spec.terminal = terminal;
    attempt_.shell(command).start();
    agent_ = std::make_unique<FakeAgent>(attempt_);
  }
  void expect_end(int code) {
    EXPECT_EQ(attempt_.wait(), 0);
    ASSERT_EQ(attempt_.report().ranks.size(), 1u);
    EXPECT_EQ(attempt_.report().ranks[0].exit_code, code);
    EXPECT_TRUE(attempt_.survivors().empty());
  }

  Attempt attempt_;
  std::unique_ptr<FakeAgent> agent_;
};

TEST_F(MainTest, ATerminalIsReadAndLogged) {
  start(TerminalKind::pty,
        "stty -echo; [ -t 0 ] && [ -t 2 ] && echo is one; read x; echo got $x; "
        "stty size; exit 5");
  AttachTalk talk(*agent_, attempt_);
  AttachMain order;
  order.size = {33, 111};
  ASSERT_TRUE(talk.open(order, 0));
  ASSERT_TRUE(talk.shows("is one\r\n"));
  talk.send(AttachResize{{44, 122}});
  talk.type("words\n");
  EXPECT_EQ(talk.code(), 5);
  EXPECT_EQ(talk.output, "is one\r\ngot words\r\n44 122\r\n");
  expect_end(5);
  EXPECT_EQ(attempt_.out(), "is one\r\ngot words\r\n44 122\r\n");
}

TEST_F(MainTest, StandardInputGoesToRankZeroAndItsStreamsStayApart) {
  start(TerminalKind::input, "cat; echo err >&2; exit 3");
  std::string bytes;
  for (int i = 0; i < 300'000; ++i) bytes += static_cast<char>(i * 7);
  AttachTalk talk(*agent_, attempt_);
  ASSERT_TRUE(talk.open(AttachMain{}, 0));
  talk.type(bytes, true);
  EXPECT_EQ(talk.code(), 3);
  EXPECT_TRUE(talk.output == bytes);
  EXPECT_EQ(talk.error, "err\n");
  expect_end(3);
  EXPECT_TRUE(attempt_.out() == bytes);
  EXPECT_EQ(attempt_.err(), "err\n");
}

TEST_F(MainTest, WithoutAClientTheLogsAreWrittenAndTheJobEnds) {
  attempt_.assignment.spec.terminal = TerminalKind::pty;
  attempt_.shell("seq 1 200000 > /dev/tty; seq 1 200000; exit 0").start();
  expect_end(0);
  EXPECT_NE(attempt_.out().find("\r\n200000\r\n1\r\n"), std::string::npos);
  EXPECT_EQ(attempt_.out().substr(attempt_.out().size() - 8), "200000\r\n");
}

TEST_F(MainTest, WhoAttachesLateHasTheLastOutputOfBefore) {
  start(TerminalKind::pty, "stty -echo; echo early; read x; echo got $x");
  ASSERT_TRUE(attempt_.printed("early\r"));
  AttachTalk talk(*agent_, attempt_);
  ASSERT_TRUE(talk.open(AttachMain{}, 0));
  ASSERT_TRUE(talk.shows("early\r\n"));
  talk.type("it\n");
  EXPECT_EQ(talk.code(), 0);
  expect_end(0);
}

TEST_F(MainTest, TheNewestClientHasIt) {
  start(TerminalKind::input, "read x; echo got $x");
  AttachTalk one(*agent_, attempt_, '1'), two(*agent_, attempt_, '2');
  ASSERT_TRUE(one.open(AttachMain{}, 0));
  ASSERT_TRUE(two.open(AttachMain{}, 0));
  two.type("two\n");
  EXPECT_EQ(two.code(), 0);
  EXPECT_EQ(two.output, "got two\n");
  expect_end(0);
}

// As a shell that does not read while the job is canceled.
TEST_F(MainTest, ACanceledJobIsNotHeldUp) {
  start(TerminalKind::pty, "trap 'echo bye; exit 1' TERM; echo up; while :; do sleep 0.02; done");
  AttachTalk talk(*agent_, attempt_);
  ASSERT_TRUE(talk.open(AttachMain{}, 0));
  ASSERT_TRUE(talk.shows("up\r\n"));
  attempt_.assignment.phase = WantedPhase::stop;
  agent_->send(attempt_.assignment);
  EXPECT_EQ(talk.code(), 1);
  EXPECT_NE(talk.output.find("bye\r\n"), std::string::npos) << talk.output;
  EXPECT_EQ(attempt_.wait(), 0);
  EXPECT_EQ(attempt_.report().cause, Cause::canceled);
}

}  // namespace
}  // namespace lockstep::runner::testing
