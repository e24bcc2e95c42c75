#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "agent/inventory/cgroup_path.h"
#include "agent/supervise/cleanup.h"
#include "agent/supervise/quarantine.h"
#include "common/io/cgroups/attempt_cgroups.h"
#include "tests/fakes/disk/faults.h"
#include "tests/fakes/disk/swaps.h"
#include "tests/unit/agent/helpers.h"

namespace lockstep::agent {
namespace {

TEST(CleanupTest, KillsWhatACgroupHoldsAndRemovesIt) {
  const TempDir dir;
  const CgroupPlace place = cgroup_place();
  const std::string base =
      (place.v1("memory").empty() ? place.v2 : place.v1("memory")) + "/lockstep";
  const std::string group = base + "/cleanup-test-" + std::to_string(::getpid());
  if ((::mkdir(base.c_str(), 0755) != 0 && errno != EEXIST) || ::mkdir(group.c_str(), 0755) != 0 ||
      ::mkdir((group + "/rank_0").c_str(), 0755) != 0) {
    GTEST_SKIP() << "no cgroup is writable here";
  }
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) ::pause();
  }
  const auto members = io::open_file(group + "/rank_0/cgroup.procs", O_WRONLY);
  ASSERT_TRUE(members);
  ASSERT_TRUE(io::write_all(members->get(), std::to_string(child)));
  put(dir / "cgroups", group + "/rank_0\n" + group + "\n" + base + "/never-made\n");
  const Status cleaned = io::clean_cgroups(dir / "cgroups");
  EXPECT_TRUE(cleaned) << cleaned.error().message;
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_FALSE(io::exists(group));
  EXPECT_TRUE(io::clean_cgroups(dir / "cgroups")) << "again, with nothing left";
  ::rmdir(base.c_str());
}

TEST(CleanupTest, ADamagedRecordTouchesNoOtherCgroup) {
  const TempDir dir;
  put(dir / "elsewhere/cgroup.procs", std::to_string(::getpid()));
  put(dir / "cgroups", dir / "elsewhere" + "\n");
  EXPECT_TRUE(io::clean_cgroups(dir / "cgroups"));
  EXPECT_TRUE(io::exists(dir / "elsewhere"));
}

TEST(CleanupTest, RemovesAPartWithWhatIsStillMountedInIt) {
  const TempDir dir;
  const io::AttemptDir part(dir / "job.1");
  const std::string mount_point = dir / "mount";
  put(part.path() + "/lower/file", "x");
  ASSERT_TRUE(io::make_directories(part.code()));
  ASSERT_TRUE(io::make_directories(mount_point));
  const bool mounted =
      ::mount((part.path() + "/lower").c_str(), part.code().c_str(), nullptr, MS_BIND, nullptr) ==
          0 &&
      ::mount(part.code().c_str(), mount_point.c_str(), nullptr, MS_BIND, nullptr) == 0;
  if (!mounted) GTEST_SKIP() << "this user may not mount";
  const Status removed = remove_part(part, mount_point);
  EXPECT_TRUE(removed) << removed.error().message;
  EXPECT_FALSE(io::exists(part.path()));
  EXPECT_FALSE(io::exists(mount_point));
  EXPECT_TRUE(remove_part(part, mount_point));
}

// A user may have something mounted in its folder, and renames what is above it.
TEST(CleanupTest, ASymlinkPutInTheWayUnmountsNothingElse) {
  const TempDir dir;
  const io::AttemptDir part(dir / "job.1");
  for (const char* name : {"job.1/code/a/home", "elsewhere/home", "data"})
    ASSERT_TRUE(io::make_directories(dir / name));
  put(dir / "data/precious", "x");
  const std::string theirs = part.code() + "/a/home", ours = dir / "elsewhere/home";
  if (::mount((dir / "data").c_str(), ours.c_str(), nullptr, MS_BIND, nullptr) != 0)
    GTEST_SKIP() << "this user may not mount";
  const int calls = test::each_swap(
      [&] {
        ASSERT_EQ(::mount((dir / "data").c_str(), theirs.c_str(), nullptr, MS_BIND, nullptr), 0);
      },
      [&] {
        ASSERT_EQ(::rename((part.code() + "/a").c_str(), (part.code() + "/z").c_str()), 0);
        ASSERT_EQ(::symlink((dir / "elsewhere").c_str(), (part.code() + "/a").c_str()), 0);
      },
      [&] { static_cast<void>(unmount_below(part.path())); },
      [&] {
        EXPECT_TRUE(io::exists(ours + "/precious")) << "what is mounted elsewhere stays";
        EXPECT_TRUE(unmount_below(part.path())) << "and the rest can be unmounted in the end";
        if (!io::exists(part.code() + "/z")) return;
        ASSERT_EQ(::unlink((part.code() + "/a").c_str()), 0);
        ASSERT_EQ(::rename((part.code() + "/z").c_str(), (part.code() + "/a").c_str()), 0);
      });
  ::umount(ours.c_str());
  EXPECT_EQ(calls, 2);
}

// A disk that fails each removal for a while: the attempt is out of the way at once, and gone when
// the disk is well again.
TEST(QuarantineTest, WhatCannotBeRemovedIsSetAsideAndRemovedLater) {
  const TempDir dir;
  const AgentHome home(dir / "home");
  const io::AttemptDir part(home.attempts() + "/job.1");
  for (const char* number : {"1", "2"}) {
    put(part.code() + "/deep/file", "x");
    test::DiskFaults faults({"broken", EIO, true, false, {io::disk::Call::remove}}, 1);
    const io::disk::InFront front(faults);
    const Status removed = remove_or_set_aside(home, part, "");
    EXPECT_TRUE(removed) << removed.error().message;
    EXPECT_FALSE(io::exists(part.path()));
    EXPECT_TRUE(io::exists(home.quarantine() + "/job.1." + number + "/code/deep/file"));
    empty_quarantine(home);
    EXPECT_TRUE(io::exists(home.quarantine() + "/job.1." + number)) << "the disk is still broken";
  }
  empty_quarantine(home);
  EXPECT_TRUE(io::list_directory(home.quarantine())->empty());
}

TEST(QuarantineTest, OnADiskThatTakesNoChangeTheFailureIsTold) {
  const TempDir dir;
  const AgentHome home(dir / "home");
  const io::AttemptDir part(home.attempts() + "/job.1");
  put(part.code() + "/file", "x");
  using io::disk::Call;
  test::DiskFaults faults({"read-only", EROFS, true, false, {Call::remove, Call::rename}}, 1);
  const io::disk::InFront front(faults);
  const Status removed = remove_or_set_aside(home, part, "");
  ASSERT_FALSE(removed);
  EXPECT_NE(removed.error().message.find("Read-only"), std::string::npos);
  EXPECT_NE(removed.error().message.find("moving it to the quarantine also failed"),
            std::string::npos);
}

TEST(CleanupTest, KeepsAMountPointThatHoldsSomethingElse) {
  const TempDir dir;
  put(dir / "mount/precious", "x");
  ASSERT_TRUE(io::make_directories(dir / "job.1"));
  EXPECT_TRUE(remove_part(io::AttemptDir(dir / "job.1"), dir / "mount"));
  EXPECT_TRUE(io::exists(dir / "mount/precious"));
}

}  // namespace
}  // namespace lockstep::agent
