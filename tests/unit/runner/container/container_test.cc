// Ranks in a container: the real lockstep-runner, a Docker daemon of the test's own and an image of
// busybox. What holds on the node itself must hold there.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "common/domain/why/all/convert.h"
#include "common/domain/why/ranks/notes.h"
#include "common/domain/why/ranks/ranks.h"
#include "common/io/process.h"
#include "tests/unit/runner/container/container_fixture.h"

namespace lockstep::runner::testing {
namespace {

constexpr unsigned kNobody = 65534;
constexpr char kStubborn[] =
    "(setsid sh -c \"trap '' TERM HUP INT; echo daemon; while read x < /dev/zero; do :; done\" &)"
    "; ";

TEST_F(ContainerTest, ATrivialJobCompletes) {
  attempt_.argv({"echo", "hello"});
  const auto report = run_to_end();
  EXPECT_EQ(report.cause, Cause::completed) << log_text(report.why);
  ASSERT_EQ(report.ranks.size(), 1U);
  EXPECT_EQ(attempt_.out(), "hello\n");
  EXPECT_EQ(report.started, io::read_started(attempt_.directory()));
  EXPECT_NE(attempt_.runner_log().find("under container"), std::string::npos);
}

TEST_F(ContainerTest, ExitCodesAndStderrTailAreReported) {
  attempt_.shell("echo oops >&2; exit 3");
  const auto report = run_to_end();
  EXPECT_EQ(report.cause, Cause::exit_code);
  EXPECT_EQ(report.ranks.at(0).exit_code, 3);
  EXPECT_EQ(report.ranks.at(0).stderr_tail, "oops\n");
}

TEST_F(ContainerTest, ASignalIsReported) {
  attempt_.shell("kill -SEGV $$");
  const auto report = run_to_end();
  EXPECT_EQ(report.cause, Cause::signal);
  EXPECT_EQ(report.ranks.at(0).signal, SIGSEGV);
}

TEST_F(ContainerTest, AnUnknownProgramIs127) {
  attempt_.argv({"python3"});  // the node may have one: that is not looked for
  const auto report = run_to_end();
  EXPECT_EQ(report.cause, Cause::command_not_found);
  EXPECT_EQ(report.ranks.at(0).why,
            Why(RankNotStarted{StartStep::exec, "python3", false, "No such file or directory"}));
}

TEST_F(ContainerTest, AFileThatCannotRunIs126) {
  attempt_.argv({"/etc/hosts"});
  EXPECT_EQ(run_to_end().cause, Cause::command_not_executable);
}

TEST_F(ContainerTest, RanksAreTheUserInTheirWorkingDirectory) {
  attempt_.shell(
      "pwd; id -u; id -g; hostname; echo $USER $SHELL $OF_THE_IMAGE $PATH; "
      "touch outputs/a logs/b $TMPDIR/c $HOME/d && ls; grep NoNewPrivs /proc/self/status");
  EXPECT_EQ(output(), attempt_.workspace.mount_point + "\n65534\n65534\n" + io::host_name() +
                          "\nnobody /bin/sh 1 /bin\nlogs\noutputs\nNoNewPrivs:\t1\n");
  struct stat info {};
  ASSERT_EQ(stat((attempt_.directory().code() + "/outputs/a").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, kNobody);
  EXPECT_TRUE(io::exists(attempt_.directory().tmp() + "/c"));
  EXPECT_TRUE(io::exists(attempt_.directory().home() + "/d"));
}

TEST_F(ContainerTest, TheEnvironmentIsALoginsTheImagesAndOurs) {
  attempt_.workspace.activation->variables["HOME"] = "/of/the/image";
  attempt_.assignment.spec.environment_variables["MINE"] = "a=b c";
  attempt_.argv({"env"});
  const std::string text = "\n" + output();
  for (const char* line : {"\nMINE=a=b c\n", "\nHOME=/nonexistent\n", "\nLANG=C.UTF-8\n",
                           "\nLOCKSTEP_WORLD_SIZE=1\n", "\nOF_THE_IMAGE=1\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  for (const char* name : {"SECRET_OF_THE_AGENT", "DOCKER_HOST", "PYTHONHOME"})
    EXPECT_EQ(text.find("\n" + std::string(name) + "="), std::string::npos) << name;
}

TEST_F(ContainerTest, RootsRanksAreRoot) {
  attempt_.assignment.spec.run_as = "root";
  attempt_.shell("id -u; touch outputs/a && echo $HOME");
  EXPECT_EQ(output(), "0\n/root\n");
}

TEST_F(ContainerTest, AnOrdinaryUsersRunnerDoesTheSame) {
  attempt_.runner_uid = kNobody;
  attempt_.shell("id -u; touch outputs/a $HOME/b && pwd");
  EXPECT_EQ(output(), "65534\n" + attempt_.workspace.mount_point + "\n");
}

TEST_F(ContainerTest, ItSeesNothingElseOfTheAttempt) {
  attempt_.shell("ls -a " + attempt_.directory().path() +
                 "; ls /.lockstep; touch /.lockstep/run/x");
  EXPECT_EQ(run_to_end().cause, Cause::exit_code);
  EXPECT_EQ(attempt_.out(), ".\n..\ntmp\nlockstep-spawn\nrun\n");
}

TEST_F(ContainerTest, SharedMemoryHasItsSize) {
  attempt_.shell("df -k /dev/shm | awk 'NR == 2 { print $2 }'");
  EXPECT_EQ(output(), "2097152\n");
}

TEST_F(ContainerTest, SharedMemoryAndOtherWordsOfTheJob) {
  attempt_.assignment.spec.resources.shm_size = mebibytes(32);
  attempt_.assignment.spec.environment_variables["B"] = "of the job";
  attempt_.assignment.spec.resources.docker_args = {
      "--env", "A=1", "-eB=2", "--add-host", "store:10.0.0.7", "--tmpfs", "/tmp", "--read-only"};
  attempt_.shell(
      "df -k /dev/shm | awk 'NR == 2 { print $2 }'; echo $A $B; grep store /etc/hosts; "
      "touch outputs/a /tmp/b && ls /tmp/b; touch /etc/x");
  EXPECT_EQ(run_to_end().cause, Cause::exit_code);
  EXPECT_EQ(attempt_.out(), "32768\n1 of the job\n10.0.0.7 store\n/tmp/b\n");
  EXPECT_NE(attempt_.err().find("Read-only file system"), std::string::npos);
}

TEST_F(ContainerTest, RanksOfANodeShareOne) {
  attempt_.ranks(3).shell(
      "echo $LOCKSTEP_RANK > /dev/shm/$LOCKSTEP_RANK; "
      "while [ $(ls /dev/shm | wc -l) != 3 ]; do sleep 0.01; done; cat /dev/shm/*");
  EXPECT_EQ(run_to_end().cause, Cause::completed);
  for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(attempt_.out(rank), "0\n1\n2\n");
}

TEST_F(ContainerTest, MegabytesArriveWholeAndARankMayOpenDevStdout) {
  attempt_.shell("seq 1 300000; echo end > /dev/stdout");
  std::string expected;
  for (int i = 1; i <= 300000; ++i) expected += std::to_string(i) + "\n";
  EXPECT_TRUE(output() == expected + "end\n");
}

TEST_F(ContainerTest, StopIsSigtermFirst) {
  attempt_.shell("trap 'echo saved; exit 3' TERM; echo up; while :; do sleep 0.01; done");
  attempt_.start();
  ASSERT_TRUE(attempt_.printed("up"));
  stop();
  EXPECT_EQ(attempt_.out(), "up\nsaved\n");
  EXPECT_EQ(attempt_.report().ranks.at(0).exit_code, 3);
}

TEST_F(ContainerTest, ThenSigkill) {
  attempt_.assignment.grace = milliseconds(200);
  attempt_.shell("trap '' TERM; echo up; while :; do sleep 0.01; done");
  attempt_.start();
  ASSERT_TRUE(attempt_.printed("up"));
  stop();
  EXPECT_EQ(attempt_.report().ranks.at(0).signal, SIGKILL);
}

TEST_F(ContainerTest, DaemonsOfAFinishedRankAreGone) {
  attempt_.shell(std::string(kStubborn) + "sleep 0.1; exit 0");
  EXPECT_EQ(run_to_end().cause, Cause::completed);
}

TEST_F(ContainerTest, ARunnerKilledByNineLeavesNoContainer) {
  attempt_.ranks(2).shell(std::string(kStubborn) + "while :; do sleep 1; done");
  attempt_.start();
  ASSERT_TRUE(attempt_.printed("daemon", 0) && attempt_.printed("daemon", 1));
  EXPECT_NE(containers(), "");
  kill(attempt_.pid(), SIGKILL);
  EXPECT_EQ(attempt_.wait(), 128 + SIGKILL);
  EXPECT_TRUE(wait_until([&] { return attempt_.survivors().empty() && containers().empty(); }));
  EXPECT_FALSE(attempt_.has_report());
}

TEST_F(ContainerTest, OutOfMemoryIsSaidOfTheRankThatWasKilled) {
  attempt_.assignment.spec.resources.memory = mebibytes(64);
  attempt_.assignment.allotment.memory = mebibytes(64);
  attempt_.ranks(2).shell(
      "[ $LOCKSTEP_RANK = 0 ] && exec sleep 1000; dd if=/dev/zero of=/dev/null bs=200M; exit $?");
  const auto report = run_to_end();
  EXPECT_EQ(report.cause, Cause::out_of_memory) << log_text(report.why);
  EXPECT_EQ(report.first_failed_rank, 1);
}

TEST_F(ContainerTest, AFailureOfAJobWithAMemoryLimitIsNotMemory) {
  attempt_.assignment.spec.resources.memory = mebibytes(64);
  attempt_.assignment.allotment.memory = mebibytes(64);
  attempt_.shell("exit 3");
  EXPECT_EQ(run_to_end().cause, Cause::exit_code);
}

// Of two nodes on this machine; the second says that it has an address of its own, which nobody
// calls.
TEST_F(ContainerTest, TheNodesOfAGangFindEachOtherByName) {
  Attempt other;
  other.workspace = attempt_.workspace;
  other.assignment.spec = attempt_.assignment.spec;
  Attempt* const nodes[] = {&attempt_, &other};
  for (int i = 0; i < 2; ++i) {
    Assignment& assignment = nodes[i]->assignment;
    assignment.solo = false;
    assignment.phase = WantedPhase::prepare;
    assignment.node_rank = i;
    assignment.spec.resources.instance_count = 2;
    nodes[i]->shell("grep second-node /etc/hosts; grep -c localhost /etc/hosts");
    nodes[i]->start();
  }
  GangTable gang;
  std::vector<FakeAgent> agents;
  for (Attempt* node : nodes) {
    agents.emplace_back(*node);
    const auto report = agents.back().report_in(PartState::prepared);
    ASSERT_TRUE(report) << node->runner_log();
    GangMember member;
    member.hostname = gang.members.empty() ? "first-node" : "second-node";
    member.address = gang.members.empty() ? "127.0.0.1" : "192.0.2.2";
    member.runner_port = report->runner_port;
    member.runner_key = report->runner_key;
    gang.members.push_back(member);
    gang.master_port = std::max(gang.master_port, report->master_port);
  }
  for (int i = 0; i < 2; ++i) {
    nodes[i]->assignment.phase = WantedPhase::run;
    nodes[i]->assignment.gang = gang;
    agents[i].send(nodes[i]->assignment);
  }
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(nodes[i]->wait(), 0);
    EXPECT_EQ(nodes[i]->report().cause, Cause::completed) << log_text(nodes[i]->report().why);
    EXPECT_EQ(nodes[i]->out(i).substr(0, 22), "192.0.2.2 second-node\n");
  }
  expect_nothing_left();
}

// An image with Open MPI would take minutes to make: this one is given the node's.
TEST_F(ContainerTest, MpiRanksAreOneWorldAndSayNothingElse) {
  const std::string programs = LOCKSTEP_RANK_PROGRAMS;
  if (!io::exists(programs + "/mpi_hello"))
    GTEST_SKIP() << "needs the target rank_programs (Open MPI)";
  auto& arguments = attempt_.assignment.spec.resources.docker_args;
  const std::pair<std::string, std::string> shown[] = {{"/usr", "/usr"},
                                                       {"/usr/lib", "/lib"},
                                                       {"/usr/lib64", "/lib64"},
                                                       {"/etc/ld.so.cache", "/etc/ld.so.cache"},
                                                       {"/etc/alternatives", "/etc/alternatives"},
                                                       {"/etc/openmpi", "/etc/openmpi"},
                                                       {programs, "/programs"}};
  for (const auto& [source, target] : shown) {
    arguments.emplace_back("--mount");
    arguments.push_back("type=bind,readonly,source=" + source + ",target=" + target);
  }
  attempt_.assignment.spec.distribution = {Distribution::Kind::mpi, 2};
  attempt_.argv({"/programs/mpi_hello", "2", "1"});
  EXPECT_EQ(run_to_end().cause, Cause::completed)
      << log_text(attempt_.report().why) << attempt_.err();
  EXPECT_NE(attempt_.out(1).find("rank 1 of 2"), std::string::npos) << attempt_.out(1);
  EXPECT_EQ(attempt_.err(0) + attempt_.err(1), "");
}

TEST_F(ContainerTest, MemoryThatCannotBeLimitedIsNoted) {
  container().limits_memory = false;
  attempt_.assignment.spec.resources.memory = mebibytes(64);
  attempt_.argv({"true"});
  const auto report = run_to_end();
  EXPECT_EQ(report.cause, Cause::completed);
  ASSERT_FALSE(report.notes.empty());
  EXPECT_EQ(report.notes.front(),
            Why(MemoryIsNotLimited{mebibytes(64), EngineLimitsNoMemory{container().engine}}));
  EXPECT_NE(attempt_.runner_log().find("memory_is_not_limited"), std::string::npos);
}

}  // namespace
}  // namespace lockstep::runner::testing
