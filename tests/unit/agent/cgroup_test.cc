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
#include "common/io/attempt_cgroups.h"
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

TEST(CleanupTest, KeepsAMountPointThatHoldsSomethingElse) {
  const TempDir dir;
  put(dir / "mount/precious", "x");
  ASSERT_TRUE(io::make_directories(dir / "job.1"));
  EXPECT_TRUE(remove_part(io::AttemptDir(dir / "job.1"), dir / "mount"));
  EXPECT_TRUE(io::exists(dir / "mount/precious"));
}

}  // namespace
}  // namespace lockstep::agent
