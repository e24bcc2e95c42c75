// The cache stays below its limit, and nothing goes that a part has or was asked for a moment ago.

#include <filesystem>

#include "common/snapshot/content/disk_usage.h"
#include "common/wire/runners/runner_codec.h"
#include "tests/unit/agent/workspace/fixture.h"

namespace lockstep::agent {
namespace {

class CacheTest : public ::testing::Test {
 protected:
  void open(Bytes size, Duration in_use_for = Duration(0)) {
    fixture.workspace.reset();
    auto opened = Workspace::open(
        {fixture.dir / "cache", "copy", {size, fixture.dir / "attempts", in_use_for}});
    ASSERT_TRUE(opened) << opened.error().message;
    fixture.workspace = *std::move(opened);
  }
  // A source of about 300 KiB, a large file and small ones.
  Digest source(char c) {
    snapshot::TempDir from;
    std::ofstream(from / "large") << std::string(200'000, c) << noise(c);
    for (int i = 0; i < 20; ++i)
      std::ofstream(from / ("small" + std::to_string(i))) << i << std::string(3'000, c) << noise(c);
    return fixture.capture_and_store(from);
  }
  static std::string noise(char seed) {
    std::string text;
    for (int i = 0; i < 100; ++i) text += sha256(std::string(1, seed) + std::to_string(i)).view();
    return text;
  }
  void keep() {
    const Status kept = fixture.workspace->keep_cache_small();
    EXPECT_TRUE(kept) << kept.error().message;
  }
  bool cached(const Digest& root) const {
    return std::filesystem::exists(fixture.dir / ("cache/trees/" + root.hex()));
  }
  std::uint64_t bytes() const { return *snapshot::disk_usage(fixture.dir / "cache"); }

  Fixture fixture{"copy"};
};

TEST_F(CacheTest, TheTreeThatWasNotUsedForLongestGoesFirstWithItsBlobs) {
  open(kibibytes(900));
  const Digest a = source('a'), b = source('b'), c = source('c');
  fixture.must_stage(fixture.assignment(a, 1));
  fixture.must_stage(fixture.assignment(b, 2));
  fixture.must_stage(fixture.assignment(a, 3));  // used again
  fixture.must_stage(fixture.assignment(c, 4));
  const auto before = bytes();
  ASSERT_GT(before, kibibytes(900).count);
  keep();
  EXPECT_FALSE(cached(b));
  EXPECT_TRUE(cached(c));
  EXPECT_LE(bytes(), kibibytes(900).count);
  // What went is fetched again.
  const int fetches = fixture.launcher.fetches;
  fixture.must_stage(fixture.assignment(b, 5));
  EXPECT_EQ(fixture.launcher.fetches, fetches + 1);
}

TEST_F(CacheTest, WhatAPartHasStays) {
  open(kibibytes(1));
  const Digest a = source('a'), b = source('b');
  fixture.must_stage(fixture.assignment(a, 1));
  const WorkspacePlan plan = fixture.must_stage(fixture.assignment(b, 2));
  ASSERT_TRUE(io::write_file_atomically(fixture.attempt(2).workspace(), wire::encode(plan)));
  keep();
  EXPECT_FALSE(cached(a));
  EXPECT_TRUE(cached(b));
  ASSERT_TRUE(io::remove_tree(fixture.attempt(2).path()));
  keep();
  EXPECT_FALSE(cached(b));
}

TEST_F(CacheTest, WhatWasAskedForAMomentAgoStays) {
  open(kibibytes(1), minutes(10));
  const Digest a = source('a');
  fixture.must_stage(fixture.assignment(a, 1));
  keep();
  EXPECT_TRUE(cached(a));
}

TEST_F(CacheTest, WithoutALimitAllStays) {
  open(Bytes{});
  const Digest a = source('a');
  fixture.must_stage(fixture.assignment(a, 1));
  keep();
  EXPECT_TRUE(cached(a));
}

}  // namespace
}  // namespace lockstep::agent
