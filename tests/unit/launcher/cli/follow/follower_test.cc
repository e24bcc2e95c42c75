// The follower against a fake launcher over real sockets: everything once, whatever breaks.

#include "launcher/cli/follow/follower.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "common/io/file_system.h"
#include "launcher/cli/base/verb_context.h"
#include "tests/unit/launcher/cli/fake_launcher.h"

namespace lockstep::cli {
namespace {

LogKey key(int rank, LogStream stream) { return {{JobId("j"), 1}, rank, stream}; }

JobView view(JobStatus status, int world) {
  JobView view;
  view.spec.name = "j";
  view.spec.distribution.processes_per_node = world;
  view.status = status;
  view.attempts.resize(1);
  return view;
}

FakeLauncher::Script script(int world) {
  FakeLauncher::Script script;
  script.job = view(JobStatus::running, world);
  script.final_job = view(JobStatus::completed, world);
  script.canceled_job = view(JobStatus::canceled, world);
  return script;
}

std::string numbered_lines(int rank, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += std::to_string(rank) + ":" + std::to_string(i) + "\n";
  return text;
}

constexpr int kLeftCanceled = 92;  // what the child exits with
constexpr int kHungUp = 91;

// Runs the follower in a child process with its output in files, as `lockstep` is a process. The
// child is forked before the launcher opens its sockets, so that it inherits none of them.
class Following : public testing::Test {
 protected:
  struct Ended {
    int code = -1;
    std::string out, err;
  };
  struct Child {
    pid_t pid = 0;
    std::string base;
  };

  Child start(FakeLauncher::Script script, FollowOptions options) {
    char base[] = "/tmp/lockstep-follow-XXXXXX";
    EXPECT_NE(::mkdtemp(base), nullptr);
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    Child child{0, base};
    child.pid = ::fork();
    if (child.pid == 0) ::_exit(run_child(child, ends, std::move(options)));
    launcher_ = std::make_unique<FakeLauncher>(std::move(script));
    const Endpoint endpoint = launcher_->endpoint();
    const io::KeyPair keys = launcher_->client_keys();
    const std::string text = endpoint.control + "\n" + endpoint.bulk + "\n" +
                             endpoint.public_key.value + "\n" + keys.public_key.value + "\n" +
                             keys.secret_key + "\n";
    EXPECT_TRUE(io::write_all(ends[1], text));
    ::close(ends[0]);
    ::close(ends[1]);
    return child;
  }

  static int run_child(const Child& child, const int (&ends)[2], FollowOptions options) {
    ::close(ends[1]);
    if (!std::freopen((child.base + "/out").c_str(), "w", stdout) ||
        !std::freopen((child.base + "/err").c_str(), "w", stderr))
      return 99;
    std::string text;
    char buffer[512];
    for (ssize_t got; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
      text.append(buffer, static_cast<std::size_t>(got));
    std::istringstream words(text);
    Endpoint endpoint;
    io::KeyPair keys;
    words >> endpoint.control >> endpoint.bulk >> endpoint.public_key.value >>
        keys.public_key.value >> keys.secret_key;
    return follow(endpoint, keys, std::move(options));
  }

  static int follow(const Endpoint& endpoint, const io::KeyPair& keys, FollowOptions options) {
    hold_interrupts(true);
    Terminal terminal;
    auto connection = Connection::open(endpoint, keys);
    if (!connection) return 98;
    options.job = JobId("j");
    const auto end = Follower(
                         **connection, terminal, [&] { return std::optional(endpoint); }, options)
                         .run();
    if (!end) {
      terminal.print_line(end.error().message);
      return 97;
    }
    switch (end->how) {
      case FollowEnd::How::finished: return end->job ? static_cast<int>(end->job->status) : 93;
      case FollowEnd::How::detached:
        return end->cancel == FollowEnd::Cancel::agreed ? kLeftCanceled : 96;
      case FollowEnd::How::hung_up: return kHungUp;
      case FollowEnd::How::output_closed: return 95;
    }
    return 94;
  }

  static std::string read(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  std::unique_ptr<FakeLauncher> launcher_;

  static Ended wait(const Child& child) {
    int status = 0;
    EXPECT_EQ(::waitpid(child.pid, &status, 0), child.pid);
    Ended ended;
    ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    ended.out = read(child.base + "/out");
    ended.err = read(child.base + "/err");
    for (const char* name : {"/out", "/err"}) ::unlink((child.base + name).c_str());
    ::rmdir(child.base.c_str());
    return ended;
  }

  static bool wait_until(const std::function<bool()>& condition) {
    for (int i = 0; i < 4000; ++i) {
      if (condition()) return true;
      ::usleep(5000);
    }
    return false;
  }
  static bool wait_for_text(const Child& child, const char* file, const std::string& text) {
    return wait_until([&] { return read(child.base + file).find(text) != std::string::npos; });
  }
  static void interrupt(const Child& child) { ::kill(child.pid, SIGINT); }
};

constexpr int kCompleted = static_cast<int>(JobStatus::completed);
constexpr int kCanceled = static_cast<int>(JobStatus::canceled);

TEST_F(Following, ASingleRanksStreamsArriveAsTheyAre) {
  auto plan = script(1);
  const std::string binary("a\0b\xff\r\nno newline", 17);
  plan.logs = {{key(0, LogStream::out), binary}, {key(0, LogStream::err), "to stderr\n"}};
  FollowOptions options;
  options.single_log = true;
  options.show_state = false;
  const Ended ended = wait(start(plan, options));
  EXPECT_EQ(ended.code, kCompleted) << ended.err;
  EXPECT_EQ(ended.out, binary);
  EXPECT_EQ(ended.err, "to stderr\n");
}

TEST_F(Following, ManyChunksNeedCreditAndKeepTheirOrder) {
  auto plan = script(2);
  const std::string zero = numbered_lines(0, 2000), one = numbered_lines(1, 2000);
  plan.logs = {{key(0, LogStream::out), zero}, {key(1, LogStream::out), one}};
  const Ended ended = wait(start(plan, {}));
  EXPECT_EQ(ended.code, kCompleted) << ended.err;
  std::string got_zero, got_one;
  std::istringstream lines(ended.out);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("n0:0 | ", 0) == 0) got_zero += line.substr(7) + "\n";
    if (line.rfind("n0:1 | ", 0) == 0) got_one += line.substr(7) + "\n";
  }
  EXPECT_EQ(got_zero, zero);
  EXPECT_EQ(got_one, one);
}

// Named for what it must never do: lose or double a line over a restart of the launcher.
TEST_F(Following, EachByteArrivesOnceOverRestartsOfTheLauncher) {
  auto plan = script(1);
  plan.logs = {{key(0, LogStream::out), numbered_lines(0, 300)}};
  plan.break_after_chunks = 40;
  plan.breaks = 2;
  FollowOptions options;
  options.single_log = true;
  const Ended ended = wait(start(plan, options));
  EXPECT_EQ(ended.code, kCompleted) << ended.err;
  EXPECT_EQ(ended.out, numbered_lines(0, 300));
  EXPECT_GE(launcher_->lives(), 3);
}

TEST_F(Following, CtrlCCancelsAndWaitsForTheEnd) {
  auto plan = script(1);
  plan.ends_by_itself = false;
  plan.logs = {{key(0, LogStream::out), "running\n"}};
  FollowOptions options;
  options.cancel_on_interrupt = true;
  options.single_log = true;
  const Child child = start(plan, options);
  ASSERT_TRUE(wait_for_text(child, "/out", "running"));
  ::kill(child.pid, SIGINT);
  const Ended ended = wait(child);
  EXPECT_EQ(ended.code, kCanceled) << ended.err;
  EXPECT_GE(launcher_->cancels(), 1);
  EXPECT_NE(ended.err.find("canceling j"), std::string::npos) << ended.err;
}

// Its reason is said whole, also with --quiet.
TEST_F(Following, AJobThatWaitsInVainIsCanceledWithItsReason) {
  auto plan = script(1);
  plan.ends_by_itself = false;
  plan.job.status = JobStatus::queued;
  plan.job.attempts.clear();
  plan.job.reason = "needs 5 nodes";
  plan.job.in_vain = true;
  FollowOptions options;
  options.cancel_on_interrupt = true;
  options.show_state = false;
  options.leave_in_vain = true;
  const Ended ended = wait(start(plan, options));
  EXPECT_EQ(ended.code, kCanceled) << ended.err;
  EXPECT_EQ(launcher_->cancels(), 1);
  EXPECT_EQ(ended.err,
            "lockstep: j: Queued (needs 5 nodes)\n"
            "lockstep: j is canceled, because it would wait in vain; --wait-anyway waits\n");
}

TEST_F(Following, CtrlCInAStreamOnlyLeaves) {
  auto plan = script(1);
  plan.ends_by_itself = false;
  plan.logs = {{key(0, LogStream::out), "running\n"}};
  FollowOptions options;
  options.single_log = true;
  const Child child = start(plan, options);
  ASSERT_TRUE(wait_for_text(child, "/out", "running"));
  ::kill(child.pid, SIGINT);
  EXPECT_EQ(wait(child).code, 96);
  EXPECT_EQ(launcher_->cancels(), 0);
}

// A job that does not end soon after its cancel: the launcher has agreed, the ranks still stop.
TEST_F(Following, TheSecondCtrlCStopsWaitingAndTheCancelStands) {
  auto plan = script(1);
  plan.ends_by_itself = false;
  plan.canceled_job = view(JobStatus::cancel_requested, 1);
  plan.logs = {{key(0, LogStream::out), "running\n"}};
  FollowOptions options;
  options.cancel_on_interrupt = true;
  options.single_log = true;
  const Child child = start(plan, options);
  ASSERT_TRUE(wait_for_text(child, "/out", "running"));
  ::kill(child.pid, SIGTERM);  // as Ctrl-C
  ASSERT_TRUE(wait_for_text(child, "/err", "press Ctrl-C again to leave without waiting"));
  ASSERT_TRUE(wait_for_text(child, "/err", "j: CancelRequested"));
  ::kill(child.pid, SIGINT);
  const Ended ended = wait(child);
  EXPECT_EQ(ended.code, kLeftCanceled) << ended.err;
  EXPECT_GE(launcher_->cancels(), 1);
}

TEST_F(Following, AClosedTerminalLeavesTheJobRunning) {
  auto plan = script(1);
  plan.ends_by_itself = false;
  plan.logs = {{key(0, LogStream::out), "running\n"}};
  FollowOptions options;
  options.cancel_on_interrupt = true;
  options.single_log = true;
  const Child child = start(plan, options);
  ASSERT_TRUE(wait_for_text(child, "/out", "running"));
  ::kill(child.pid, SIGHUP);
  EXPECT_EQ(wait(child).code, kHungUp);
  EXPECT_EQ(launcher_->cancels(), 0);
}

TEST_F(Following, UnderNohupAClosedTerminalIsNothing) {
  auto plan = script(1);
  plan.ends_by_itself = false;
  plan.logs = {{key(0, LogStream::out), "running\n"}};
  FollowOptions options;
  options.cancel_on_interrupt = true;
  options.single_log = true;
  ::signal(SIGHUP, SIG_IGN);  // the child inherits it
  const Child child = start(plan, options);
  ::signal(SIGHUP, SIG_DFL);
  ASSERT_TRUE(wait_for_text(child, "/out", "running"));
  ::kill(child.pid, SIGHUP);
  ::kill(child.pid, SIGINT);
  EXPECT_EQ(wait(child).code, kCanceled);
}

TEST_F(Following, StandardOutputCanBeKeptForSomethingElse) {
  auto plan = script(1);
  plan.logs = {{key(0, LogStream::out), "to out\n"}, {key(0, LogStream::err), "to err\n"}};
  FollowOptions options;
  options.single_log = true;
  options.show_state = false;
  options.all_to_stderr = true;
  const Ended ended = wait(start(plan, options));
  EXPECT_EQ(ended.code, kCompleted) << ended.err;
  EXPECT_EQ(ended.out, "");
  for (const char* line : {"to out\n", "to err\n"})
    EXPECT_NE(ended.err.find(line), std::string::npos) << ended.err;
}

// Standard output stays the program's own.
TEST_F(Following, AnEnvironmentsLogIsForStandardError) {
  auto plan = script(1);
  plan.logs = {{key(0, LogStream::environment), "solving\nready\n"},
               {key(0, LogStream::out), "to out\n"}};
  FollowOptions options;
  options.single_log = true;
  options.show_state = false;
  const Ended ended = wait(start(plan, options));
  EXPECT_EQ(ended.code, kCompleted) << ended.err;
  EXPECT_EQ(ended.out, "to out\n");
  EXPECT_EQ(ended.err, "solving\nready\n");
}

TEST_F(Following, AnEnvironmentsLogThatIsAskedForIsForStandardOutput) {
  auto plan = script(1);
  plan.logs = {{key(0, LogStream::environment), "solving\nready\n"}};
  FollowOptions options;
  options.show_state = false;
  options.filter.stream = LogStream::environment;
  const Ended ended = wait(start(plan, options));
  EXPECT_EQ(ended.code, kCompleted) << ended.err;
  EXPECT_EQ(ended.out, "[environment n0] solving\n[environment n0] ready\n");
  EXPECT_EQ(ended.err, "");
}

TEST_F(Following, ATrivialJobGivesNoLine) {
  auto plan = script(1);
  plan.logs = {{key(0, LogStream::out), "done\n"}};
  FollowOptions options;
  options.single_log = true;
  const Ended ended = wait(start(plan, options));
  EXPECT_EQ(ended.out, "done\n");
  EXPECT_EQ(ended.err, "");
}

// Watching is pushed. It looks at its lease once a second, and this is three seconds.
TEST_F(Following, AQuietJobIsAskedForOnceAndItsLogsToo) {
  auto plan = script(1);
  plan.ends_by_itself = false;
  plan.confirm_every = milliseconds(20);
  plan.logs = {{key(0, LogStream::out), "running\n"}};
  FollowOptions options;
  options.show_state = false;
  options.single_log = true;
  options.watch.quiet = milliseconds(500);
  options.logs_quiet = milliseconds(500);
  const Child child = start(plan, options);
  EXPECT_TRUE(wait_until([&] { return launcher_->confirmed() >= 150; }));
  EXPECT_EQ(launcher_->requests(), 2) << "for the job and for the launcher";
  EXPECT_EQ(launcher_->follows(), 1);
  interrupt(child);
  EXPECT_EQ(wait(child).err, "");
}

TEST_F(Following, AnUpdateThatWasLostIsMadeGood) {
  auto plan = script(1);
  plan.confirm_every = milliseconds(20);
  plan.loses_updates = true;
  plan.logs = {{key(0, LogStream::out), "done\n"}};
  FollowOptions options;
  options.single_log = true;
  options.watch.quiet = milliseconds(100);
  const Ended ended = wait(start(plan, options));
  EXPECT_EQ(ended.code, kCompleted) << ended.err;
  EXPECT_EQ(ended.out, "done\n");
  EXPECT_GT(launcher_->requests(), 2);
}

TEST_F(Following, AnOlderLauncherThatPushesNothingIsAskedAgain) {
  auto plan = script(1);
  plan.ends_by_itself = false;
  FollowOptions options;
  options.show_state = false;
  options.watch.quiet = milliseconds(100);
  const Child child = start(plan, options);
  EXPECT_TRUE(wait_until([&] { return launcher_->requests() >= 6; }));
  interrupt(child);
  EXPECT_EQ(wait(child).err, "") << "it answers, so it is not said to be gone";
}

TEST_F(Following, ALauncherThatIsFrozenIsNoticedAndSoIsItsReturn) {
  auto plan = script(1);
  plan.ends_by_itself = false;
  plan.confirm_every = milliseconds(20);
  plan.logs = {{key(0, LogStream::out), "running\n"}};
  FollowOptions options;
  options.single_log = true;
  options.watch = {milliseconds(100), milliseconds(500)};
  const Child child = start(plan, options);
  ASSERT_TRUE(wait_for_text(child, "/out", "running"));
  launcher_->freeze(true);
  EXPECT_TRUE(wait_for_text(child, "/err",
                            "the launcher does not answer; waiting for it (the job continues)"));
  launcher_->freeze(false);
  EXPECT_TRUE(wait_for_text(child, "/err", "the launcher is back"));
  interrupt(child);
  EXPECT_EQ(wait(child).out, "running\n");
}

// As the launcher does when the connection takes nothing more.
TEST_F(Following, AFollowThatWasDroppedIsAskedForAgain) {
  auto plan = script(1);
  plan.drop_follow_after_chunks = 20;
  plan.confirm_every = milliseconds(20);
  plan.logs = {{key(0, LogStream::out), numbered_lines(0, 300)}};
  FollowOptions options;
  options.single_log = true;
  options.logs_quiet = milliseconds(500);
  const Ended ended = wait(start(plan, options));
  EXPECT_EQ(ended.code, kCompleted) << ended.err;
  EXPECT_EQ(ended.out, numbered_lines(0, 300));
  EXPECT_EQ(launcher_->follows(), 2);
}

// It ended the command, and its job ran on unseen.
TEST_F(Following, LogsThatAreRefusedForNowAreAskedForAgain) {
  auto plan = script(1);
  plan.refuses_follows = 2;
  plan.confirm_every = milliseconds(20);
  plan.logs = {{key(0, LogStream::out), "all\n"}};
  FollowOptions options;
  options.single_log = true;
  options.logs_quiet = milliseconds(200);
  const Ended ended = wait(start(plan, options));
  EXPECT_EQ(ended.code, kCompleted) << ended.err;
  EXPECT_EQ(ended.out, "all\n");
  EXPECT_EQ(launcher_->follows(), 3);
}

// Each time that they were asked for, the wait began anew.
TEST_F(Following, LogsThatNeverComeDoNotKeepTheCommandFromItsEnd) {
  auto plan = script(1);
  plan.job = plan.final_job;
  plan.refuses_follows = 1'000'000;
  FollowOptions options;
  options.logs_quiet = milliseconds(50);
  options.logs_after_end = milliseconds(1500);
  const Ended ended = wait(start(plan, options));
  EXPECT_EQ(ended.code, kCompleted) << ended.err;
  EXPECT_NE(ended.err.find("the last log lines did not arrive"), std::string::npos) << ended.err;
  EXPECT_GE(launcher_->follows(), 2);
}

TEST_F(Following, WithoutFollowOnlyWhatIsThere) {
  auto plan = script(1);
  plan.ends_by_itself = false;
  plan.logs = {{key(0, LogStream::out), "so far\n"}};
  FollowOptions options;
  options.single_log = true;
  options.until_final = false;
  options.show_state = false;
  const Ended ended = wait(start(plan, options));
  EXPECT_EQ(ended.out, "so far\n");
  EXPECT_TRUE(ended.code == static_cast<int>(JobStatus::running) || ended.code == 93) << ended.code;
}

}  // namespace
}  // namespace lockstep::cli
