// The launcher's logs and small files on a disk that says no, at every call that would change it:
// a byte that was acknowledged is there after the next start, and nodes can send the rest again.

#include <gmock/gmock.h>

#include "common/io/version_file.h"
#include "common/snapshot/content/blob_store.h"
#include "launcher/home/endpoint_file.h"
#include "launcher/home/home_lock.h"
#include "launcher/home/layout.h"
#include "launcher/home/start_record.h"
#include "launcher/logs/log_store.h"
#include "launcher/store/journal.h"
#include "tests/fakes/disk/faults.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

class LauncherFaults : public testing::Test {
 protected:
  LauncherFaults() {
    root_ = directory_ + "/logs";
    for (int rank = 0; rank < 3; ++rank) {
      keys_.push_back({{JobId("job"), 1}, rank, LogStream::out});
      for (int line = 0; line < 400; ++line)
        texts_[keys_.back()] += std::to_string(rank) + " says " + std::to_string(line) + "\n";
    }
  }

  // Nodes send in chunks, again from where the store says it is; a turn ends with a sync. After a
  // sync that failed a daemon leaves.
  Status live() {
    LogStore store(root_);
    Status last;
    for (int turn = 0; turn < 12; ++turn) {
      for (const LogKey& key : keys_) {
        const auto has = store.extent(key);
        const std::uint64_t from = has ? has->written : 0;
        const auto chunk = std::string_view(texts_.at(key)).substr(from, 700);
        if (chunk.empty()) continue;
        const auto done = store.append(key, from, chunk, {{from, Instant{turn + 1}}});
        if (!done) last = done.error();
      }
      const SyncBatch batch = store.take_dirty();
      if (const Status synced = batch.sync(); !synced) {
        (void)store.cut_back(batch);
        return synced;
      }
      store.synced(batch);
      for (const auto& item : batch.items) acknowledged_[item.key] = item.size;
    }
    return last;
  }

  const test::TempDir dir_{test::quick_directory()};
  const std::string& directory_ = dir_.path();
  std::string root_;
  std::vector<LogKey> keys_;
  std::map<LogKey, std::string> texts_;
  std::map<LogKey, std::uint64_t> acknowledged_;
};

TEST_F(LauncherFaults, NoAcknowledgedByteOfALogIsLostWhereverTheDiskSaysNo) {
  const int runs = test::each_fault([this](test::DiskFaults& faults, const std::string& where) {
    SCOPED_TRACE(where);
    acknowledged_.clear();
    Status lived;
    {
      const io::disk::InFront front(faults);
      lived = live();
    }
    if (!lived) {
      EXPECT_THAT(lived.error().message,
                  AnyOf(HasSubstr("No space left"), HasSubstr("Input/output error"),
                        HasSubstr("Read-only file system")));
    }
    for (const LogKey& key : keys_) {
      const auto text = io::read_file(LogStore(root_).path(key)).value_or("");
      EXPECT_GE(text.size(), acknowledged_[key]);
      EXPECT_THAT(texts_.at(key), StartsWith(text));
    }
    // All is well again: each turn acknowledges what there is.
    acknowledged_.clear();
    const auto again = live();
    EXPECT_TRUE(again) << again.error().message;
    for (const LogKey& key : keys_) {
      EXPECT_EQ(acknowledged_[key], texts_.at(key).size());
      EXPECT_EQ(io::read_file(LogStore(root_).path(key)).value_or(""), texts_.at(key));
    }
    ASSERT_TRUE(io::remove_tree(root_));
  });
  EXPECT_GT(runs, 100);
}

// What the failed sync was about is not in the file any more: the next process would find it in
// memory, and its own sync would say that all is well.
TEST_F(LauncherFaults, WhatASyncFailedForIsSentAgain) {
  const LogKey& key = keys_[0];
  LogStore store(root_);
  ASSERT_TRUE(store.append(key, 0, "first\n"));
  const auto first = store.take_dirty();
  ASSERT_TRUE(first.sync());
  store.synced(first);
  ASSERT_TRUE(store.append(key, 6, "second\n"));
  const auto second = store.take_dirty();
  {
    test::DiskFaults faults(test::all_disk_weather()[3], 1);
    const io::disk::InFront front(faults);
    ASSERT_FALSE(second.sync());
  }
  ASSERT_TRUE(store.cut_back(second));
  EXPECT_EQ(LogStore(root_).extent(key)->written, 6u);
}

// Of an earlier process' bytes nobody knows here which were acknowledged.
TEST_F(LauncherFaults, WhatAnEarlierProcessWroteIsNeverCut) {
  const LogKey& key = keys_[0];
  ASSERT_TRUE(LogStore(root_).append(key, 0, "first\n"));
  LogStore store(root_);
  ASSERT_TRUE(store.append(key, 6, "second\n"));
  ASSERT_TRUE(store.cut_back(store.take_dirty()));
  EXPECT_EQ(io::read_file(store.path(key)).value_or(""), "first\n");
}

// As a daemon does it: what shows that a home has lived comes to be after its journal.
Status start_in(const LauncherHome& home) {
  TRY_ASSIGN(auto journal, Journal::open(home.journal(), sign_of_life(home)));
  TRY(journal.replay([](const StampedFact&) {}));
  TRY(io::record_version(home.version(), kHomeVersion));
  TRY_ASSIGN(const auto blobs, snapshot::BlobStore::open(home.blobs()));
  TRY(journal.append({{Instant{1}, IncarnationBegan{1, false}}}));
  return io::make_directories(home.logs() + "/job/1");
}

// What the disk has then is what a kill at this moment leaves.
TEST_F(LauncherFaults, AFirstStartThatWasCutAnywhereIsNotTakenForALostJournal) {
  const LauncherHome home(directory_ + "/home");
  const int runs = test::each_fault([&](test::DiskFaults& faults, const std::string& where) {
    SCOPED_TRACE(where);
    ASSERT_TRUE(io::make_directories(home.path(), 0700));
    {
      const io::disk::InFront front(faults);
      (void)start_in(home).has_value();
    }
    for (int again = 0; again < 2; ++again) {
      const auto done = start_in(home);
      EXPECT_TRUE(done) << done.error().message;
    }
    ASSERT_TRUE(io::remove_tree(home.path()));
  });
  EXPECT_GT(runs, 60);
}

TEST_F(LauncherFaults, TheSmallFilesAreTheOldOnesOrTheNewOnes) {
  EndpointFile before, after;
  before.pid = 1;
  after.pid = 2;
  after.control = "tcp://127.0.0.1:5000";
  const std::string endpoint = directory_ + "/endpoint.json",
                    started = directory_ + "/started.json";
  test::each_fault([&](test::DiskFaults& faults, const std::string& where) {
    SCOPED_TRACE(where);
    ASSERT_TRUE(write_endpoint_file(endpoint, before));
    Status done, recorded;
    {
      const io::disk::InFront front(faults);
      done = write_endpoint_file(endpoint, after);
      recorded = write_start_record(started, {});
    }
    if (!done) {
      EXPECT_THAT(done.error().message, HasSubstr(endpoint));
    }
    if (!recorded) {
      EXPECT_THAT(recorded.error().message, HasSubstr(started));
    }
    const auto read = read_endpoint_file(endpoint);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->pid, done ? 2 : 1);
  });
}

}  // namespace
}  // namespace lockstep::launcher
