// What only looks like a cgroup is told apart from one.

#include "common/io/cgroups/cgroup_check.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "tests/unit/common/io/helpers.h"

namespace lockstep::io {
namespace {

TEST(CgroupCheck, OfSeveralMountsOneMustKeepALimit) {
  const TempDir first, second;
  EXPECT_EQ(usable_v1({first.path()}, "memory"), first.path()) << "the only one is tried when made";
  EXPECT_EQ(usable_v1({first.path(), second.path()}, "memory"), "") << "plain folders";
  EXPECT_EQ(usable_v1({first / "absent", second.path()}, "pids"), second.path());
  EXPECT_EQ(usable_v1({}, "memory"), "");
  EXPECT_TRUE(list_directory(first.path())->empty());
}

TEST(CgroupCheck, ALimitMustReadBackAsItWasWritten) {
  const TempDir folder;
  const Bytes limit = mebibytes(256);
  EXPECT_FALSE(check_memory_limit(folder.path(), 2, limit));
  std::ofstream(folder / "memory.max") << "max\n";
  const Status not_kept = check_memory_limit(folder.path(), 2, limit);
  ASSERT_FALSE(not_kept);
  EXPECT_NE(not_kept.error().message.find("memory.max is 'max'"), std::string::npos)
      << not_kept.error().message;
  std::ofstream(folder / "memory.max") << limit.count << "\n";
  EXPECT_TRUE(check_memory_limit(folder.path(), 2, limit));
  EXPECT_TRUE(check_memory_limit(folder.path(), 2, Bytes{limit.count + 1})) << "whole pages";
  std::ofstream(folder / "memory.limit_in_bytes") << limit.count << "\n";
  EXPECT_TRUE(check_memory_limit(folder.path(), 1, limit));
}

TEST(CgroupCheck, AProcessMustBeWhereItWasPut) {
  const TempDir folder;
  std::ofstream(folder / "cgroup.procs") << "";
  EXPECT_FALSE(check_member({folder / "cgroup.procs"}, folder.path())) << "a plain file";
  EXPECT_FALSE(check_member({folder / "absent"}, folder.path()));
  EXPECT_FALSE(is_in_cgroup(getpid(), "", "/sys/fs/cgroup/lockstep/another/rank_0") &&
               is_in_cgroup(getpid(), "memory", "/sys/fs/cgroup/lockstep/another/rank_0"));
}

}  // namespace
}  // namespace lockstep::io
