// lockstep-runner, the real program, on attempt directories of our own: what a rank gets, what the
// final report says, and that nothing is left.

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <map>
#include <sstream>

#include "common/domain/why/all/convert.h"
#include "common/domain/why/ranks/notes.h"
#include "common/domain/why/ranks/ranks.h"
#include "runner/spawn/sweep.h"
#include "tests/unit/runner/attempt.h"

namespace lockstep::runner::testing {
namespace {

constexpr unsigned kNobody = 65534;

// Each test runs as root with cgroups, and as an ordinary user in a pid namespace.
class RunnerTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!GetParam()) return;
    if (running_as_root()) attempt_.runner_uid = kNobody;
  }
  void TearDown() override {
    if (HasFailure()) std::fprintf(stderr, "runner.log:\n%s\n", attempt_.runner_log().c_str());
  }
  void expect_nothing_left() {
    EXPECT_TRUE(attempt_.survivors().empty());
    EXPECT_TRUE(attempt_.leftover_cgroups().empty());
    EXPECT_FALSE(io::exists(attempt_.directory().path() + "/control.sock"));
  }
  NodeExitReport run_to_end() {
    EXPECT_EQ(attempt_.run(), 0);
    expect_nothing_left();
    return attempt_.report();
  }

  Attempt attempt_;
};

INSTANTIATE_TEST_SUITE_P(As, RunnerTest, ::testing::Values(false, true), [](const auto& param) {
  return std::string(param.param ? "OrdinaryUser" : "Self");
});

const char kStubborn[] =
    "(setsid sh -c \"trap '' TERM HUP INT; echo daemon; while read x < /dev/zero; do :; done\" &) "
    "; ";

std::map<std::string, std::string> parse_environment(const std::string& text) {
  std::map<std::string, std::string> result;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    result[line.substr(0, line.find('='))] = line.substr(line.find('=') + 1);
  return result;
}

TEST_P(RunnerTest, ATrivialJobCompletes) {
  attempt_.argv({"echo", "hello"});
  const auto report = run_to_end();
  EXPECT_EQ(report.cause, Cause::completed);
  ASSERT_EQ(report.ranks.size(), 1U);
  EXPECT_EQ(report.ranks[0].exit_code, 0);
  EXPECT_EQ(report.started, io::read_started(attempt_.directory()));
  EXPECT_EQ(attempt_.out(), "hello\n");
  ASSERT_EQ(report.logs.size(), 1U);
  EXPECT_EQ(report.logs[0].stdout_bytes, 6U);
  EXPECT_EQ(report.logs[0].stderr_bytes, 0U);
}

TEST_P(RunnerTest, ExitCodesAndStderrTailAreReported) {
  attempt_.shell("echo oops >&2; exit 42");
  const auto report = run_to_end();
  EXPECT_EQ(report.cause, Cause::exit_code);
  EXPECT_EQ(report.first_failed_rank, 0);
  EXPECT_EQ(report.ranks.at(0).exit_code, 42);
  EXPECT_EQ(report.ranks.at(0).stderr_tail, "oops\n");
}

TEST_P(RunnerTest, ASignalIsReported) {
  attempt_.shell("kill -SEGV $$");
  const auto report = run_to_end();
  EXPECT_EQ(report.cause, Cause::signal);
  EXPECT_EQ(report.ranks.at(0).signal, SIGSEGV);
}

// Of rank 0's core file; none: nothing was said.
Why note_on_core(const NodeExitReport& report) {
  for (const Why& note : report.notes)
    if (note.is<CoreFileIsKept>() || note.is<NoCoreFile>() || note.is<CoreFileNotFound>() ||
        note.is<CoreFileIsTooLarge>() || note.is<CoreFileNotWritten>())
      return note;
  return {};
}

void expect_no_core_file(const std::string& folder) {
  const auto names = io::list_directory(folder);
  ASSERT_TRUE(names);
  for (const std::string& name : *names) EXPECT_FALSE(name.starts_with("core")) << name;
}

TEST_P(RunnerTest, CoreFilesAreMadeOnlyForAJobThatAsksForThem) {
  attempt_.shell("kill -SEGV $$");
  EXPECT_EQ(note_on_core(run_to_end()), Why());
  expect_no_core_file(attempt_.directory().code());
}

// Where the kernel puts it is the machine's matter: what became of it is said in any case.
TEST_P(RunnerTest, ACoreFileIsKeptIfTheJobAsksForIt) {
  attempt_.assignment.spec.core = CoreFile::keep;
  attempt_.shell("kill -SEGV $$");
  const auto report = run_to_end();
  EXPECT_EQ(report.ranks.at(0).signal, SIGSEGV);
  const Why note = note_on_core(report);
  EXPECT_TRUE(note);
  const auto* kept = note.as<CoreFileIsKept>();
  EXPECT_EQ(kept == nullptr ? "" : kept->file, kept == nullptr ? "" : "logs/core.rank0");
  EXPECT_EQ(io::exists(attempt_.directory().code() + "/logs/core.rank0"), kept != nullptr)
      << log_text(note);
  expect_no_core_file(attempt_.directory().code());
}

TEST_P(RunnerTest, AnUnknownProgramIs127) {
  attempt_.argv({"no-such-program-anywhere", "x"});
  const auto report = run_to_end();
  EXPECT_EQ(report.cause, Cause::command_not_found);
  EXPECT_EQ(exit_code_of(report.ranks.at(0)), 127);
  EXPECT_EQ(report.ranks.at(0).why, Why(RankNotStarted{StartStep::exec, "no-such-program-anywhere",
                                                       false, "No such file or directory"}));
}

TEST_P(RunnerTest, AMissingFileOrInterpreterIsSaid) {
  attempt_.argv({"./no-such-file"});
  const auto report = run_to_end();
  EXPECT_EQ(exit_code_of(report.ranks.at(0)), 127);
  EXPECT_EQ(report.ranks.at(0).why, Why(RankNotStarted{StartStep::exec, "./no-such-file", true,
                                                       "No such file or directory"}));
}

TEST_P(RunnerTest, AFileThatCannotRunIs126) {
  attempt_.argv({"/etc/passwd"});
  const auto report = run_to_end();
  EXPECT_EQ(report.cause, Cause::command_not_executable);
  EXPECT_EQ(exit_code_of(report.ranks.at(0)), 126);
}

TEST_P(RunnerTest, TheEnvironmentIsALoginsAndOurs) {
  attempt_.assignment.spec.environment_variables["MINE"] = "a=b c";
  attempt_.assignment.spec.environment_variables["LANG"] = "de_DE.UTF-8";
  attempt_.argv({"env"});
  EXPECT_EQ(run_to_end().cause, Cause::completed);
  auto environment = parse_environment(attempt_.out());
  for (const char* name : {"SECRET_OF_THE_AGENT", "PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV",
                           "CONDA_PREFIX", "CONDA_DEFAULT_ENV"})
    EXPECT_EQ(environment.count(name), 0U) << name;
  EXPECT_EQ(environment["PATH"].substr(0, 9), "/usr/bin:");
  EXPECT_EQ(environment["MINE"], "a=b c");
  EXPECT_EQ(environment["LANG"], "de_DE.UTF-8");
  EXPECT_EQ(environment["LOCKSTEP_WORLD_SIZE"], "1");
  EXPECT_EQ(environment["AZUREML_RUN_ID"], "job");
  EXPECT_EQ(environment["CUDA_VISIBLE_DEVICES"], "");
  EXPECT_EQ(environment["PYTHONUNBUFFERED"], "1");
  EXPECT_EQ(environment["TMPDIR"], attempt_.directory().tmp());
  EXPECT_EQ(environment["PWD"], attempt_.directory().code());
  for (const char* name : {"HOME", "USER", "LOGNAME", "SHELL"})
    EXPECT_NE(environment[name], "") << name;
  for (const char* name : {"LOCKSTEP_HOME", "LOCKSTEP_LAUNCHER"})
    EXPECT_EQ(environment.count(name), 0U) << name << ", without a credential";
}

TEST_P(RunnerTest, RanksFindTheCredentialOfTheirAttempt) {
  const std::string home = attempt_.directory().client_home();
  ASSERT_TRUE(io::make_directories(home, 0700));
  attempt_.argv({"env"});
  EXPECT_EQ(run_to_end().cause, Cause::completed);
  auto environment = parse_environment(attempt_.out());
  EXPECT_EQ(environment["LOCKSTEP_HOME"], home);
  EXPECT_EQ(environment["LOCKSTEP_LAUNCHER"], home + "/endpoint.json");
}

TEST_P(RunnerTest, TheWorkingDirectoryIsReadyForAJob) {
  attempt_.shell(
      "pwd; ls; touch outputs/a logs/b $TMPDIR/c && cat; ulimit -c; test -t 0 || echo no");
  EXPECT_EQ(run_to_end().cause, Cause::completed);
  EXPECT_EQ(attempt_.out().substr(0, attempt_.out().rfind("logs\noutputs\n") + 13),
            attempt_.directory().code() + "\nlogs\noutputs\n");
  EXPECT_NE(attempt_.out().find("no\n"), std::string::npos);
}

TEST_P(RunnerTest, NamedOutputsHavePathsInTheWorkingDirectory) {
  attempt_.assignment.spec.outputs = {{"model", OutputType::uri_folder, OutputMode::rw_mount},
                                      {"report", OutputType::uri_file, OutputMode::upload}};
  attempt_.assignment.spec.environment_variables["TO"] = "${{outputs.model}}/w";
  attempt_.shell("echo 1 > ${{outputs.report}} && echo 2 > $TO && echo $AZURE_ML_OUTPUT_model");
  EXPECT_EQ(run_to_end().cause, Cause::completed) << attempt_.err();
  const std::string below = attempt_.directory().code() + "/.lockstep/outputs/";
  EXPECT_EQ(attempt_.out(), below + "model\n");
  EXPECT_EQ(*io::read_file(below + "model/w"), "2\n");
  EXPECT_EQ(*io::read_file(below + "report/report"), "1\n");
}

TEST_P(RunnerTest, ThereIsAlwaysAPlaceForCheckpoints) {
  attempt_.shell(
      "echo $LOCKSTEP_CHECKPOINT_DIR $LOCKSTEP_ATTEMPT; echo 1 > $LOCKSTEP_CHECKPOINT_DIR/a");
  EXPECT_EQ(run_to_end().cause, Cause::completed) << attempt_.err();
  const std::string folder = attempt_.directory().code() + "/.lockstep/checkpoint";
  EXPECT_EQ(attempt_.out(), folder + " 1\n");
  EXPECT_EQ(*io::read_file(folder + "/a"), "1\n");
}

TEST_P(RunnerTest, NamedOutputsAreNotMadeBehindASymlink) {
  TemporaryDirectory elsewhere;
  attempt_.assignment.spec.outputs = {{"model", OutputType::uri_folder, OutputMode::rw_mount}};
  ASSERT_TRUE(io::make_directories(attempt_.directory().code()));
  ASSERT_EQ(symlink(elsewhere.path().c_str(), (attempt_.directory().code() + "/.lockstep").c_str()),
            0);
  attempt_.shell("true");
  EXPECT_NE(run_to_end().cause, Cause::completed);
  EXPECT_TRUE(io::list_directory(elsewhere.path())->empty());
}

TEST_P(RunnerTest, EveryRankRunsOnce) {
  attempt_.ranks(5).shell("echo $LOCKSTEP_RANK/$LOCKSTEP_WORLD_SIZE");
  const auto report = run_to_end();
  EXPECT_EQ(report.cause, Cause::completed);
  for (int rank = 0; rank < 5; ++rank) EXPECT_EQ(attempt_.out(rank), std::to_string(rank) + "/5\n");
}

TEST_P(RunnerTest, OneFailingRankEndsTheOthers) {
  attempt_.ranks(3).shell("if [ $LOCKSTEP_RANK = 1 ]; then exit 7; fi; while :; do sleep 1; done");
  const auto report = run_to_end();
  EXPECT_EQ(report.cause, Cause::exit_code);
  EXPECT_EQ(report.first_failed_rank, 1);
  EXPECT_TRUE(report.ranks.at(0).terminated_by_us);
  EXPECT_TRUE(report.ranks.at(2).terminated_by_us);
}

TEST_P(RunnerTest, DaemonsOfAFinishedRankAreGone) {
  attempt_.shell(std::string(kStubborn) +
                 "while ! [ -e outputs/x ]; do touch outputs/x; done; exit 0");
  const auto report = run_to_end();
  EXPECT_EQ(report.cause, Cause::completed);
}

TEST_P(RunnerTest, ATimeOutKillsWhatIgnoresSigterm) {
  attempt_.assignment.spec.timeout = milliseconds(200);
  attempt_.assignment.grace = milliseconds(200);
  attempt_.shell(std::string("trap '' TERM; ") + kStubborn + "while :; do sleep 1; done");
  const auto report = run_to_end();
  EXPECT_EQ(report.cause, Cause::timeout);
  EXPECT_EQ(report.ranks.at(0).signal, SIGKILL);
}

TEST_P(RunnerTest, StopIsSigtermFirst) {
  attempt_.shell("trap 'echo saved; exit 3' TERM; echo up; while :; do sleep 0.01; done");
  attempt_.start();
  ASSERT_TRUE(attempt_.printed("up"));
  FakeAgent agent(attempt_);
  attempt_.assignment.phase = WantedPhase::stop;
  agent.send(attempt_.assignment);
  ASSERT_EQ(attempt_.wait(), 0);
  EXPECT_EQ(attempt_.report().cause, Cause::canceled);
  EXPECT_EQ(attempt_.out(), "up\nsaved\n");
  expect_nothing_left();
}

TEST_P(RunnerTest, AStopThatCameFirstStartsNothing) {
  attempt_.assignment.phase = WantedPhase::stop;
  attempt_.shell("echo never");
  const auto report = run_to_end();
  EXPECT_EQ(report.cause, Cause::canceled);
  EXPECT_FALSE(report.ranks.at(0).started);
}

TEST_P(RunnerTest, AgentsComeAndGoAndEachGetsTheStatus) {
  attempt_.shell("echo up; while ! [ -e outputs/go ]; do sleep 0.01; done");
  attempt_.start();
  {
    FakeAgent first(attempt_);
    EXPECT_TRUE(first.report_in(PartState::running));
  }
  FakeAgent second(attempt_);
  const auto report = second.next_report();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->state, PartState::running);
  EXPECT_EQ(report->attempt, attempt_.assignment.attempt);
  FakeAgent third(attempt_);
  ASSERT_TRUE(io::write_file_atomically(attempt_.directory().code() + "/outputs/go", ""));
  const auto last = second.report_in(PartState::finished);
  ASSERT_TRUE(last && last->exit);
  EXPECT_EQ(last->exit->cause, Cause::completed);
  EXPECT_TRUE(third.report_in(PartState::finished));
  EXPECT_EQ(attempt_.wait(), 0);
}

TEST_P(RunnerTest, KilledByNineItTakesItsRanksWithIt) {
  attempt_.ranks(2).shell(std::string(kStubborn) + "echo up; while :; do sleep 1; done");
  attempt_.start();
  ASSERT_TRUE(attempt_.printed("daemon", 0) && attempt_.printed("daemon", 1));
  ASSERT_FALSE(attempt_.survivors().empty());
  // Noted at the end of the turn in which what they printed may come already.
  ASSERT_TRUE(wait_until([this] { return io::exists(attempt_.directory().started()); }));
  kill(attempt_.pid(), SIGKILL);
  EXPECT_EQ(attempt_.wait(), 128 + SIGKILL);
  EXPECT_TRUE(wait_until([this] { return attempt_.survivors().empty(); }));
  EXPECT_FALSE(attempt_.has_report());
  EXPECT_NE(io::read_started(attempt_.directory()), Instant{}) << "for who reports in its place";
}

TEST_P(RunnerTest, ItOutlivesTheSignalsOfAServiceStop) {
  attempt_.shell("echo up; while ! [ -e outputs/go ]; do sleep 0.01; done");
  attempt_.start();
  ASSERT_TRUE(attempt_.printed("up"));
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) kill(attempt_.pid(), number);
  ASSERT_TRUE(io::write_file_atomically(attempt_.directory().code() + "/outputs/go", ""));
  EXPECT_EQ(attempt_.wait(), 0);
  EXPECT_EQ(attempt_.report().cause, Cause::completed);
}

TEST_P(RunnerTest, TenMegabytesArriveWhole) {
  attempt_.ranks(2).shell("for s in 1 2; do seq 1 700000 >&$s & done; wait");
  const auto report = run_to_end();
  EXPECT_EQ(report.cause, Cause::completed);
  std::string expected;
  for (int i = 1; i <= 700000; ++i) expected += std::to_string(i) + "\n";
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_TRUE(attempt_.out(rank) == expected);
    EXPECT_TRUE(attempt_.err(rank) == expected);
    EXPECT_EQ(report.logs.at(rank).stdout_bytes, expected.size());
  }
}

TEST_P(RunnerTest, ARankMayOpenDevStdout) {
  attempt_.shell("echo one > /dev/stdout; echo two > /dev/stderr");
  EXPECT_EQ(run_to_end().cause, Cause::completed);
  EXPECT_EQ(attempt_.out() + attempt_.err(), "one\ntwo\n");
}

TEST_P(RunnerTest, AMasterPortIsLeasedAndFree) {
  attempt_.assignment.spec.distribution.kind = Distribution::Kind::pytorch;
  attempt_.argv({"/usr/bin/python3", "-c",
                 "import os,socket;s=socket.socket();s.setsockopt(socket.SOL_SOCKET,"
                 "socket.SO_REUSEADDR,1);s.bind((os.environ['MASTER_ADDR'],"
                 "int(os.environ['MASTER_PORT'])));s.listen();print('listening')"});
  EXPECT_EQ(run_to_end().cause, Cause::completed);
  EXPECT_EQ(attempt_.out(), "listening\n");
}

TEST_P(RunnerTest, AnOverlayKeepsTheTreeAndAllRanksSeeTheCommonPath) {
  TemporaryDirectory tree;
  ASSERT_TRUE(io::write_file_atomically(tree.path() + "/train.sh", "echo trained > model; pwd\n"));
  const bool ordinary = GetParam() || !running_as_root();
  attempt_.workspace.mode =
      ordinary ? WorkspacePlan::Mode::overlay_userns : WorkspacePlan::Mode::overlay;
  attempt_.workspace.tree = tree.path();
  TemporaryDirectory parent;
  const std::string jobs = parent.path() + "/lockstep/jobs";
  const bool must_give = GetParam() && running_as_root();
  if (must_give) {
    ASSERT_EQ(chown(parent.path().c_str(), kNobody, kNobody), 0);
  }
  attempt_.workspace.mount_point = jobs + "/" + to_string(attempt_.assignment.attempt);
  attempt_.shell("sh train.sh; ls");
  EXPECT_EQ(run_to_end().cause, Cause::completed);
  EXPECT_EQ(attempt_.out(), attempt_.workspace.mount_point + "\nlogs\nmodel\noutputs\ntrain.sh\n");
  EXPECT_EQ(*io::read_file(attempt_.directory().upper() + "/model"), "trained\n");
  EXPECT_FALSE(io::exists(tree.path() + "/model"));
  EXPECT_FALSE(io::exists(attempt_.workspace.mount_point));
}

// What a killed rank leaves in the node's stays there, and takes its memory.
TEST_P(RunnerTest, SharedMemoryIsTheAttemptsAndGoesWithIt) {
  TemporaryDirectory parent;
  if (GetParam() && running_as_root()) {
    ASSERT_EQ(chown(parent.path().c_str(), kNobody, kNobody), 0);
  }
  attempt_.workspace.mount_point =
      parent.path() + "/lockstep/jobs/" + to_string(attempt_.assignment.attempt);
  const std::string segment = "/dev/shm/lockstep-unit-" + std::to_string(getpid());
  ASSERT_TRUE(io::write_file_atomically(segment + "-node", "of the node"));
  attempt_.assignment.allotment.memory = mebibytes(64);
  attempt_.ranks(2).shell("echo of rank $LOCKSTEP_RANK > /dev/shm/.$LOCKSTEP_RANK; " +
                          ("mv /dev/shm/.$LOCKSTEP_RANK " + segment + "-$LOCKSTEP_RANK; ") +
                          "while [ $(ls /dev/shm | wc -l) != 2 ]; do sleep 0.01; done; cat " +
                          segment +
                          "-?; df -k /dev/shm | awk 'NR == 2 { print $2 }'; "
                          "[ $LOCKSTEP_RANK = 0 ] || sleep 1; kill -9 $$");
  EXPECT_EQ(run_to_end().cause, Cause::signal);
  EXPECT_EQ(attempt_.out(0), "of rank 0\nof rank 1\n65536\n") << attempt_.runner_log();
  EXPECT_FALSE(io::exists(segment + "-0"));
  EXPECT_FALSE(io::exists(segment + "-1"));
  EXPECT_TRUE(io::exists(segment + "-node"));
  unlink((segment + "-node").c_str());
}

// Where something that the job uses lies there.
TEST_P(RunnerTest, AnInputInSharedMemoryIsStillThere) {
  TemporaryDirectory parent;
  if (GetParam() && running_as_root()) {
    ASSERT_EQ(chown(parent.path().c_str(), kNobody, kNobody), 0);
  }
  attempt_.workspace.mount_point =
      parent.path() + "/lockstep/jobs/" + to_string(attempt_.assignment.attempt);
  const std::string segment = "/dev/shm/lockstep-unit-" + std::to_string(getpid());
  ASSERT_TRUE(io::write_file_atomically(segment, "of the node\n"));
  DataInput input;
  input.name = "d";
  input.mode = InputMode::direct;
  input.address = segment;
  attempt_.assignment.spec.data = {input};
  attempt_.shell("cat " + segment);
  EXPECT_EQ(run_to_end().cause, Cause::completed);
  EXPECT_EQ(attempt_.out(), "of the node\n") << attempt_.runner_log();
  unlink(segment.c_str());
}

TEST_P(RunnerTest, AnOverlayThatCannotBeMountedIsTheWorkspacesFailure) {
  attempt_.workspace.mode = WorkspacePlan::Mode::overlay_userns;
  attempt_.workspace.tree = attempt_.directory().path() + "/absent";
  attempt_.shell("echo never");
  const auto report = run_to_end();
  EXPECT_EQ(report.cause, Cause::workspace_failed);
  EXPECT_NE(log_text(report.why).find("absent"), std::string::npos) << log_text(report.why);
}

TEST_P(RunnerTest, SpawnKilledIsTheRunnersLossAndLeavesNothing) {
  attempt_.ranks(2).shell(std::string(kStubborn) + "while :; do sleep 1; done");
  attempt_.start();
  ASSERT_TRUE(attempt_.printed("daemon", 0) && attempt_.printed("daemon", 1));
  FakeAgent agent(attempt_);
  ASSERT_TRUE(agent.report_in(PartState::running));  // the runner has heard that they run
  const auto below = spawn::descendants_of(attempt_.pid());
  ASSERT_FALSE(below.empty());
  kill(below.front(), SIGKILL);  // its only child
  ASSERT_EQ(attempt_.wait(), 0);
  EXPECT_EQ(attempt_.report().cause, Cause::runner_lost);
  expect_nothing_left();
}

TEST_P(RunnerTest, ARankKilledFromOutsideIsNamed) {
  attempt_.ranks(2).shell("echo $$; exec sleep 1000");
  attempt_.start();
  std::vector<int> ranks;  // kept: one is not seen while it becomes another program
  ASSERT_TRUE(wait_until([&] {
    ranks = attempt_.survivors();
    return ranks.size() == 2;
  }));
  FakeAgent agent(attempt_);
  ASSERT_TRUE(agent.report_in(PartState::running));
  kill(ranks.at(1), SIGKILL);
  ASSERT_EQ(attempt_.wait(), 0);
  const auto report = attempt_.report();
  EXPECT_EQ(report.cause, Cause::signal);
  ASSERT_TRUE(report.first_failed_rank);
  const auto& first = report.ranks.at(*report.first_failed_rank);
  EXPECT_EQ(exit_code_of(first), 137);
  EXPECT_TRUE(first.why.is<KilledFromOutside>()) << log_text(first.why);
  EXPECT_FALSE(first.terminated_by_us);
  EXPECT_TRUE(report.ranks.at(1 - *report.first_failed_rank).terminated_by_us);
  expect_nothing_left();
}

}  // namespace
}  // namespace lockstep::runner::testing
