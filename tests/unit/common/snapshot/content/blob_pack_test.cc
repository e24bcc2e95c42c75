#include "common/snapshot/content/blob_pack.h"

#include "tests/unit/common/snapshot/trees.h"

namespace lockstep::snapshot {
namespace {

std::unique_ptr<PackSet> must_open(const TempDir& dir) {
  auto set = PackSet::open(dir / "packs");
  EXPECT_TRUE(set) << set.error().message;
  return *std::move(set);
}

std::string text(int i) { return "blob number " + std::to_string(i); }

Status add(PackSet& set, int i) {
  return set.append(sha256(text(i)), static_cast<std::uint32_t>(text(i).size()), false, text(i));
}

// A crash of the machine: what was not synced may be cut anywhere, or be there with other bytes.
TEST(PackSet, EveryCutOfTheTailLeavesWholeRecordsOnly) {
  TempDir dir;
  std::size_t durable_bytes = 0;
  {
    const auto set = must_open(dir);
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(add(*set, i));
    ASSERT_TRUE(set->sync());
    EXPECT_FALSE(set->dirty());
    durable_bytes = dir.read("packs/1.pack").size();
    for (int i = 5; i < 8; ++i) ASSERT_TRUE(add(*set, i));
    EXPECT_TRUE(set->dirty());
  }
  const std::string all = dir.read("packs/1.pack");
  for (std::size_t size = durable_bytes; size <= all.size(); ++size) {
    for (const bool zeros : {false, true}) {
      std::string bytes = all.substr(0, size);
      if (zeros) bytes.resize(all.size(), '\0');
      dir.file("packs/1.pack", bytes, 0600);
      const auto set = must_open(dir);
      for (int i = 0; i < 5; ++i) ASSERT_TRUE(set->has(sha256(text(i)))) << size;
      for (int i = 5; i < 8; ++i) {
        if (!set->has(sha256(text(i)))) continue;
        const auto blob = set->read(sha256(text(i)));
        ASSERT_TRUE(blob);
        ASSERT_EQ(blob->data, text(i)) << size;
      }
      // What follows is readable after the next start.
      ASSERT_TRUE(add(*set, 100));
      const auto again = must_open(dir);
      ASSERT_TRUE(again->has(sha256(text(100)))) << size;
    }
  }
}

TEST(PackSet, ARecordWithOtherBytesBehindTheLastMarkCutsTheTail) {
  TempDir dir;
  {
    const auto set = must_open(dir);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(add(*set, i));
    ASSERT_TRUE(set->sync());
    for (int i = 3; i < 6; ++i) ASSERT_TRUE(add(*set, i));
  }
  std::string bytes = dir.read("packs/1.pack");
  bytes[bytes.find(text(4)) + 3] ^= 1;
  dir.file("packs/1.pack", bytes, 0600);
  const auto set = must_open(dir);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(set->has(sha256(text(i)))) << i;
  for (int i = 4; i < 6; ++i) EXPECT_FALSE(set->has(sha256(text(i)))) << i;
}

TEST(PackSet, SyncWithNothingNewWritesNothing) {
  TempDir dir;
  const auto set = must_open(dir);
  ASSERT_TRUE(set->sync());
  ASSERT_TRUE(add(*set, 1));
  ASSERT_TRUE(set->sync());
  const std::size_t size = dir.read("packs/1.pack").size();
  ASSERT_TRUE(set->sync());
  EXPECT_EQ(dir.read("packs/1.pack").size(), size);
  const auto again = must_open(dir);
  EXPECT_FALSE(again->dirty());
}

}  // namespace
}  // namespace lockstep::snapshot
