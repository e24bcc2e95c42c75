// lockstep-spawn with real processes: what a rank gets, how failures are told, and that nothing
// survives whoever dies.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>

#include "runner/spawn/client.h"
#include "tests/unit/runner/process_probe.h"

namespace lockstep::runner::testing {
namespace {

const std::string kSpawn = std::string(LOCKSTEP_BIN_DIR) + "/lockstep-spawn";
// A daemon of the stubborn kind: forked twice, its own session, deaf to everything but SIGKILL.
const std::string kDaemon =
    "(setsid sh -c \"trap '' TERM HUP INT; echo daemon; while :; do read x < /dev/zero; done\" &) "
    "; ";

class SpawnTest : public ::testing::TestWithParam<bool> {
 protected:
  void launch() {
    spawn::Namespaces namespaces;
    namespaces.pid = GetParam();
    namespaces.user = GetParam() && !running_as_root();
    auto client = spawn::Client::launch(loop_, kSpawn, namespaces, events());
    ASSERT_TRUE(client) << client.error().message;
    client_ = *std::move(client);
  }
  spawn::Client::Events events() {
    return {[this](int id, int pid) { pids_[id] = pid; },
            [this](int id, int error, spawn::SpawnStage stage) {
              failures_[id] = {error, stage};
            },
            [this](int id, int status, const spawn::Spent& spent) {
              exits_[id] = status;
              spent_[id] = spent;
            },
            [this] { ++empties_; }, [this] { lost_ = true; }};
  }
  static spawn::RankProcess process(std::vector<std::string> argv) {
    spawn::RankProcess rank;
    rank.program = argv.at(0);
    rank.path = "/usr/bin:/bin";
    rank.argv = std::move(argv);
    rank.environment = {{"PATH", "/usr/bin:/bin"}};
    return rank;
  }
  static spawn::RankProcess shell(const std::string& script) {
    return process({"sh", "-c", script});
  }
  void start(int id, const spawn::RankProcess& rank) {
    const io::Fd null = *io::open_file("/dev/null", 0);
    ASSERT_TRUE(client_->start(id, rank, null.get(), out_.writer(), out_.writer()));
  }
  // Runs it to its end; what it printed.
  std::string output(const spawn::RankProcess& rank) {
    start(7, rank);
    EXPECT_TRUE(turn_until(loop_, [&] { return exits_.count(7) || failures_.count(7); }));
    return out_.read_to_end().value_or("(never closed)");
  }
  bool exited(int id) {
    return turn_until(loop_, [&] { return exits_.count(id) > 0; });
  }
  bool failed(int id) {
    return turn_until(loop_, [&] { return failures_.count(id) > 0; });
  }

  io::EventLoop loop_;
  std::unique_ptr<spawn::Client> client_;
  Pipe out_;
  std::map<int, int> pids_, exits_;
  std::map<int, spawn::Spent> spent_;
  std::map<int, std::pair<int, spawn::SpawnStage>> failures_;
  int empties_ = 0;
  bool lost_ = false;
};

INSTANTIATE_TEST_SUITE_P(Isolation, SpawnTest, ::testing::Values(false, true),
                         [](const auto& param) {
                           return std::string(param.param ? "PidNamespace" : "Subreaper");
                         });

TEST_P(SpawnTest, ExitCodesAndSignalsComeBackInOrder) {
  launch();
  start(0, shell("exit 3"));
  start(1, shell("kill -9 $$"));
  ASSERT_TRUE(exited(0) && exited(1));
  EXPECT_EQ(WEXITSTATUS(exits_[0]), 3);
  EXPECT_EQ(WTERMSIG(exits_[1]), SIGKILL);
  EXPECT_EQ(pids_.size(), 2U);
}

TEST_P(SpawnTest, ArgumentsAreExactAndTheEnvironmentIsOnlyWhatWasGiven) {
  launch();
  auto rank = process({"printf", "%s|", "a b", "", "$HOME", "\xff\n"});
  start(0, rank);
  ASSERT_TRUE(exited(0));
  rank = process({"/usr/bin/env"});
  rank.environment = {{"A", "1=2"}, {"EMPTY", ""}};
  EXPECT_EQ(output(rank), "a b||$HOME|\xff\n|A=1=2\nEMPTY=\n");
}

TEST_P(SpawnTest, ARankHasOnlyItsThreeFilesAndCleanSignals) {
  signal(SIGPIPE, SIG_IGN);
  launch();
  const auto text =
      output(shell("ls /proc/self/fd | tr '\\n' ' '; grep -E 'Sig(Ign|Blk)' "
                   "/proc/self/status | cut -f2 | sort -u; umask"));
  EXPECT_EQ(text, "0 1 2 3 0000000000000000\n0022\n");  // 3 is ls's own
}

TEST_P(SpawnTest, AConnectionIsInheritedUnderItsNumberAndByItsRankOnly) {
  launch();
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const io::Fd ours(ends[0]);
  io::Fd theirs(ends[1]);
  const io::Fd null = *io::open_file("/dev/null", 0);
  const auto rank =
      shell("ls /proc/self/fd | tr '\\n' ' '; echo hello >&20; read -u 20 x; echo $x");
  auto bash = rank;
  bash.program = bash.argv[0] = "bash";
  ASSERT_TRUE(client_->start(7, bash, null.get(), out_.writer(), out_.writer(), theirs.get()));
  theirs.reset();
  start(8, shell("sleep 600"));  // it must not keep the connection open
  char text[16] = {};
  ASSERT_TRUE(turn_until(loop_, [&] { return recv(ours.get(), text, 15, MSG_DONTWAIT) > 0; }));
  EXPECT_STREQ(text, "hello\n");
  ASSERT_EQ(send(ours.get(), "answer\n", 7, 0), 7);
  ASSERT_TRUE(exited(7));
  EXPECT_EQ(exits_[7], 0);
  EXPECT_TRUE(turn_until(loop_, [&] { return recv(ours.get(), text, 15, MSG_DONTWAIT) == 0; }));
  client_->kill_all();
  ASSERT_TRUE(exited(8));
  EXPECT_EQ(out_.read_to_end().value_or("(never closed)"), "0 1 2 20 3 answer\n");  // 3: ls's own
}

TEST_P(SpawnTest, LimitsAndAffinityAreSet) {
  launch();
  auto rank = shell("ulimit -n; grep Cpus_allowed_list /proc/self/status | cut -f2");
  rank.cpus = {0};
  rank.rlimits = {{RLIMIT_NOFILE, 0, 123, 456}};
  EXPECT_EQ(output(rank), "123\n0\n");
}

TEST_P(SpawnTest, AnUnreachableLimitIsLoweredWhenItMayBe) {
  launch();
  rlimit now{};
  getrlimit(RLIMIT_NOFILE, &now);
  auto rank = shell("ulimit -n");
  rank.rlimits = {{RLIMIT_NOFILE, 1, RLIM_INFINITY, RLIM_INFINITY}};
  EXPECT_EQ(output(rank), std::to_string(now.rlim_max) + "\n");
}

TEST_P(SpawnTest, FailuresNameTheirStageAndErrno) {
  launch();
  TemporaryDirectory directory;
  ASSERT_TRUE(io::write_file_atomically(directory.path() + "/plain", "x", 0644));
  ASSERT_TRUE(io::write_file_atomically(directory.path() + "/garbage", "\x01\x02", 0755));
  start(0, process({"no-such-program"}));
  start(1, process({directory.path() + "/plain"}));
  start(2, process({directory.path() + "/garbage"}));
  auto rank = shell("true");
  rank.cwd = directory.path() + "/absent";
  start(3, rank);
  rank = shell("true");
  rank.cgroup_procs = {directory.path() + "/absent"};
  start(4, rank);
  for (int id = 0; id < 5; ++id) ASSERT_TRUE(failed(id)) << id;
  using spawn::SpawnStage;
  EXPECT_EQ(failures_[0], std::make_pair(ENOENT, SpawnStage::exec));
  EXPECT_EQ(failures_[1], std::make_pair(EACCES, SpawnStage::exec));
  EXPECT_EQ(failures_[2], std::make_pair(ENOEXEC, SpawnStage::exec));
  EXPECT_EQ(failures_[3], std::make_pair(ENOENT, SpawnStage::chdir));
  EXPECT_EQ(failures_[4], std::make_pair(ENOENT, SpawnStage::cgroup));
  EXPECT_TRUE(exits_.empty());
}

TEST_P(SpawnTest, SignalsReachTheWholeGroupOfARank) {
  launch();
  start(0, shell("trap 'wait; exit 5' TERM; sh -c 'trap \"exit 0\" TERM; echo ready; "
                 "while :; do sleep 0.01; done' & wait; exit 6"));
  ASSERT_EQ(out_.read_line(), "ready\n");
  client_->signal_all(SIGTERM);
  ASSERT_TRUE(exited(0));
  EXPECT_EQ(WEXITSTATUS(exits_[0]), 5);
}

// To whoever does not handle it, the signal would be the end.
TEST_P(SpawnTest, AWarningReachesThoseWhoHandleIt) {
  launch();
  start(0,
        shell("sh -c 'trap \"echo told; exit 4\" USR1; echo ready; while :; do sleep 0.05; done'; "
              "echo code $?"));
  start(1, shell("exec sleep 600"));
  ASSERT_EQ(out_.read_line(), "ready\n");
  ASSERT_TRUE(turn_until(loop_, [&] { return pids_.size() == 2; }));
  client_->warn_all(SIGUSR1);
  ASSERT_EQ(out_.read_line(), "told\n");
  ASSERT_EQ(out_.read_line(), "code 4\n");
  ASSERT_TRUE(exited(0));
  EXPECT_EQ(WEXITSTATUS(exits_[0]), 0);
  EXPECT_EQ(exits_.count(1), 0u) << "it handles nothing";
  client_->kill_all();
  ASSERT_TRUE(exited(1));
  EXPECT_EQ(WTERMSIG(exits_[1]), SIGKILL);
}

TEST_P(SpawnTest, KillAllReachesDoubleForkedDaemons) {
  launch();
  start(0, shell(kDaemon + "trap '' TERM; while :; do sleep 1; done"));
  ASSERT_EQ(out_.read_line(), "daemon\n");
  client_->kill_all();
  ASSERT_TRUE(turn_until(loop_, [&] { return empties_ > 0; }));
  EXPECT_EQ(WTERMSIG(exits_[0]), SIGKILL);
  EXPECT_EQ(out_.read_to_end(), "");  // the daemon held the pipe
}

TEST_P(SpawnTest, KillAllWithNothingLeftIsAnsweredAndLaterStartsWork) {
  launch();
  client_->kill_all();
  ASSERT_TRUE(turn_until(loop_, [&] { return empties_ > 0; }));
  EXPECT_EQ(output(shell("echo again")), "again\n");
}

TEST_P(SpawnTest, RanksDieWithSpawn) {
  launch();
  start(0, shell("trap '' TERM HUP; echo up; while read x < /dev/zero; do :; done"));
  ASSERT_EQ(out_.read_line(), "up\n");
  kill(client_->pid(), SIGKILL);
  EXPECT_TRUE(turn_until(loop_, [&] { return lost_; }));
  EXPECT_TRUE(out_.read_to_end());
}

TEST_P(SpawnTest, EverythingDiesWithTheRunner) {
  const pid_t runner = fork();
  if (runner == 0) {
    launch();
    if (client_ == nullptr) _exit(1);
    start(0, shell(kDaemon + "while :; do sleep 1; done"));
    while (true) loop_.turn(seconds(1));
  }
  EXPECT_EQ(out_.read_line(), "daemon\n");
  kill(runner, SIGKILL);
  EXPECT_TRUE(out_.read_to_end());
  waitpid(runner, nullptr, 0);
}

TEST_P(SpawnTest, ItsOwnEndLeavesNothing) {
  launch();
  start(0, shell(kDaemon + "while :; do sleep 1; done"));
  ASSERT_EQ(out_.read_line(), "daemon\n");
  const int pid = client_->pid();
  client_.reset();
  EXPECT_EQ(kill(pid, 0), -1);
  EXPECT_TRUE(out_.read_to_end());
}

TEST_P(SpawnTest, IdsAreDroppedBeforeExec) {
  if (!running_as_root()) GTEST_SKIP() << "needs root: only root can change ids";
  launch();
  auto rank = shell("id -u; id -g; id -G; grep -c 'CapEff:.0000000000000000' /proc/self/status");
  rank.set_ids = true;
  rank.uid = 65534;
  rank.gid = 65533;
  rank.groups = {65532};
  EXPECT_EQ(output(rank), "65534\n65533\n65533 65532\n1\n");
}

TEST_P(SpawnTest, AThousandStartsInARow) {
  launch();
  for (int id = 0; id < 1000; ++id) {
    const auto rank = process({"true"});
    start(id, rank);
    if (id % 50 == 49) {
      ASSERT_TRUE(turn_until(loop_, [&] { return exits_.size() == std::size_t(id) + 1; }));
    }
  }
  EXPECT_EQ(exits_.size(), 1000U);
}

TEST(SpawnNamespaceTest, RanksSeeTheirOwnProc) {
  io::EventLoop loop;
  Pipe out;
  bool done = false;
  spawn::Namespaces namespaces;
  namespaces.pid = true;
  namespaces.user = !running_as_root();
  auto client =
      spawn::Client::launch(loop, kSpawn, namespaces,
                            {[](int, int) {}, [](int, int, spawn::SpawnStage) {},
                             [&](int, int, const spawn::Spent&) { done = true; }, [] {}, [] {}});
  ASSERT_TRUE(client) << client.error().message;
  spawn::RankProcess rank;
  rank.program = "/bin/sh";
  rank.argv = {"sh", "-c", "test -d /proc/$$ && cat /proc/1/comm"};
  rank.environment = {{"PATH", "/usr/bin"}};
  const io::Fd null = *io::open_file("/dev/null", 0);
  ASSERT_TRUE((*client)->start(0, rank, null.get(), out.writer(), out.writer()));
  ASSERT_TRUE(turn_until(loop, [&] { return done; }));
  EXPECT_EQ(out.read_to_end(), "lockstep-spawn\n");
}

TEST(SpawnNamespaceTest, AMountThatFailsIsSaid) {
  io::EventLoop loop;
  spawn::Namespaces namespaces;
  namespaces.mount = true;
  namespaces.user = !running_as_root();
  namespaces.prepare_mounts = []() -> Status {
    return make_error(ErrorCode::io, "overlay on /x: no");
  };
  const auto client = spawn::Client::launch(loop, kSpawn, namespaces, {});
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().message, "lockstep-spawn did not start: overlay on /x: no");
}

}  // namespace
}  // namespace lockstep::runner::testing
