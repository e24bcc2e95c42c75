#include "common/io/runners.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "common/io/attempt_cgroups.h"
#include "common/io/attempt_dir.h"
#include "common/io/cgroups.h"
#include "common/io/nursery.h"
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

}  // namespace
}  // namespace lockstep::io
