// Real MPI jobs through the PMIx bootstrap and the gang's tree, without mpirun: each test runs
// pmix_harness, which starts one process per node. Exit codes are explained there.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>

#include "common/io/process.h"

namespace lockstep::runner {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  int code = -1;
  std::string output;  // both streams
};

Outcome shell(const std::string& command) {
  Outcome outcome;
  FILE* pipe = popen(("timeout -k 5 120 " + command + " 2>&1").c_str(), "re");
  if (!pipe) return outcome;
  char buffer[4096];
  for (std::size_t n = 0; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
    outcome.output.append(buffer, n);
  }
  const int status = pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

bool root() { return geteuid() == 0; }

int count(const std::string& text, const std::string& what) {
  int found = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != text.npos; at += what.size()) ++found;
  return found;
}

// Programs lie in a place that every user can reach: a build directory may be private.
class PmixTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    char name[] = "/tmp/lockstep-pmix-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    directory_ = name;
    fs::permissions(directory_, fs::perms(0755));
    const fs::path built = io::program_directory();
    fs::copy(built / "pmix_harness", directory_);
    fs::copy(LOCKSTEP_BIN_DIR "/lockstep-pmix", directory_);
    if (!fs::exists(built / "programs")) return;
    for (const auto& entry : fs::directory_iterator(built / "programs")) {
      if (entry.is_regular_file()) fs::copy(entry.path(), directory_);
    }
  }
  static void TearDownTestSuite() { fs::remove_all(directory_); }

  void SetUp() override {
    if (!fs::exists(directory_ + "/mpi_hello")) GTEST_SKIP() << "no MPI compiler at build time";
  }

  // "--nodes 2 --ranks 2", "mpi_hello 4"
  static Outcome run(const std::string& shape, const std::string& program,
                     const std::string& before = "") {
    const std::string path = program[0] == '/' ? program : directory_ + "/" + program;
    return shell(before + " " + directory_ + "/pmix_harness --timeout 60 " + shape + " -- " + path);
  }
  static std::string directory_;
};
std::string PmixTest::directory_;

TEST_F(PmixTest, ShapesOfGangs) {
  struct Shape {
    int nodes, ranks;
  };
  for (const Shape shape : {Shape{1, 1}, Shape{1, 4}, Shape{2, 2}, Shape{3, 2}}) {
    const std::string world = std::to_string(shape.nodes * shape.ranks);
    const Outcome outcome =
        run("--nodes " + std::to_string(shape.nodes) + " --ranks " + std::to_string(shape.ranks),
            "mpi_hello " + world);
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    EXPECT_EQ(count(outcome.output, " of " + world + " on "), shape.nodes * shape.ranks);
  }
}

TEST_F(PmixTest, ManyJobsInARow) {
  const Outcome outcome = run("--nodes 2 --ranks 2 --jobs 25", "mpi_hello");
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_EQ(count(outcome.output, " of 4 on "), 100);
}

TEST_F(PmixTest, PythonSeesTheSameWorld) {
  if (shell("/usr/bin/python3 -c 'import mpi4py'").code != 0) GTEST_SKIP() << "no mpi4py";
  // One write a rank: they share the harness's pipe, and print would write in pieces.
  const Outcome outcome =
      run("--nodes 2 --ranks 2",
          "/usr/bin/python3 -c 'from mpi4py import MPI; import os; c = MPI.COMM_WORLD;"
          " os.write(1, b\"size %d %d\\n\" % (c.size, c.allreduce(c.rank)))'");
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_EQ(count(outcome.output, "size 4 6"), 4) << outcome.output;
}

TEST_F(PmixTest, DirectModexAndGroupFences) {
  const Outcome outcome = run("--nodes 3 --ranks 2", "pmix_modex 100000");
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_EQ(count(outcome.output, "modex and fences agree"), 6);
}

TEST_F(PmixTest, AbortIsReportedWithItsCode) {
  const Outcome outcome = run("--nodes 2 --ranks 2", "mpi_abort 42");
  EXPECT_EQ(outcome.code, 42) << outcome.output;
  EXPECT_EQ(count(outcome.output, "rank 3 aborted with 42"), 1) << outcome.output;
}

TEST_F(PmixTest, ExitWithoutFinalizeIsSeen) {
  const Outcome outcome = run("--nodes 2 --ranks 2", "mpi_exit_without_finalize 1");
  EXPECT_EQ(outcome.code, 125) << outcome.output;
  EXPECT_EQ(count(outcome.output, "rank 1 failed: exit 0 signal 0 connected true finalized false"),
            1);
}

TEST_F(PmixTest, RanksThatNeverConnectAreSeen) {
  const Outcome outcome = run("--nodes 1 --ranks 1", "/bin/true");
  EXPECT_EQ(outcome.code, 125) << outcome.output;
  EXPECT_EQ(count(outcome.output, "connected false"), 1);
}

TEST_F(PmixTest, ARankKilledAtAnyMomentHangsNobody) {
  EXPECT_EQ(run("--nodes 2 --ranks 2", "mpi_crash 9 1 before").code, 137);
  EXPECT_EQ(run("--nodes 2 --ranks 2", "mpi_crash 9 1 fence").code, 137);
  EXPECT_EQ(run("--nodes 2 --ranks 2", "mpi_crash 9 0 fence").code, 137);
  EXPECT_EQ(run("--nodes 2 --ranks 2", "mpi_crash 11 3 collective").code, 139);
  EXPECT_EQ(run("--nodes 2 --ranks 2 --kill-rank 2", "mpi_hello").code, 137);
}

TEST_F(PmixTest, WhatIsNotServedFailsAndIsNamed) {
  const Outcome spawn = run("--nodes 2 --ranks 1", "mpi_unsupported spawn");
  EXPECT_NE(spawn.code, 0);
  EXPECT_NE(spawn.code, 124);
  EXPECT_EQ(count(spawn.output, "MPI_Comm_spawn is not supported"), 1) << spawn.output;
  for (const char* what : {"publish", "connect"}) {
    const Outcome outcome = run("--nodes 2 --ranks 1", std::string("mpi_unsupported ") + what);
    EXPECT_NE(outcome.code, 0);
    EXPECT_NE(outcome.code, 124);
    EXPECT_GE(count(outcome.output, "publishing of names"), 1) << outcome.output;
  }
}

TEST_F(PmixTest, TheLongestJobNameFits) {
  const std::string name(240, 'n');
  EXPECT_EQ(run("--nodes 2 --ranks 2 --name " + name, "mpi_hello 4").code, 0);
}

TEST_F(PmixTest, TheUsersOwnOpenMpiSettingsWin) {
  const std::string own = "--env OMPI_MCA_btl=self,tcp --env OMPI_MCA_btl_tcp_if_exclude=none0 ";
  const Outcome outcome = run(own + "--nodes 2 --ranks 2", "mpi_hello 4");
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  const Outcome variables = run("--nodes 1 --ranks 1 --env OMPI_MCA_btl=self,tcp", "/usr/bin/env");
  EXPECT_EQ(count(variables.output, "OMPI_MCA_btl=self,tcp\n"), 1) << variables.output;
  EXPECT_EQ(count(variables.output, "OMPI_MCA_schizo=^orte\n"), 1);
  EXPECT_EQ(count(variables.output, "OMPI_COMM_WORLD_SIZE=1\n"), 1);
}

TEST_F(PmixTest, RootStartsRanksOfAnotherUser) {
  if (!root()) GTEST_SKIP() << "not root";
  const Outcome outcome =
      run("--nodes 2 --ranks 2 --uid 12345 --gid 12345 --jobs 3", "mpi_hello 4");
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_EQ(count(outcome.output, " of 4 on "), 12);
  EXPECT_EQ(count(outcome.output, "lock"), 0) << outcome.output;
  EXPECT_EQ(run("--nodes 2 --ranks 2 --uid 12345 --gid 12345", "mpi_abort 7").code, 7);
}

TEST_F(PmixTest, AnOrdinaryUserRunsAll) {
  if (!root()) GTEST_SKIP() << "not root: the other tests have shown it";
  const std::string as_user = "setpriv --reuid 12345 --regid 12345 --clear-groups";
  EXPECT_EQ(run("--nodes 2 --ranks 2", "mpi_hello 4", as_user).code, 0);
  EXPECT_EQ(run("--nodes 2 --ranks 2", "mpi_crash 9 1 fence", as_user).code, 137);
}

// Another account has all variables of a rank, and claims to be the ranks' account, which is all
// that PMIx's clients say of themselves.
class PmixIntruders : public PmixTest {
 protected:
  static constexpr unsigned kRanks = 12345, kStranger = 54321;

  void SetUp() override {
    PmixTest::SetUp();
    if (IsSkipped()) return;
    if (!root()) GTEST_SKIP() << "only root can change ids";
    char name[] = "/tmp/lockstep-intruders-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    shared_ = name;
    fs::permissions(shared_, fs::perms(01777));
    std::ofstream(shared_ + "/rank")
        << "#!/bin/sh\ncat /proc/self/environ > " << shared_ << "/$PMIX_RANK.new && mv " << shared_
        << "/$PMIX_RANK.new " << shared_ << "/$PMIX_RANK\n"
        << "while [ ! -e " << shared_ << "/go ]; do sleep 0.02; done\n"
        << "exec " << directory_ << "/mpi_hello 2\n";
    fs::permissions(shared_ + "/rank", fs::perms(0755));
  }
  void TearDown() override {
    if (!shared_.empty()) fs::remove_all(shared_);
  }

  // Starts a job of two ranks that wait; `before`: words before the harness.
  void start(const std::string& before, const std::string& more) {
    job_ = std::async(std::launch::async, [=, this] {
      return run(more + " --nodes 1 --ranks 2", shared_ + "/rank", before);
    });
    for (int look = 0; look < 3000 && !(fs::exists(shared_ + "/0") && fs::exists(shared_ + "/1"));
         ++look)
      usleep(10'000);
  }
  std::string intrude(unsigned uid, const std::string& what) const {
    const std::string ids = std::to_string(uid);
    return shell("setpriv --reuid " + ids + " --regid " + ids + " --clear-groups " + directory_ +
                 "/pmix_intruder " + shared_ + "/0 " + std::to_string(kRanks) + " " +
                 std::to_string(kRanks) + " " + what)
        .output;
  }
  Outcome end() {
    std::ofstream(shared_ + "/go") << "";
    return job_.get();
  }
  // The stranger is refused, by whoever the harness runs, and the job ends well.
  void expect_refusal(const std::string& before, const std::string& more) {
    start(before, more);
    for (int time = 0; time < 3; ++time) {
      const std::string said = intrude(kStranger, "abort");
      EXPECT_EQ(said.substr(0, 8), "refused:") << said;
    }
    const Outcome outcome = end();
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    EXPECT_EQ(count(outcome.output, " of 2 on "), 2) << outcome.output;
    EXPECT_GE(count(outcome.output, "it is of uid 54321"), 1) << outcome.output;
  }

  std::string shared_;
  std::future<Outcome> job_;
};

TEST_F(PmixIntruders, AnotherAccountJoinsNoJobOfARootRunner) {
  expect_refusal("", "--uid 12345 --gid 12345");
}

TEST_F(PmixIntruders, AnotherAccountJoinsNoJobOfAUsersRunner) {
  expect_refusal("setpriv --reuid 12345 --regid 12345 --clear-groups", "");
}

TEST_F(PmixIntruders, TheRanksOwnAccountIsLetIn) {
  start("", "--uid 12345 --gid 12345");
  EXPECT_EQ(intrude(kRanks, "abort"), "joined\n");
  EXPECT_EQ(job_.get().code, 99);
}

class PmixNamespaces : public PmixTest {
 protected:
  void SetUp() override {
    PmixTest::SetUp();
    if (IsSkipped()) return;
    const std::string id = std::to_string(getpid());
    a_ = "ls-pmix-" + id + "a";
    b_ = "ls-pmix-" + id + "b";
    if (!root() || shell("ip netns add " + a_).code != 0) {
      GTEST_SKIP() << "network namespaces need root";
    }
    must("ip netns add " + b_);
    must("ip -n " + a_ + " link add mpi0 type veth peer name mpi1 netns " + b_);
    must("ip -n " + a_ + " addr add 10.213.7.1/24 dev mpi0");
    must("ip -n " + b_ + " addr add 10.213.7.2/24 dev mpi1");
    must("ip -n " + a_ + " link set mpi0 up");
    must("ip -n " + b_ + " link set mpi1 up");
  }
  void TearDown() override {
    for (const std::string& name : {a_, b_}) {
      if (!name.empty() && fs::exists("/run/netns/" + name)) must("ip netns del " + name);
    }
  }
  static void must(const std::string& command) {
    const Outcome outcome = shell(command);
    EXPECT_EQ(outcome.code, 0) << command << ": " << outcome.output;
  }
  std::string shape(int ranks) const {
    return "--nodes 2 --ranks " + std::to_string(ranks) + " --netns " + a_ + "," + b_ +
           " --addresses 10.213.7.1,10.213.7.2";
  }
  std::string a_, b_;
};

TEST_F(PmixNamespaces, NodesWithAddressesOfTheirOwn) {
  must("ip -n " + a_ + " link set lo up");
  must("ip -n " + b_ + " link set lo up");
  const Outcome outcome = run(shape(2), "mpi_hello 4");
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  const Outcome variables = run(shape(1), "/usr/bin/env");
  for (const char* name :
       {"NCCL_SOCKET_IFNAME=", "GLOO_SOCKET_IFNAME", "OMPI_MCA_btl_tcp_if_include"}) {
    EXPECT_GE(count(variables.output, std::string(name) + "=mpi0\n") +
                  count(variables.output, std::string(name) + "=mpi1\n"),
              1)
        << name;
  }
  EXPECT_GE(count(variables.output, "AZ_BATCH_MASTER_NODE=10.213.7.1:"), 1);
}

TEST_F(PmixNamespaces, ALoopbackThatIsDownIsNamed) {
  const Outcome outcome = run(shape(1), "mpi_hello");
  EXPECT_NE(outcome.code, 0);
  EXPECT_GE(count(outcome.output, "loopback interface is down"), 1) << outcome.output;
}

}  // namespace
}  // namespace lockstep::runner
