#include "common/io/attempt/runners.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <vector>

#include "common/io/attempt/attempt_dir.h"
#include "common/io/cgroups/attempt_cgroups.h"
#include "common/io/cgroups/cgroups.h"
#include "common/io/cgroups/nursery.h"
#include "tests/unit/common/io/helpers.h"

namespace lockstep::io {
namespace {

constexpr char kName[] = "unit-homeless.1";

// A process with a child that survives it, its cgroups, and the path of an attempt directory that
// nobody has made.
class RunnersTest : public testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      enter_nursery();
      const pid_t child = ::fork();
      if (child != 0 && ::write(ends[1], &child, sizeof child) < 0) ::_exit(1);
      for (;;) ::pause();
    }
    ASSERT_EQ(::read(ends[0], &child_, sizeof child_), static_cast<ssize_t>(sizeof child_));
    for (const int end : ends) ::close(end);
    nursery_ = nursery_of(pid_);
    const CgroupName name = cgroup_name(kName, pid_);
    const std::string record = dir_ / "record";
    const auto made = Cgroups::create({name.lead + "0" + name.tail, 1, mebibytes(64), 2, record});
    if (!made) GTEST_SKIP() << "no cgroup is writable here: " << made.error().message;
    runner_ = Runner{*identify(pid_), dir_ / ("attempts/" + std::string(kName))};
    ASSERT_FALSE(cgroups_of(kName, pid_).empty());
  }
  void TearDown() override {
    if (child_ > 0) ::kill(child_, SIGKILL);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    EXPECT_TRUE(clean_cgroups_of(kName, pid_));
    remove_empty_nurseries();
  }

  TempDir dir_;
  pid_t pid_ = 0, child_ = 0;
  std::string nursery_;  // of both; "" where there is none
  Runner runner_;
};

TEST_F(RunnersTest, ARunnerWithoutItsDirectoryIsEndedAndNothingStays) {
  ::kill(child_, SIGKILL);
  EXPECT_TRUE(end_runner(runner_));
  EXPECT_FALSE(is_alive(runner_.process));
  EXPECT_TRUE(cgroups_of(kName, pid_).empty());
  EXPECT_FALSE(exists(runner_.directory));
  EXPECT_FALSE(exists(nursery_)) << nursery_;
}

// `down` ends an agent in the middle of this.
TEST_F(RunnersTest, WhoIsKilledWhileItEndsARunnerLeavesARecordOfItsCgroups) {
  const pid_t caller = ::fork();
  if (caller == 0) {
    const Status ended = end_runner(runner_);  // it waits for the child
    ::_exit(ended ? 0 : 1);
  }
  ASSERT_EQ(::waitpid(pid_, nullptr, 0), pid_);
  ::kill(caller, SIGKILL);
  ASSERT_EQ(::waitpid(caller, nullptr, 0), caller);
  EXPECT_FALSE(cgroups_of(kName, pid_).empty());
  EXPECT_TRUE(clean_cgroups(AttemptDir(runner_.directory).cgroups()));
  EXPECT_TRUE(cgroups_of(kName, pid_).empty());
  EXPECT_FALSE(exists(nursery_)) << nursery_;
}

TEST_F(RunnersTest, CgroupsOfADeadRunnerAreFoundWithoutTheirRecord) {
  ::kill(child_, SIGKILL);
  ::kill(pid_, SIGKILL);
  ASSERT_EQ(::waitpid(pid_, nullptr, 0), pid_);
  EXPECT_TRUE(remove_cgroups(runner_));
  EXPECT_TRUE(cgroups_of(kName, pid_).empty());
}

// Another process of the machine, which says that it is a runner.
class ClaimsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(::chmod(dir_.path().c_str(), 0755), 0);
    for (const char* name : {"/lockstep-runner", "/other"}) {
      std::filesystem::copy_file(FORKED_PROGRAM, dir_.path() + name);
      ASSERT_EQ(::chmod((dir_.path() + name).c_str(), 0755), 0);
    }
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends_), 0);
  }
  void TearDown() override {
    for (const pid_t pid : started_) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
    for (const int end : ends_) ::close(end);
  }
  // It waits for orders on its stdin.
  pid_t start(const std::string& directory, uid_t user = ::geteuid(),
              const std::string& program = "lockstep-runner") {
    int told[2];
    EXPECT_EQ(::pipe2(told, O_CLOEXEC), 0);
    const std::string path = dir_ / program;
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::dup2(ends_[0], STDIN_FILENO);
      if (user == ::geteuid() || ::setresuid(user, user, user) == 0)
        ::execl(path.c_str(), "lockstep-runner", "--attempt-dir", directory.c_str(), nullptr);
      ::_exit(127);
    }
    started_.push_back(pid);
    ::close(told[1]);
    char byte = 0;
    EXPECT_EQ(::read(told[0], &byte, 1), 0) << "closed by exec";
    ::close(told[0]);
    return pid;
  }
  std::vector<int> found(const std::string& folder) const {
    std::vector<int> pids;
    for (const Runner& runner : runners_below(folder)) pids.push_back(runner.process.pid);
    return pids;
  }

  TempDir dir_;
  int ends_[2] = {-1, -1};
  std::vector<pid_t> started_;
};

TEST_F(ClaimsTest, ARunnerOfOursIsFoundAtEachLevelThatLockstepMakes) {
  for (const char* below : {"job.1", "job.2-7"}) {
    const pid_t pid = start(dir_ / ("nodes/n1/attempts/" + std::string(below)));
    EXPECT_THAT(found(dir_ / "nodes/n1/attempts"), testing::Contains(pid));
    EXPECT_THAT(found(dir_ / "nodes/n1"), testing::Contains(pid));
    EXPECT_THAT(found(dir_ / "nodes"), testing::Contains(pid));
    EXPECT_TRUE(found(dir_ / "nodes/n2").empty());
  }
}

TEST_F(ClaimsTest, ARunnerWhoseProgramWasReplacedIsFound) {
  const pid_t pid = start(dir_ / "attempts/job.1");
  ASSERT_EQ(::unlink((dir_ / "lockstep-runner").c_str()), 0);
  EXPECT_THAT(found(dir_ / "attempts"), testing::Contains(pid)) << "and a child that it forks";
}

TEST_F(ClaimsTest, AProcessOfAnotherAccountIsNoRunner) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can start a process of another account";
  start(dir_ / "attempts/job.1", 65534);
  EXPECT_TRUE(found(dir_ / "attempts").empty());
}

// As a setuid program would be, which anybody may start with any command line.
TEST_F(ClaimsTest, AnotherProgramIsNoRunner) {
  start(dir_ / "attempts/job.1", ::geteuid(), "other");
  EXPECT_TRUE(found(dir_ / "attempts").empty());
}

TEST_F(ClaimsTest, APathThatIsNoAttemptOfTheFolderIsNoRunner) {
  for (const char* path :
       {"attempts/../../../tmp/bob/x.1", "attempts/..", "attempts/no_number", "attempts/",
        "attempts/a/b/x.1", "attempts/../attempts/x.1", "attempts/a/attempts/../x.1",
        "attempts/x.1/code/deep/attempts/x.1", "attempts//x.1"})
    start(dir_ / path);
  EXPECT_TRUE(found(dir_ / "attempts").empty());
}

TEST(CgroupRecordTest, OnlyAFileOfOursIsRead) {
  const TempDir dir;
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  dir.file("real", "");
  dir.link(dir / "real", "link");
  dir.folder("folder");
  for (const char* name : {"pipe", "link", "folder"}) {
    const Status cleaned = clean_cgroups(dir / name);
    ASSERT_FALSE(cleaned) << name;
    EXPECT_EQ(cleaned.error().code, ErrorCode::unsupported) << cleaned.error().message;
    EXPECT_FALSE(any_cgroup(dir / name));
  }
  EXPECT_TRUE(clean_cgroups(dir / "real"));
  EXPECT_TRUE(clean_cgroups(dir / "absent"));
  if (::geteuid() != 0 || ::chown((dir / "real").c_str(), 65534, 65534) != 0) return;
  EXPECT_FALSE(clean_cgroups(dir / "real"));
}

TEST(CgroupRecordTest, OnlyDirectoriesOfTheCgroupFileSystemAreEmptied) {
  const TempDir dir;
  dir.folder("lockstep/x");
  dir.folder("lockstep/empty");
  dir.file("target", "");
  dir.link(dir / "target", "lockstep/x/cgroup.kill");
  const pid_t pid = ::fork();
  if (pid == 0)
    for (;;) ::pause();
  dir.file("lockstep/x/cgroup.procs", std::to_string(pid));
  dir.file("record", dir / "lockstep/x" + "\n" + (dir / "lockstep/empty") + "\n");
  EXPECT_TRUE(clean_cgroups(dir / "record"));
  EXPECT_FALSE(any_cgroup(dir / "record"));
  EXPECT_EQ(dir.read("target"), "");
  EXPECT_TRUE(exists(dir / "lockstep/empty"));
  EXPECT_EQ(::waitpid(pid, nullptr, WNOHANG), 0) << "it was killed";
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

}  // namespace
}  // namespace lockstep::io
