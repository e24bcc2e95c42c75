#include "launcher/logs/log_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "common/io/file_system.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {
namespace {

const LogKey kKey{{JobId("job"), 1}, 3, LogStream::out};

class LogStoreTest : public testing::Test {
 protected:
  std::uint64_t append(std::uint64_t offset, std::string_view data) {
    const auto extent = store_.append(kKey, offset, data);
    EXPECT_TRUE(extent) << extent.error().message;
    return extent ? extent->written : 0;
  }
  std::string content() { return io::read_file(store_.path(kKey)).value_or("(no file)"); }
  void sync() {
    const auto batch = store_.take_dirty();
    ASSERT_TRUE(batch.sync());
    store_.synced(batch);
  }

  test::TempDir dir_;
  LogStore store_{dir_.path()};
};

TEST_F(LogStoreTest, KeepsOneFilePerRankAndStream) {
  append(0, "hello\n");
  EXPECT_EQ(store_.path(kKey), dir_.path() + "/job/1/rank_3.stdout");
  EXPECT_EQ(content(), "hello\n");
}

TEST_F(LogStoreTest, AChunkThatComesTwiceIsStoredOnce) {
  EXPECT_EQ(append(0, "abc"), 3u);
  EXPECT_EQ(append(0, "abc"), 3u);
  EXPECT_EQ(append(1, "bc"), 3u);
  EXPECT_EQ(append(1, "bcde"), 5u);
  EXPECT_EQ(content(), "abcde");
}

TEST_F(LogStoreTest, DataBeyondAGapIsNotTaken) {
  append(0, "abc");
  EXPECT_EQ(append(4, "e"), 3u);
  EXPECT_EQ(content(), "abc");
  const LogKey other{{JobId("job"), 1}, 0, LogStream::err};
  EXPECT_EQ(store_.append(other, 7, "x")->written, 0u);
  EXPECT_FALSE(io::exists(store_.path(other)));
}

TEST_F(LogStoreTest, IsDurableOnlyAfterTheBatch) {
  append(0, "abc");
  EXPECT_EQ(store_.extent(kKey)->durable, 0u);
  const auto batch = store_.take_dirty();
  append(3, "def");
  ASSERT_TRUE(batch.sync());
  store_.synced(batch);
  EXPECT_EQ(store_.extent(kKey)->durable, 3u);
  sync();
  EXPECT_EQ(store_.extent(kKey)->durable, 6u);
  EXPECT_TRUE(store_.take_dirty().empty());
}

TEST_F(LogStoreTest, AfterARestartTheFileSaysWhatIsThere) {
  append(0, "abc");
  LogStore again(dir_.path());
  EXPECT_EQ(again.extent(kKey)->written, 3u);
  EXPECT_EQ(again.extent(kKey)->durable, 0u) << "an earlier process may have died before its fsync";
  const auto batch = again.take_dirty();
  ASSERT_TRUE(batch.sync());
  again.synced(batch);
  EXPECT_EQ(again.extent(kKey)->durable, 3u);
  EXPECT_EQ(again.append(kKey, 0, "abcd")->written, 4u);
}

TEST_F(LogStoreTest, ListsAndReads) {
  append(0, "abc");
  const LogKey err{{JobId("job"), 1}, 0, LogStream::err};
  ASSERT_TRUE(store_.append(err, 0, "x"));
  EXPECT_EQ(*store_.list({JobId("job"), 1}), (std::vector<LogKey>{err, kKey}));
  EXPECT_TRUE(store_.list({JobId("job"), 2})->empty());
  EXPECT_EQ(*store_.read(kKey, 1, 10), "bc");
  EXPECT_EQ(*store_.read(kKey, 3, 10), "");
}

TEST_F(LogStoreTest, AnEnvironmentHasAFileOfItsOwn) {
  append(0, "abc");
  const LogKey environment{{JobId("job"), 1}, 3, LogStream::environment};
  ASSERT_TRUE(store_.append(environment, 0, "one\ntwo\n"));
  EXPECT_EQ(store_.path(environment), dir_.path() + "/job/1/node_3.environment");
  EXPECT_EQ(content(), "abc") << "of rank 3";
  auto keys = *store_.list({JobId("job"), 1});
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(keys, (std::vector<LogKey>{kKey, environment}));
  EXPECT_EQ(*store_.tail_offset(environment, 1), 4u);
  store_.drop({JobId("job"), 1});
  EXPECT_TRUE(store_.take_dirty().items.empty()) << "nothing of it is to be made durable";
}

TEST_F(LogStoreTest, TheLogsThatASizeTellsOf) {
  const AttemptId attempt{JobId("job"), 1};
  EXPECT_TRUE(logs_of(attempt, {7, 0, 0, 0}).empty());
  using Logs = std::vector<std::pair<LogKey, std::uint64_t>>;
  EXPECT_EQ(logs_of(attempt, {7, 1, 2, 3}), (Logs{{{attempt, 7, LogStream::out}, 1},
                                                  {{attempt, 7, LogStream::err}, 2},
                                                  {{attempt, 7, LogStream::environment}, 3}}));
}

TEST_F(LogStoreTest, FindsTheLastLines) {
  append(0, "one\ntwo\nthree\n");
  EXPECT_EQ(*store_.tail_offset(kKey, 0), 14u);
  EXPECT_EQ(*store_.tail_offset(kKey, 1), 8u);
  EXPECT_EQ(*store_.tail_offset(kKey, 2), 4u);
  EXPECT_EQ(*store_.tail_offset(kKey, 3), 0u);
  EXPECT_EQ(*store_.tail_offset(kKey, 9), 0u);
  append(14, "unfinished");
  EXPECT_EQ(*store_.tail_offset(kKey, 1), 14u);
}

TEST_F(LogStoreTest, FindsTheLastLinesOfALongLog) {
  std::string line(1'000, 'x');
  line += '\n';
  for (std::uint64_t i = 0; i < 300; ++i) append(i * line.size(), line);
  EXPECT_EQ(*store_.tail_offset(kKey, 100), 200 * line.size());
}

TEST_F(LogStoreTest, ForgettingAJobKeepsItsFiles) {
  append(0, "abc");
  sync();
  store_.forget(JobId("job"));
  EXPECT_EQ(*store_.read(kKey, 0, 10), "abc");
}

TEST_F(LogStoreTest, WhatIsDroppedIsNeitherOpenNorToBeMadeDurable) {
  append(0, "abc");
  const LogKey other{{JobId("job"), 1, 77}, 0, LogStream::out};  // of a later job with this name
  ASSERT_TRUE(store_.append(other, 0, "def"));
  EXPECT_NE(store_.directory(kKey.attempt), store_.directory(other.attempt));
  store_.drop(kKey.attempt);
  ASSERT_TRUE(io::remove_tree(store_.directory(kKey.attempt)));
  const auto batch = store_.take_dirty();
  EXPECT_EQ(batch.items.size(), 1u);
  EXPECT_TRUE(batch.sync());
  store_.synced(batch);
  EXPECT_EQ(*store_.read(kKey, 0, 10), "");
  EXPECT_EQ(*store_.read(other, 0, 10), "def");
}

TEST_F(LogStoreTest, ClosesFilesBeyondItsBoundAndOpensThemAgain) {
  const auto open_files = [] {
    const auto all = std::filesystem::directory_iterator("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  LogStore small(dir_.path(), 4);
  const auto before = open_files();
  for (int rank = 0; rank < 20; ++rank) {
    ASSERT_TRUE(small.append({{JobId("many"), 1}, rank, LogStream::out}, 0, "x"));
    const auto batch = small.take_dirty();
    ASSERT_TRUE(batch.sync());
    small.synced(batch);
  }
  EXPECT_LE(open_files(), before + 5);
  EXPECT_EQ(small.append({{JobId("many"), 1}, 0, LogStream::out}, 1, "y")->written, 2u);
}

}  // namespace
}  // namespace lockstep::launcher
