#include "agent/workspace/trees/copy_tree.h"

#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/common/snapshot/trees.h"

namespace lockstep::agent {
namespace {

using snapshot::TempDir;

TEST(CopyTree, CopiesAllThatATreeCanHold) {
  TempDir dir;
  dir.file("from/a", "a", 0755);
  dir.file("from/d/large", std::string(3 << 20, 'l'), 0400);
  dir.folder("from/closed", 0555);
  dir.link("/etc/passwd", "from/absolute");
  dir.link("..", "from/d/up");
  const Status copied = copy_tree(dir / "from", dir / "to", snapshot::current_owner());
  ASSERT_TRUE(copied) << copied.error().message;
  const auto from = snapshot::capture(dir / "from", {}), to = snapshot::capture(dir / "to", {});
  EXPECT_EQ(from->root, to->root);
  struct stat one {
  }, two{};
  ASSERT_EQ(::stat((dir / "from/a").c_str(), &one), 0);
  ASSERT_EQ(::stat((dir / "to/a").c_str(), &two), 0);
  EXPECT_NE(one.st_ino, two.st_ino);
  EXPECT_EQ(one.st_nlink, 1u);
}

TEST(CopyTree, HolesStayHoles) {
  TempDir dir;
  dir.file("from/holes", "begin");
  ASSERT_EQ(::truncate((dir / "from/holes").c_str(), 64 << 20), 0);
  ASSERT_TRUE(copy_tree(dir / "from", dir / "to", snapshot::current_owner()));
  struct stat info {};
  ASSERT_EQ(::stat((dir / "to/holes").c_str(), &info), 0);
  EXPECT_EQ(info.st_size, 64 << 20);
  EXPECT_LT(info.st_blocks * 512, 1 << 20);
}

TEST(CopyTree, NeverWritesIntoWhatIsThere) {
  TempDir dir;
  dir.file("from/a", "a");
  dir.folder("elsewhere");
  dir.link("elsewhere", "to");
  EXPECT_FALSE(copy_tree(dir / "from", dir / "to", snapshot::current_owner()));
  EXPECT_TRUE(io::list_directory(dir / "elsewhere")->empty());
}

}  // namespace
}  // namespace lockstep::agent
