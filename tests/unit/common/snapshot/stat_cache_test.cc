#include "common/snapshot/stat_cache.h"

#include "tests/unit/common/snapshot/trees.h"

namespace lockstep::snapshot {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(StatCache, FindsExactlyWhatWasSaved) {
  TempDir dir;
  std::vector<StatCache::Row> rows;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    rows.push_back({{1, 5000 - i * 3, i, 10, 20}, sha256(std::to_string(i))});
  }
  ASSERT_TRUE(StatCache::save(dir / "cache", rows, 100 * kSecond));
  const StatCache cache = StatCache::load(dir / "cache");
  EXPECT_EQ(cache.size(), 1000u);
  for (const auto& row : rows) EXPECT_EQ(cache.find(row.file), row.digest);
  FileIdentity other = rows[7].file;
  other.ctime_ns += 1;
  EXPECT_EQ(cache.find(other), std::nullopt);
  other = rows[7].file;
  other.size += 1;
  EXPECT_EQ(cache.find(other), std::nullopt);
}

TEST(StatCache, LeavesOutWhatIsTooYoung) {
  TempDir dir;
  const FileIdentity old{1, 1, 1, 0, 97 * kSecond}, young{1, 2, 1, 0, 99 * kSecond},
      future{1, 3, 1, 0, 500 * kSecond};
  ASSERT_TRUE(
      StatCache::save(dir / "cache", {{old, {}}, {young, {}}, {future, {}}}, 100 * kSecond));
  const StatCache cache = StatCache::load(dir / "cache");
  EXPECT_TRUE(cache.find(old));
  EXPECT_FALSE(cache.find(young));
  EXPECT_FALSE(cache.find(future));
}

TEST(StatCache, AnyDamageIsAnEmptyCache) {
  TempDir dir;
  ASSERT_TRUE(StatCache::save(dir / "cache", {{{1, 1, 1, 1, 1}, sha256("a")}}, 100 * kSecond));
  const std::string good = dir.read("cache");
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    dir.file("cache", bad);
    EXPECT_EQ(StatCache::load(dir / "cache").size(), 0u) << "byte " << i;
  }
  dir.file("cache", good.substr(0, good.size() - 1));
  EXPECT_EQ(StatCache::load(dir / "cache").size(), 0u);
  EXPECT_EQ(StatCache::load(dir / "none").size(), 0u);
}

}  // namespace
}  // namespace lockstep::snapshot
