#pragma once
// Keeps the stores small while the launcher works: compacts the journal, removes the logs of
// deleted jobs, and collects blobs that nothing refers to. It does one of these at a time, on its
// own worker, holding stores.lock; the event loop only passes lists. Lists are made of a durable
// state: what a crash can take back removes nothing. The core
// decides which jobs are deleted (launcher/core/jobs/retention.cc).

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/io/event_loop.h"
#include "common/io/file_system.h"
#include "common/snapshot/content/blob_gc.h"
#include "launcher/daemon/blobs/ledger.h"
#include "launcher/daemon/stores/archiver.h"
#include "launcher/daemon/stores/disk_monitor.h"
#include "launcher/daemon/stores/durable_core.h"
#include "launcher/daemon/work/worker.h"
#include "launcher/home/layout.h"
#include "launcher/logs/log_store.h"

namespace lockstep::launcher {

// While the disk is low, uploads of users that no job refers to are kept no longer than this.
inline constexpr Duration kBriefLease = seconds(30);
// While the disk is low and blobs can be removed, the time between collections. The two sum to less
// than the minute that error messages promise to users.
inline constexpr Duration kLowPause = kBriefLease / 2;
// The same while replaced versions of running jobs can be removed.
inline constexpr Duration kReplacedPause = seconds(3);

class StoreCompactor {
 public:
  struct Settings {
    Duration blob_lease = minutes(60);
    std::uint64_t compact_after = 10'000;
  };
  struct Parts {
    io::EventLoop& loop;
    DurableCore& durable;
    snapshot::BlobStore& blobs;
    LogStore& logs;
    const LauncherHome& home;
    Settings settings;
    const DiskMonitor& space;
    BlobLedger* ledger = nullptr;  // rows of removed blobs are removed from it
    Archiver* archiver = nullptr;  // has the facts that a compaction replaces
  };
  explicit StoreCompactor(Parts parts);
  ~StoreCompactor();

  void perform(const ForgetJob& action);
  void perform(const TreesReplaced& action);
  // Called at the end of each turn; begins what is due.
  void turn_end();
  Duration wait();  // time until something is due; max() while it is at work

 private:
  struct LogFolder {
    std::string job, attempt;  // names of directories
  };
  bool begin();  // false: at work, or a backup is being taken
  void end();
  void list_orphans();
  void found(const std::vector<LogFolder>& folders);
  static std::string first_of(const std::vector<LogFolder>& folders);
  void remove_logs();
  void removed_logs(const std::vector<LogFolder>& folders);
  Instant compaction_at() const;
  void compact();
  void adopt(const Result<CompactedJournal>& compacted);
  void replace_by(const CompactedJournal& compacted);
  void adopted(const Status& done, std::uint64_t before);
  bool is_low() const { return space_.level() != DiskMonitor::Level::well; }
  void hurry();
  void collect();
  void drop_released(Instant before);
  Status forget_senders();
  void condemned(const Result<std::size_t>& count);
  void collected(const Result<snapshot::Collected>& result);

  io::EventLoop& loop_;
  DurableCore& durable_;
  snapshot::BlobStore& blobs_;
  LogStore& logs_;
  const LauncherHome& home_;
  const Settings settings_;
  const DiskMonitor& space_;
  BlobLedger* const ledger_;
  Archiver* const archiver_;
  std::optional<io::FileLock> lock_;  // held while it is at work
  bool orphans_listed_ = false;
  std::deque<LogFolder> doomed_;
  Instant not_before_;  // nothing begins before this: after a failure, or during a backup
  Instant collect_at_;
  Instant collect_low_at_;          // the same time while disk space is low
  Duration low_pause_ = kLowPause;  // between collections while the disk is low
  Instant compact_at_;              // no compaction before this
  // Trees that running jobs have replaced, until a collection has removed their blobs.
  struct Replaced {
    snapshot::BlobCollection::Released tree;
    Instant at;
    // An upper bound for all trees of one action; it stands with the first of them.
    std::uint64_t bytes = 0;
  };
  std::deque<Replaced> replaced_;
  std::uint64_t replaced_bytes_ = 0;
  Instant collected_at_;    // the begin of the last collection
  Duration took_{0};        // how long that collection took
  std::uint64_t rows_ = 0;  // the journal's rows in the last turn
  Instant quiet_since_;     // when that last changed
  std::unique_ptr<snapshot::BlobCollection> collecting_;
  Worker worker_;  // last member, so that it is destroyed first
};

}  // namespace lockstep::launcher
