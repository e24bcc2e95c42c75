#include "launcher/compute/ssh/hold.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "common/wire/join_token.h"
#include "launcher/compute/ssh/held_process.h"
#include "launcher/compute/ssh/tunnel.h"

namespace lockstep::compute::ssh {
namespace {

TEST(Backoff, DoublesToAMinuteAndBeginsAnewAfterAMinuteUp) {
  Backoff backoff;
  for (const int expected : {1, 2, 4, 8, 16, 32, 60, 60})
    EXPECT_EQ(backoff.next({}), seconds(expected));
  EXPECT_EQ(backoff.next(seconds(59)), seconds(60));
  EXPECT_EQ(backoff.next(minutes(1)), seconds(1));
  EXPECT_EQ(backoff.next({}), seconds(2));
}

TEST(Tunnel, ATokenGetsTheTunnelsAddresses) {
  const wire::JoinToken token{PublicKey("rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"),
                              "tcp://head:7072",
                              "tcp://head:7070",
                              "tcp://head:7071",
                              "secret",
                              Instant{5}};
  const auto changed = token_through(wire::encode(token), 20'001);
  ASSERT_TRUE(changed) << changed.error().message;
  auto expected = token;
  expected.control_endpoint = "tcp://127.0.0.1:20001";
  expected.bulk_endpoint = "tcp://127.0.0.1:20002";
  expected.join_endpoint = "tcp://127.0.0.1:20003";
  EXPECT_EQ(*wire::decode_join_token(*changed), expected);
  EXPECT_FALSE(token_through("nonsense", 20'001));
}

bool is_gone(pid_t pid) {
  for (int i = 0; i < 500 && ::kill(pid, 0) == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return ::kill(pid, 0) != 0;
}

pid_t pid_in(const std::string& path) {
  for (int i = 0; i < 500; ++i) {
    const auto text = io::read_file(path);
    if (text && text->ends_with("\n")) return std::atoi(text->c_str());
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return 0;
}

TEST(HeldProcess, EndsWithWhatItStarted) {
  char path[] = "/tmp/lockstep-held-XXXXXX";
  ::close(::mkstemp(path));
  auto held = HeldProcess::start(
      {"sh", "-c", std::string("sleep 1000 & echo $! > ") + path + "; echo no >&2; wait"},
      {"LC_ALL=C"});
  ASSERT_TRUE(held) << held.error().message;
  const pid_t child = pid_in(path);
  ASSERT_GT(child, 0);
  EXPECT_EQ((*held)->wait(-1, milliseconds(10)), HeldProcess::Wait::timed_out);
  EXPECT_EQ((*held)->errors(), "no\n");
  held->reset();
  EXPECT_TRUE(is_gone(child));
  (void)io::remove_tree(path);
}

TEST(HeldProcess, TellsHowItEnded) {
  for (const auto& [script, how] : {std::pair{"exit 7", "with 7"}, {"kill -9 $$", "by signal 9"}}) {
    auto held = HeldProcess::start({"sh", "-c", script}, {});
    ASSERT_TRUE(held) << held.error().message;
    EXPECT_EQ((*held)->wait(-1, seconds(60)), HeldProcess::Wait::ended);
    EXPECT_EQ((*held)->how_it_ended(), how);
  }
  EXPECT_FALSE(HeldProcess::start({"no-such-program-anywhere"}, {}));
}

TEST(HeldProcess, StopsToWaitWhenItIsTold) {
  auto held = HeldProcess::start({"sleep", "1000"}, {});
  ASSERT_TRUE(held) << held.error().message;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[1]);
  EXPECT_EQ((*held)->wait(ends[0], Duration(-1)), HeldProcess::Wait::stopped);
  ::close(ends[0]);
}

// The launcher kills the process that it knows; what that one's child started has to go too.
TEST(RunGuarded, TheChildIsToldWhenItsParentIsKilled) {
  char path[] = "/tmp/lockstep-guarded-XXXXXX";
  ::close(::mkstemp(path));
  const pid_t parent = ::fork();
  if (parent == 0) {
    ::_exit(run_guarded([&] {
      auto held = HeldProcess::start(
          {"sh", "-c", std::string("echo $$ > ") + path + "; exec sleep 1000"}, {});
      sigset_t signals;
      sigemptyset(&signals);
      sigaddset(&signals, SIGTERM);
      int number = 0;
      ::sigwait(&signals, &number);
      return 0;
    }));
  }
  const pid_t held = pid_in(path);
  ASSERT_GT(held, 0);
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  EXPECT_TRUE(is_gone(held));
  (void)io::remove_tree(path);
}

TEST(RunGuarded, ReturnsTheExitCode) {
  EXPECT_EQ(run_guarded([] { return 5; }), 5);
  EXPECT_EQ(run_guarded([]() -> int {
              ::kill(::getpid(), SIGKILL);
              return 0;
            }),
            128 + SIGKILL);
}

}  // namespace
}  // namespace lockstep::compute::ssh
