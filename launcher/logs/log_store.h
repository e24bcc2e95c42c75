#pragma once
// The logs of all ranks, and of their nodes' environments, on disk. There is one file per rank and
// stream; chunks are appended by offset, so that one that comes twice is stored once. The store
// knows how many bytes of a file are written and how many are durable. A SyncBatch makes them
// durable and may run on another thread. The store keeps no log data in memory.
//
//   <root>/<job>/<attempt>[-<incarnation>]/rank_<N>.stdout|.stderr          bytes
//   <root>/<job>/<attempt>[-<incarnation>]/node_<K>.environment             the same
//   <root>/<job>/<attempt>[-<incarnation>]/<one of these>.times             io::LogTimes; not made
//   durable

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/domain/messages/bulk_protocol.h"
#include "common/domain/ranks/exit_report.h"
#include "common/io/file_system.h"

namespace lockstep::launcher {

inline constexpr std::size_t kMaxOpenLogs = 1'024;

struct LogExtent {
  std::uint64_t written = 0;  // bytes in the file
  std::uint64_t durable = 0;  // the bytes that are safe on disk
};

// The logs that are not empty, with their sizes.
std::vector<std::pair<LogKey, std::uint64_t>> logs_of(const AttemptId& attempt,
                                                      const LogSize& sizes);

// The result of LogStore::take_dirty: files, and the directories whose entries are new.
struct SyncBatch {
  struct Item {
    LogKey key;
    std::shared_ptr<io::Fd> file;
    std::uint64_t size = 0;
  };
  std::vector<Item> items;
  std::vector<std::string> directories;
  bool empty() const { return items.empty() && directories.empty(); }
  Status sync() const;  // syncs the files; from any thread; blocks
};

class LogStore {
 public:
  // Files beyond `max_open` are closed and opened again when needed.
  explicit LogStore(std::string root, std::size_t max_open = kMaxOpenLogs)
      : root_(std::move(root)), max_open_(max_open) {}

  // Writes the part of [offset, offset + data.size()) that is not in the file yet. Data beyond a
  // gap is not written; the returned extent says where to send from. Errors: io (disk full, …),
  // with the path. `times`: of these bytes; a failure to write them is ignored. One that is earlier
  // than the log's newest, because the measure of a clock has changed, is stored as that.
  Result<LogExtent> append(const LogKey& key, std::uint64_t offset, std::string_view data,
                           const std::vector<LogTime>& times = {});

  // The extent of a log. A file that an earlier process wrote counts as not durable until the next
  // batch.
  Result<LogExtent> extent(const LogKey& key);

  // Takes everything written since the last batch. Do not call it while a batch is under way.
  SyncBatch take_dirty();
  void synced(const SyncBatch& batch);  // notes that the batch is durable
  // Cuts off the bytes that were not acknowledged, so that nodes send them again. Called when a
  // batch could not be made durable: its data may be in memory only, and a later sync would not
  // report that. Nothing may be written to the store afterwards.
  Status cut_back(const SyncBatch& batch);

  // Bytes [offset, …) that are written, at most `limit`; "" at the end.
  Result<std::string> read(const LogKey& key, std::uint64_t offset, std::size_t limit);
  // The logs of an attempt that exist.
  Result<std::vector<LogKey>> list(const AttemptId& attempt) const;
  // The offset at which the last `lines` lines begin.
  Result<std::uint64_t> tail_offset(const LogKey& key, std::uint64_t lines);
  // The offset of the first line written at `since` or later; 0 when no times are known.
  Result<std::uint64_t> since_offset(const LogKey& key, Instant since);
  std::vector<LogTime> times(const LogKey& key, std::uint64_t begin, std::uint64_t end) const;
  // The time at which the byte at `offset` was written; Instant{} if that is not known.
  Instant time_at(const LogKey& key, std::uint64_t offset) const;
  // Closes the job's open files; they stay on disk.
  void forget(const JobId& job);

  // Closes the files of an attempt whose logs are to be deleted, and drops them from the next
  // batch. The caller removes the directory.
  void drop(const AttemptId& attempt);

  std::string path(const LogKey& key) const;
  std::string directory(const AttemptId& attempt) const;
  // "<attempt>[-<incarnation>]", the attempt's directory name within its job's.
  static std::string name_of(const AttemptId& attempt);
  const std::string& root() const { return root_; }

 private:
  struct File {
    std::shared_ptr<io::Fd> fd;  // null: closed, opened when needed
    LogExtent extent;
    std::uint64_t found = 0;  // bytes that an earlier process wrote and may have acknowledged
    // the newest of the log's times; nullopt: not looked up yet
    std::optional<Instant> newest = {};
  };
  // Finds a log; null if it does not exist and `create` is false.
  Result<File*> find(const LogKey& key, bool create);
  Result<std::shared_ptr<io::Fd>> open(const LogKey& key, bool create);
  void close_idle();

  std::string root_;
  std::size_t max_open_;
  std::map<LogKey, File> files_;
  std::set<LogKey> dirty_;  // written to since the last batch
  std::set<std::string> new_directories_;
  std::size_t open_ = 0;
};

}  // namespace lockstep::launcher
