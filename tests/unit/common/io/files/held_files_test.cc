// What processes hold in files that have no name any more.

#include "common/io/files/held_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "common/io/file_system.h"
#include "common/io/files/mount_table.h"
#include "common/io/programs/process_table.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::io {
namespace {

using test::TempDir;

Fd written(const std::string& path, std::size_t bytes) {
  Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  EXPECT_TRUE(file && write_all(file.get(), std::string(bytes, 'x')));
  return file;
}

HeldFiles held(const std::string& folder, const std::set<int>& pids = {::getpid()}) {
  return measure_held(folder, pids, seconds(20));
}

TEST(HeldFilesTest, ARemovedFileCountsOnceHoweverOftenItIsOpen) {
  const TempDir dir;
  const Fd named = written(dir / "named", 16 << 20);
  const Fd file = written(dir / "removed", 4 << 20);
  const Fd again(::dup(file.get()));
  EXPECT_LT(held(dir.path()).bytes, mebibytes(1)) << "the walk of folders counts what has a name";
  ASSERT_EQ(::unlink((dir / "removed").c_str()), 0);
  const HeldFiles found = held(dir.path());
  EXPECT_GE(found.bytes, mebibytes(4));
  EXPECT_LT(found.bytes, mebibytes(8));
  EXPECT_TRUE(found.is_whole);
}

TEST(HeldFilesTest, NeitherOtherLinksNorHolesNorMemoryCount) {
  const TempDir dir;
  const Fd file = written(dir / "removed", 4 << 20);
  ASSERT_EQ(::link((dir / "removed").c_str(), (dir / "link").c_str()), 0);
  ASSERT_EQ(::unlink((dir / "removed").c_str()), 0);
  const Fd sparse(::open((dir / "sparse").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(::ftruncate(sparse.get(), 1 << 30), 0);
  ASSERT_EQ(::unlink((dir / "sparse").c_str()), 0);
  const Fd memory(::memfd_create("memory", MFD_CLOEXEC));
  ASSERT_TRUE(write_all(memory.get(), std::string(8 << 20, 'x')));
  EXPECT_LT(held(dir.path()).bytes, mebibytes(1));
}

TEST(HeldFilesTest, AFileThatNeverHadANameCounts) {
  const TempDir dir;
  const Fd file(::open(dir.path().c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600));
  if (!file) GTEST_SKIP() << "this file system makes no files without a name";
  ASSERT_TRUE(write_all(file.get(), std::string(4 << 20, 'x')));
  EXPECT_GE(held(dir.path()).bytes, mebibytes(4));
}

// The kernel tells no path that is longer than a page.
TEST(HeldFilesTest, AFileTooDeepForItsPathCounts) {
  const TempDir dir;
  const std::string name(250, 'd');
  Fd at(::open(dir.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(::mkdirat(at.get(), name.c_str(), 0700), 0);
    at.reset(::openat(at.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(at);
  }
  const Fd file(::openat(at.get(), "file", O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_TRUE(file && write_all(file.get(), std::string(4 << 20, 'x')));
  ASSERT_EQ(::unlinkat(at.get(), "file", 0), 0);
  EXPECT_GE(held(dir.path()).bytes, mebibytes(4));
}

TEST(HeldFilesTest, OtherFileSystemsAreLeftOut) {
  const TempDir dir;
  struct stat ours {
  }, memory{};
  ASSERT_EQ(::stat(dir.path().c_str(), &ours), 0);
  if (::stat("/dev/shm", &memory) != 0 || ours.st_dev == memory.st_dev)
    GTEST_SKIP() << "/dev/shm is no other file system";
  const std::string path = "/dev/shm/lockstep-held-" + std::to_string(::getpid());
  const Fd file = written(path, 4 << 20);
  ASSERT_EQ(::unlink(path.c_str()), 0);
  EXPECT_LT(held(dir.path()).bytes, mebibytes(1));
  EXPECT_GE(held("/dev/shm").bytes, mebibytes(4));
}

TEST(HeldFilesTest, ProcessesOfAFamilyAreFound) {
  const TempDir dir;
  int ready[2];
  ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
  const Fd reads(ready[0]);
  Fd writes(ready[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    const pid_t grandchild = ::fork();
    if (grandchild == 0) {
      const int file = ::open((dir / "held").c_str(), O_RDWR | O_CREAT, 0600);
      const bool made = ::ftruncate(file, 0) == 0 && ::posix_fallocate(file, 0, 4 << 20) == 0 &&
                        ::unlink((dir / "held").c_str()) == 0;
      if (!made || ::write(writes.get(), "x", 1) != 1) ::_exit(1);
      ::pause();
    }
    ::pause();
  }
  writes.reset();
  char said = 0;
  ASSERT_EQ(::read(reads.get(), &said, 1), 1);
  const std::set<int> family = family_of(child);
  EXPECT_EQ(family.size(), 2U);
  EXPECT_EQ(family.count(child), 1U);
  EXPECT_GE(held(dir.path(), family).bytes, mebibytes(4));
  EXPECT_LT(held(dir.path(), {child}).bytes, mebibytes(1));
  for (const int pid : family) ::kill(pid, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST(HeldFilesTest, WithoutTimeItSaysThatItIsNotWhole) {
  const TempDir dir;
  EXPECT_FALSE(measure_held(dir.path(), {::getpid()}, Duration(0)).is_whole);
  EXPECT_TRUE(held(dir.path(), {}).is_whole);
}

TEST(MountTableTest, LinesAreReadWithTheirEscapes) {
  const auto found = mounts_in(
      "22 27 0:21 / /a\\040b rw,relatime shared:1 - overlay lockstep rw,lowerdir=/l,upperdir=/u\n"
      "no line\n"
      "23 27 8:1 /root / rw - ext4 /dev/sda1 rw\n");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].id, 22U);
  EXPECT_EQ(found[0].device, "0:21");
  EXPECT_EQ(found[0].point, "/a b");
  EXPECT_EQ(found[0].type, "overlay");
  EXPECT_EQ(found[0].options, "rw,lowerdir=/l,upperdir=/u");
  EXPECT_EQ(found[1].point, "/");
  EXPECT_EQ(mount_id_in("pos:\t0\nflags:\t02\nmnt_id:\t27\nino:\t5\n"), 27U);
  EXPECT_FALSE(mount_id_in("pos:\t0\n"));
}

}  // namespace
}  // namespace lockstep::io
