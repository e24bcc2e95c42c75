#pragma once
// Writes the store of metrics, on a thread of its own behind a bounded queue. What waits is written
// in one transaction, so the more comes, the less each change costs. A change is acknowledged when
// it is committed: a kill of the process loses none that was, and doubles none that is sent again.
// A power cut may lose what was acknowledged in the last kSyncEvery.
//
// Space of removed runs is given back in small steps, while nothing else waits.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/domain/runs/change.h"
#include "launcher/metrics/applier.h"
#include "launcher/metrics/limits.h"

namespace lockstep::metrics {

class Writer {
 public:
  // Called on the writer's thread. An error: nothing of the change was written. See Applier::apply;
  // further resource_exhausted (the disk is full), io, corrupt.
  using Done = std::function<void(Status)>;

  // A damaged store is kept as `<path>.damaged`, and a new one is begun: jobs run without their
  // numbers, too. unsupported: a newer version made it.
  static Result<std::unique_ptr<Writer>> open(const std::string& path, const MetricsLimits& limits);
  ~Writer();  // when all that waits is written
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // What open() found, as a text for people; "": nothing.
  const std::string& finding() const { return finding_; }

  // Refused, and `done` never called: invalid_argument (see validate()); resource_exhausted: too
  // much waits already.
  Status add(Change change, Done done);

  struct Load {
    std::size_t changes = 0, bytes = 0;  // that wait
  };
  Load load() const;
  // Blocks until all that was added before is written, and what was removed is purged.
  void settle();

 private:
  struct Waiting {
    Change change;
    Done done;
    std::size_t bytes = 0;
  };
  struct Store {
    Database db;
    std::optional<Applier> applier;  // it refers to `db`, which stays where it is
  };
  Writer(std::unique_ptr<Store> store, std::string finding);
  static Result<std::unique_ptr<Store>> open_store(const std::string& path,
                                                   const MetricsLimits& limits);
  void serve();
  bool is_to_end() const;
  std::deque<Waiting> take_group();
  void write(std::deque<Waiting> group);
  Status commit(const std::deque<Waiting>& group, std::vector<Status>* results);
  void purge();
  void sync_if_due();

  const std::string finding_;
  // The thread's own:
  std::unique_ptr<Store> store_;
  bool to_purge_ = true;  // an earlier process may have left something
  std::optional<std::chrono::steady_clock::time_point> sync_at_;  // none: all is synced

  mutable std::mutex mutex_;
  std::condition_variable changed_, settled_;
  std::deque<Waiting> queue_;  // guarded by mutex_, as all that follows
  std::size_t queue_bytes_ = 0;
  bool is_settled_ = false;  // nothing waits, is being written or is to be purged
  bool leaving_ = false;
  std::thread thread_;  // last member, so that it starts when all others are there
};

}  // namespace lockstep::metrics
