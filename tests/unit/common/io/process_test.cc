#include "common/io/process.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/common/io/helpers.h"

namespace lockstep::io {
namespace {

bool wait_until(const std::function<bool()>& condition) {
  EventLoop loop;
  return turn_until(loop, condition);
}

DetachedStart shell(const std::string& script, const std::string& log = "") {
  DetachedStart start;
  start.program = "/bin/sh";
  start.arguments = {"sh", "-c", script};
  start.environment = {{"PATH", "/usr/bin:/bin"}, {"GREETING", "hello"}};
  start.log_path = log;
  return start;
}

TEST(ProcessTest, KnowsItselfAndItsTextForm) {
  const auto self = identify(::getpid());
  ASSERT_TRUE(self);
  EXPECT_TRUE(is_alive(*self));
  EXPECT_EQ(process_identity_from(to_text(*self)), self);
  for (const char* bad : {"", "12", "x 1", "0 1", "-3 1", "12 34 56", "12 34x"}) {
    EXPECT_FALSE(process_identity_from(bad)) << bad;
  }
}

TEST(ProcessTest, AReusedPidIsNotMistaken) {
  auto other = *identify(::getpid());
  other.start_ticks -= 1;  // an earlier process that had our pid
  EXPECT_FALSE(is_alive(other));
  EXPECT_EQ(open_process(other).error().code, ErrorCode::not_found);
  // Signal 9 to that earlier process must not hit us.
  EXPECT_TRUE(signal_process(other, SIGKILL));
}

TEST(ProcessTest, AZombieIsNotAlive) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  const auto identity = identify(child);
  EXPECT_TRUE(identity);
  EXPECT_TRUE(wait_until([&] { return !is_alive(*identity); }));
  EXPECT_TRUE(is_ending(*identity));
  EXPECT_FALSE(is_ending(*identify(::getpid())));
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
}

TEST(ProcessTest, ADetachedProcessRunsWithExactlyItsEnvironmentAndLog) {
  const TempDir dir;
  const auto started = start_detached(
      shell("echo $GREETING; pwd; env | wc -l; ps -o sid= -p $$ 2>/dev/null | wc -l", dir / "log"));
  ASSERT_TRUE(started) << started.error().message;
  EXPECT_GT(started->pid, 0);
  ASSERT_TRUE(wait_until([&] { return !is_alive(*started); }));
  const auto log = read_file(dir / "log");
  ASSERT_TRUE(log);
  EXPECT_EQ(log->substr(0, 8), "hello\n/\n");
}

TEST(ProcessTest, ADetachedProcessIsNotOurChildAndOutlivesNothingOfOurs) {
  const auto started = start_detached(shell("exec sleep 600"));
  ASSERT_TRUE(started) << started.error().message;
  EXPECT_EQ(::waitpid(started->pid, nullptr, WNOHANG), -1);
  EXPECT_EQ(::getsid(started->pid) == ::getsid(0), false);
  const auto watched = open_process(*started);
  ASSERT_TRUE(watched);
  pollfd poll_fd{watched->get(), POLLIN, 0};
  EXPECT_EQ(::poll(&poll_fd, 1, 0), 0);
  EXPECT_TRUE(signal_process(*started, SIGKILL));
  EXPECT_EQ(::poll(&poll_fd, 1, 20'000), 1) << "the pidfd tells the death";
  EXPECT_TRUE(wait_until([&] { return !is_alive(*started); }));
}

TEST(ProcessTest, BlockedSignalsAreNotInherited) {
  sigset_t block, before;
  sigemptyset(&block);
  sigaddset(&block, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &block, &before);
  const auto started = start_detached(shell("exec sleep 600"));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ASSERT_TRUE(started);
  EXPECT_TRUE(signal_process(*started, SIGTERM));
  EXPECT_TRUE(wait_until([&] { return !is_alive(*started); }));
}

TEST(ProcessTest, DescriptorsAreNotInherited) {
  const TempDir dir;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);  // not close-on-exec, as a library might leave them
  const auto started = start_detached(shell("ls /proc/self/fd | wc -l", dir / "log"));
  ASSERT_TRUE(started);
  ASSERT_TRUE(wait_until([&] { return !is_alive(*started); }));
  ::close(ends[0]);
  ::close(ends[1]);
  EXPECT_EQ(std::stoi(read_file(dir / "log").value()), 4);  // 0, 1, 2 and ls's own
}

TEST(ProcessTest, AStartThatFailsSaysWhy) {
  DetachedStart start;
  start.program = "/nonexistent/program";
  start.arguments = {"program"};
  const auto missing = start_detached(start);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("/nonexistent/program"), std::string::npos);
  EXPECT_NE(missing.error().message.find("No such file"), std::string::npos);

  DetachedStart elsewhere = shell("true");
  elsewhere.directory = "/nonexistent/place";
  EXPECT_NE(start_detached(elsewhere).error().message.find("/nonexistent/place"),
            std::string::npos);

  DetachedStart no_log = shell("true", "/nonexistent/log");
  EXPECT_NE(start_detached(no_log).error().message.find("/nonexistent/log"), std::string::npos);
}

TEST(ProcessTest, FindsUsers) {
  const auto root = find_user("root");
  ASSERT_TRUE(root);
  EXPECT_EQ(root->uid, 0u);
  EXPECT_FALSE(root->groups.empty());
  EXPECT_EQ(find_user("no_such_user_here").error().code, ErrorCode::not_found);
  EXPECT_EQ(current_user().value().uid, ::geteuid());
}

TEST(ProcessTest, NumbersOfThisHostAreStable) {
  EXPECT_FALSE(current_boot().value.empty());
  EXPECT_EQ(current_boot(), current_boot());
  EXPECT_EQ(current_host_id(), current_host_id());
  EXPECT_FALSE(host_name().empty());
  EXPECT_NE(random_u64(), random_u64());
  EXPECT_TRUE(exists(program_directory() + "/io_test"));
}

TEST(ProcessTest, OtherProgramsAreFoundBesideOursOrMissedByName) {
  EXPECT_EQ(find_program("io_test").value(), program_directory() + "/io_test");
  const auto missing = find_program("lockstep-nothing");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_NE(
      missing.error().message.find("no executable lockstep-nothing in " + program_directory()),
      std::string::npos);
  EXPECT_NE(missing.error().message.find("/libexec/lockstep"), std::string::npos);
  EXPECT_FALSE(bundle_directory());
}

}  // namespace
}  // namespace lockstep::io
