// A tree that does not fit on the node's disk is refused before anything of it is fetched.

#include "agent/workspace/room.h"

#include <gmock/gmock.h>

#include "common/snapshot/content/stored_size.h"
#include "common/snapshot/manifest.h"
#include "tests/unit/agent/workspace/fixture.h"

namespace lockstep::agent {
namespace {

using snapshot::Entry;
using snapshot::EntryKind;
using testing::HasSubstr;

constexpr std::uint64_t kHuge = std::uint64_t{1} << 49;

TEST(CheckRoom, SaysTheNumbers) {
  const io::DiskSpace disk{mebibytes(380), mebibytes(400)};
  EXPECT_TRUE(check_room({mebibytes(190), mebibytes(190)}, disk, {}));
  EXPECT_FALSE(check_room({mebibytes(190), mebibytes(190)}, disk, mebibytes(1)))
      << "a disk that is full ends a job that runs";
  const io::DiskSpace low{mebibytes(10), mebibytes(400)};
  EXPECT_TRUE(check_room({mebibytes(1), mebibytes(1)}, low, mebibytes(40)))
      << "the disk became low after it was placed";
  const Status full = check_room({mebibytes(10), mebibytes(10)}, low, mebibytes(40));
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, ErrorCode::resource_exhausted) << "that may pass";
  const Status both = check_room({gibibytes(1), gibibytes(1)}, disk, mebibytes(40));
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().code, ErrorCode::unsatisfiable);
  EXPECT_EQ(both.error().message,
            "it needs 2.0 GiB (1.0 GiB to fetch and 1.0 GiB to write out) of this node's disk, "
            "where 380.0 MiB of 400.0 MiB are free, and 40.0 MiB must stay free for the jobs that "
            "run (lockstep-agent --low-space); free space there, or use a node with more disk");
  const Status one = check_room({{}, gibibytes(1)}, disk, {});
  ASSERT_FALSE(one);
  EXPECT_THAT(one.error().message, HasSubstr("it needs 1.0 GiB of this node's disk, where"));
  EXPECT_FALSE(check_room({Bytes{UINT64_MAX}, gibibytes(1)}, disk, {})) << "no overflow";
}

// A tree of one file that says to be huge; nobody has it.
Digest huge_tree(snapshot::BlobStore& store) {
  const std::string bytes = snapshot::encode(
      snapshot::Directory{{Entry{"data", EntryKind::file, 0644, kHuge, sha256("nobody"), {}}}});
  EXPECT_TRUE(store.put(sha256(bytes), bytes));
  return sha256(bytes);
}

TEST(WorkspaceRoom, ASourceThatDoesNotFitIsRefusedForThisNode) {
  Fixture f("overlay");
  const auto plan = f.workspace->stage(f.assignment(huge_tree(*f.launcher.store)), f.attempt(),
                                       f.launcher, f.progress);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::unsatisfiable) << plan.error().message;
  EXPECT_THAT(plan.error().message, HasSubstr("of this node's disk, where"));
}

TEST(WorkspaceRoom, SoIsAnInput) {
  Fixture f("overlay");
  Assignment assignment = f.assignment(std::nullopt);
  DataInput input;
  input.name = "faces";
  input.tree = huge_tree(*f.launcher.store);
  assignment.spec.data.push_back(input);
  const auto plan = f.workspace->stage(assignment, f.attempt(), f.launcher, f.progress);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::unsatisfiable) << plan.error().message;
  EXPECT_THAT(plan.error().message, HasSubstr("input 'faces'"));
  EXPECT_THAT(plan.error().message, HasSubstr("of this node's disk, where"));
}

TEST(WrittenSize, CountsBlocksAndNotWhatIsLinked) {
  const snapshot::TempDir dir;
  const auto store = *snapshot::BlobStore::open(dir / "blobs");
  const auto entry = [&](const char* name, std::uint64_t size) {
    return Entry{name, EntryKind::file, 0644, size, sha256(name), {}};
  };
  const std::string bytes =
      snapshot::encode(snapshot::Directory{{entry("a", 1), entry("b", 5000), entry("c", 2 << 20)}});
  ASSERT_TRUE(store->put(sha256(bytes), bytes));
  EXPECT_EQ(*snapshot::written_size(*store, sha256(bytes), false), Bytes{(2u << 20) + 12288});
  EXPECT_EQ(*snapshot::written_size(*store, sha256(bytes), true), Bytes{12288});
}

}  // namespace
}  // namespace lockstep::agent
