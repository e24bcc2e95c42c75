// Programs below a keeper of lockstep-spawn: a terminal, signals, and that nothing of them is left.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <map>

#include "runner/spawn/client.h"
#include "tests/unit/runner/process_probe.h"

namespace lockstep::runner::testing {
namespace {

const std::string kKeeperSpawn = std::string(LOCKSTEP_BIN_DIR) + "/lockstep-spawn";

// A pseudo-terminal, as whoever shows it reads it.
class Terminal {
 public:
  Terminal() : master_(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)) {
    if (!master_ || unlockpt(master_.get()) != 0) std::abort();
    slave_.reset(ioctl(master_.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  }
  int slave() const { return slave_.get(); }
  void close_slave() { slave_.reset(); }
  void type(const std::string& text) { EXPECT_TRUE(io::write_all(master_.get(), text)); }
  // Waits until this was shown, for a minute at most.
  bool shows(const std::string& text) {
    return wait_until([&] {
      take();
      return shown_.find(text) != std::string::npos;
    });
  }
  // All that was shown until nobody had the terminal any more.
  std::string all() {
    close_slave();
    EXPECT_TRUE(wait_until([&] { return take(); })) << "somebody still has it: " << shown_;
    return shown_;
  }

 private:
  // True: nobody has the other side.
  bool take() {
    char buffer[4096];
    while (true) {
      const ssize_t length = read(master_.get(), buffer, sizeof buffer);
      if (length <= 0) return length == 0 || errno == EIO;
      shown_.append(buffer, static_cast<std::size_t>(length));
    }
  }
  io::Fd master_, slave_;
  std::string shown_;
};

class KeeperTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    spawn::Namespaces namespaces;
    namespaces.pid = GetParam();
    namespaces.user = GetParam() && !running_as_root();
    auto client = spawn::Client::launch(
        loop_, kKeeperSpawn, namespaces,
        {[this](int id, int pid) { pids_[id] = pid; },
         [this](int id, int error, spawn::SpawnStage stage) {
           failures_[id] = {error, stage};
         },
         [this](int id, int status, const spawn::Spent&) { exits_[id] = status; },
         [this] { ++empties_; }, [] {}});
    ASSERT_TRUE(client) << client.error().message;
    client_ = *std::move(client);
  }
  static spawn::RankProcess words(std::vector<std::string> argv) {
    spawn::RankProcess process;
    process.program = argv.at(0);
    process.path = "/usr/bin:/bin";
    process.argv = std::move(argv);
    process.environment = {{"PATH", "/usr/bin:/bin"}};
    return process;
  }
  void start(int id, const spawn::RankProcess& process, int flags = spawn::kKept) {
    const io::Fd null = *io::open_file("/dev/null", 0);
    ASSERT_TRUE(client_->start(id, process, null.get(), out_.writer(), out_.writer(), -1, flags));
  }
  void start(int id, const std::string& script, int flags = spawn::kKept) {
    start(id, words({"sh", "-c", script}), flags);
  }
  void start_on(Terminal& terminal, int id, const std::string& script) {
    const int fd = terminal.slave();
    ASSERT_TRUE(client_->start(id, words({"bash", "--norc", "-c", script}), fd, fd, fd, -1,
                               spawn::kKept | spawn::kTerminal));
    terminal.close_slave();
  }
  bool started(int id) {
    return turn_until(loop_, [&] { return pids_.count(id) > 0; });
  }
  bool exited(int id) {
    return turn_until(loop_, [&] { return exits_.count(id) > 0; });
  }

  io::EventLoop loop_;
  Pipe out_;
  std::map<int, int> pids_, exits_;
  std::map<int, std::pair<int, spawn::SpawnStage>> failures_;
  int empties_ = 0;
  std::unique_ptr<spawn::Client> client_;
};

INSTANTIATE_TEST_SUITE_P(Isolation, KeeperTest, ::testing::Values(false, true),
                         [](const auto& param) {
                           return std::string(param.param ? "PidNamespace" : "Subreaper");
                         });

TEST_P(KeeperTest, TheStatusIsThatOfTheProgram) {
  start(0, "exit 3");
  start(1, "kill -9 $$");
  start(2, words({"no-such-program"}));
  ASSERT_TRUE(exited(0) && exited(1));
  EXPECT_EQ(WEXITSTATUS(exits_[0]), 3);
  EXPECT_EQ(WTERMSIG(exits_[1]), SIGKILL);
  ASSERT_TRUE(turn_until(loop_, [&] { return failures_.count(2) > 0; }));
  EXPECT_EQ(failures_[2], std::make_pair(ENOENT, spawn::SpawnStage::exec));
  EXPECT_EQ(exits_.count(2), 0u);
}

TEST_P(KeeperTest, ThePidIsThatOfTheProgram) {
  start(0, "echo $$; exec sleep 600");
  ASSERT_TRUE(started(0));
  EXPECT_EQ(out_.read_line(), std::to_string(pids_[0]) + "\n");
  client_->end(0);
  ASSERT_TRUE(exited(0));
  EXPECT_EQ(WTERMSIG(exits_[0]), SIGKILL);
}

TEST_P(KeeperTest, ItsProgramHasOnlyItsThreeFilesAndCleanSignals) {
  start(0,
        "ls /proc/self/fd | tr '\\n' ' '; grep -E 'Sig(Ign|Blk)' /proc/self/status | cut -f2 | "
        "sort -u; cat /proc/self/oom_score_adj");
  ASSERT_TRUE(exited(0));
  EXPECT_EQ(out_.read_to_end(), "0 1 2 3 0000000000000000\n1000\n");  // 3 is ls's own
}

TEST_P(KeeperTest, ItsProgramGetsSmallPages) {
  start(0, "grep THP_enabled /proc/self/status | cut -f2");
  ASSERT_TRUE(exited(0));
  EXPECT_EQ(out_.read_to_end(), "0\n");
}

TEST_P(KeeperTest, WhatIsLeftOfItEndsWithIt) {
  const std::vector<std::string> kinds = {
      "sleep 600 & exit 5",
      "nohup sleep 600 >/dev/null & exit 5",
      "setsid sleep 600 & sleep 0.1; exit 5",
      "(setsid sh -c \"trap '' TERM HUP INT; while :; do read x < /dev/zero; done\" &); exit 5",
      "(setsid sh -c '(setsid sleep 600 &) ; sleep 600' &) ; sleep 0.1; kill -9 $$",
  };
  for (std::size_t i = 0; i < kinds.size(); ++i) start(static_cast<int>(i), kinds[i]);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    ASSERT_TRUE(exited(static_cast<int>(i))) << kinds[i];
    const int status = exits_[static_cast<int>(i)];
    EXPECT_TRUE(i + 1 == kinds.size() ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 5)
        << kinds[i];
  }
  EXPECT_TRUE(out_.read_to_end()) << "some process held the pipe";
}

// As the last command of a pipe, or a `tee` of bash, which the shell does not wait for.
TEST_P(KeeperTest, WhatIsAboutToEndMayEnd) {
  start(0, "(echo late) & exit 0");
  ASSERT_TRUE(exited(0));
  EXPECT_EQ(out_.read_to_end(), "late\n");
}

TEST_P(KeeperTest, AnOrderEndsAllOfItAndNothingElse) {
  start(0, "exec sleep 600", 0);
  start(1, "trap '' TERM HUP INT; echo up; while :; do read x < /dev/zero; done");
  start(2, "exec sleep 600");
  ASSERT_EQ(out_.read_line(), "up\n");
  ASSERT_TRUE(started(0) && started(2));
  client_->end(0);  // a rank
  client_->end(99);
  client_->end(1);
  ASSERT_TRUE(exited(1));
  EXPECT_EQ(WTERMSIG(exits_[1]), SIGKILL);
  EXPECT_EQ(exits_.size(), 1u);
  client_->kill_all();
  ASSERT_TRUE(exited(0) && exited(2));
  EXPECT_TRUE(turn_until(loop_, [&] { return empties_ > 0; }));
  EXPECT_TRUE(out_.read_to_end());
}

TEST_P(KeeperTest, SignalsForAllRanksDoNotReachIt) {
  start(0, "trap 'exit 5' TERM; echo rank; while :; do sleep 0.02; done", 0);
  ASSERT_EQ(out_.read_line(), "rank\n");
  start(1, "trap 'echo wrong; exit 6' TERM; echo kept; while :; do sleep 0.02; done");
  ASSERT_EQ(out_.read_line(), "kept\n");
  client_->warn_all(SIGTERM);
  ASSERT_TRUE(exited(0));
  client_->signal_all(SIGTERM);
  client_->signal(1, SIGUSR1);  // after it: whatever was to come has come
  ASSERT_TRUE(exited(1));
  EXPECT_EQ(WTERMSIG(exits_[1]), SIGUSR1);
  EXPECT_EQ(out_.read_to_end(), "");
}

TEST_P(KeeperTest, ASignalReachesOneRankAlone) {
  for (const int id : {0, 1})
    start(id, "trap 'exit 5' USR1; echo up; while :; do sleep 0.02; done", 0);
  ASSERT_EQ(out_.read_line(), "up\n");
  ASSERT_EQ(out_.read_line(), "up\n");
  client_->signal(1, SIGUSR1);
  ASSERT_TRUE(exited(1));
  EXPECT_EQ(WEXITSTATUS(exits_[1]), 5);
  EXPECT_EQ(exits_.count(0), 0u);
  client_->kill_all();
  ASSERT_TRUE(exited(0));
}

TEST_P(KeeperTest, ATerminalIsOne) {
  Terminal terminal;
  const winsize size{31, 97, 0, 0};
  ioctl(terminal.slave(), TIOCSWINSZ, &size);
  start_on(terminal, 0,
           "[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && stty size; : > /dev/tty && echo controls; exit 4");
  ASSERT_TRUE(exited(0));
  EXPECT_EQ(WEXITSTATUS(exits_[0]), 4);
  EXPECT_EQ(terminal.all(), "31 97\r\ncontrols\r\n");
}

TEST_P(KeeperTest, KeysAndSignalsReachTheForegroundAlone) {
  Terminal terminal;
  start_on(terminal, 0,
           "set -m; trap 'echo shell got it' INT USR1; "
           "sh -c 'trap \"echo one; exit 7\" INT; echo ready 1; while :; do sleep 0.02; done'; "
           "echo code $?; "
           "sh -c 'trap \"echo two; exit 8\" USR1; echo ready 2; while :; do sleep 0.02; done'; "
           "echo code $?; exit 9");
  ASSERT_TRUE(terminal.shows("ready 1"));
  terminal.type("\x03");
  ASSERT_TRUE(terminal.shows("code 7"));
  ASSERT_TRUE(terminal.shows("ready 2"));
  client_->signal(0, SIGUSR1);
  ASSERT_TRUE(exited(0));
  EXPECT_EQ(WEXITSTATUS(exits_[0]), 9);
  const std::string all = terminal.all();
  EXPECT_NE(all.find("code 8"), std::string::npos) << all;
  EXPECT_EQ(all.find("shell got it"), std::string::npos) << all;
}

TEST_P(KeeperTest, AShellWithJobsLeavesNone) {
  Terminal terminal;
  start_on(terminal, 0,
           "set -m; sleep 600 & (setsid sleep 600 &); nohup sleep 600 >/dev/null 2>&1 & sleep 0.1; "
           "exit 3");
  ASSERT_TRUE(exited(0));
  EXPECT_EQ(WEXITSTATUS(exits_[0]), 3);
  terminal.all();
}

TEST_P(KeeperTest, ItDiesWithSpawn) {
  start(0, "trap '' TERM HUP; (setsid sleep 600 &); echo up; while read x < /dev/zero; do :; done");
  ASSERT_EQ(out_.read_line(), "up\n");
  client_.reset();
  EXPECT_TRUE(out_.read_to_end());
}

// Opening its memory asks the kernel as attaching to it does.
TEST_P(KeeperTest, ItMayTraceARank) {
  const std::string scope = io::read_file("/proc/sys/kernel/yama/ptrace_scope").value_or("0");
  if (scope[0] > '1') GTEST_SKIP() << "kernel.yama.ptrace_scope is " << scope;
  auto rank = words({"sleep", "600"});
  auto tracer = words({"sh", "-c", ""});
  for (spawn::RankProcess* process : {&rank, &tracer}) {
    if (!running_as_root()) continue;
    process->set_ids = true;
    process->uid = process->gid = 65534;
  }
  start(0, rank, 0);
  ASSERT_TRUE(started(0));
  tracer.argv[2] = ": < /proc/" + std::to_string(pids_[0]) + "/mem && echo may";
  start(1, tracer);
  ASSERT_TRUE(exited(1));
  client_->kill_all();
  ASSERT_TRUE(exited(0));
  EXPECT_EQ(out_.read_to_end(), "may\n");
}

}  // namespace
}  // namespace lockstep::runner::testing
