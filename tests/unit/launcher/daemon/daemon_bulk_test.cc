// The bulk socket of a real lockstepd: blobs in and out, snapshots that lack something, who may
// what.

#include <gmock/gmock.h>
#include <signal.h>

#include "common/snapshot/manifest.h"
#include "tests/unit/launcher/daemon/daemon_process.h"

namespace lockstep {
namespace {

using test::DaemonProcess;
using test::Peer;
using test::small_job;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class DaemonBulkTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(daemon_.start({"--allow-root"})) << daemon_.log();
    ann_.emplace(daemon_.endpoint(), user_);
  }
  static BlobPiece piece(const std::string& data) {
    return {sha256(data), data.size(), 0, false, data};
  }
  DaemonProcess daemon_;
  io::KeyPair user_ = test::authorized_user(daemon_);
  std::optional<Peer> ann_;
};

TEST_F(DaemonBulkTest, BlobsAreKeptOverAKill) {
  const std::string data = "some content";
  ann_->send_bulk(MissingBlobs{{sha256(data)}});
  EXPECT_THAT(ann_->next_bulk<MissingBlobsReply>()->missing, ElementsAre(sha256(data)));
  ann_->send_bulk(PutBlobs{{piece(data)}});
  ASSERT_TRUE(ann_->next_bulk<PutBlobsReply>()) << daemon_.log();
  daemon_.signal(SIGKILL);
  ASSERT_TRUE(daemon_.start()) << daemon_.log();
  ann_->send_bulk(MissingBlobs{{sha256(data)}});
  EXPECT_THAT(ann_->next_bulk<MissingBlobsReply>()->missing, IsEmpty());
  // As a file of a job's tree.
  snapshot::Directory directory;
  directory.entries.push_back(
      {"file", snapshot::EntryKind::file, 0644, data.size(), sha256(data), ""});
  const std::string folder = snapshot::encode(directory);
  ann_->send_bulk(PutBlobs{{piece(folder)}});
  ASSERT_TRUE(ann_->next_bulk<PutBlobsReply>()) << daemon_.log();
  auto spec = small_job("has_it");
  spec.snapshot = sha256(folder);
  ASSERT_FALSE(ann_->ask_for<SubmitReply>(Submit{"s", spec})->snapshot_missing);
  ann_->send_bulk(GetBlobs{{sha256(data)}, 0, 0, false, spec.snapshot, JobId("has_it")});
  std::string got;
  for (bool last = false; !last;) {
    const auto reply = ann_->next_bulk<BlobData>();
    ASSERT_TRUE(reply) << daemon_.log();
    for (const auto& part : reply->pieces)
      if (!part.compressed) got += part.data;
    EXPECT_THAT(reply->absent, IsEmpty());
    last = reply->last;
  }
  EXPECT_EQ(got, data);
}

TEST_F(DaemonBulkTest, ABlobThatIsNotWhatItSaysIsRefused) {
  auto wrong = piece("content");
  wrong.digest = sha256("other");
  ann_->send_bulk(PutBlobs{{wrong}});
  EXPECT_TRUE(ann_->next_bulk<BulkRefused>());
}

TEST_F(DaemonBulkTest, AJobWhoseSnapshotIsNotHereIsNotAcceptedYet) {
  auto spec = small_job("snapped");
  spec.snapshot = sha256("no such tree");
  const auto reply = ann_->ask_for<SubmitReply>(Submit{"s", spec});
  ASSERT_TRUE(reply) << daemon_.log();
  EXPECT_TRUE(reply->snapshot_missing);
  EXPECT_THAT(ann_->ask_for<JobsReply>(ListJobs{})->jobs, IsEmpty());
}

TEST_F(DaemonBulkTest, UsersMayNotWriteLogs) {
  ann_->send_bulk(LogAppend{NodeId(1), {{JobId("j"), 1}, 0, LogStream::out}, 0, "x"});
  EXPECT_THAT(ann_->next_bulk<BulkRefused>()->message, HasSubstr("only a node"));
}

TEST_F(DaemonBulkTest, LogsOfAnUnknownJobAreRefused) {
  ann_->send_bulk(LogFollow{JobId("nope"), 0, {}, {}, {}, -1, true, 64, {}});
  EXPECT_THAT(ann_->next_bulk<BulkRefused>()->message, HasSubstr("no job 'nope'"));
}

}  // namespace
}  // namespace lockstep
