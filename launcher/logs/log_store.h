#pragma once
// The logs of all ranks, and of their nodes' environments, on disk. One file per rank and stream,
// appended to by offset, so that a chunk that comes twice is stored once. It knows what is written
// and what is durable; making it durable is a batch that may run on another thread. It keeps no
// data in memory and decides nothing.
//
//   <root>/<job>/<attempt>[-<incarnation>]/rank_<N>.stdout|.stderr          bytes
//   <root>/<job>/<attempt>[-<incarnation>]/node_<K>.environment             the same
//   <root>/<job>/<attempt>[-<incarnation>]/<one of these>.times             io::LogTimes; not made
//   durable

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/domain/bulk.h"
#include "common/domain/exit_report.h"
#include "common/io/file_system.h"

namespace lockstep::launcher {

inline constexpr std::size_t kMaxOpenLogs = 1'024;

struct LogExtent {
  std::uint64_t written = 0;  // bytes in the file
  std::uint64_t durable = 0;  // of these, safe on disk
};

// The logs that are not empty, with their sizes.
std::vector<std::pair<LogKey, std::uint64_t>> logs_of(const AttemptId& attempt,
                                                      const LogSize& sizes);

// What LogStore::take_dirty handed out: files, and the directories whose entries are new.
struct SyncBatch {
  struct Item {
    LogKey key;
    std::shared_ptr<io::Fd> file;
    std::uint64_t size = 0;
  };
  std::vector<Item> items;
  std::vector<std::string> directories;
  bool empty() const { return items.empty() && directories.empty(); }
  Status sync() const;  // any thread; blocks
};

class LogStore {
 public:
  // Files beyond `max_open` are closed and opened again when needed.
  explicit LogStore(std::string root, std::size_t max_open = kMaxOpenLogs)
      : root_(std::move(root)), max_open_(max_open) {}

  // Writes what of [offset, offset + data.size()) is not there yet. Data beyond a gap is not taken:
  // the extent says from where to send again. Errors: io (disk full, …), with the path.
  // `times`: of these bytes, kept beside as far as they can be.
  Result<LogExtent> append(const LogKey& key, std::uint64_t offset, std::string_view data,
                           const std::vector<LogTime>& times = {});

  // A file that an earlier process wrote counts as not durable until the next batch.
  Result<LogExtent> extent(const LogKey& key);

  // Everything written since the last batch. While one is under way, take no other.
  SyncBatch take_dirty();
  void synced(const SyncBatch& batch);  // it is durable now
  // The sync failed, so the bytes may be in memory only, and a later sync would not report that:
  // bytes that were not acknowledged are cut off, and nodes send them again. Nothing may be written
  // to the store afterwards.
  Status cut_back(const SyncBatch& batch);

  // Bytes [offset, …) that are written, at most `limit`; "" at the end.
  Result<std::string> read(const LogKey& key, std::uint64_t offset, std::size_t limit);
  // The logs of an attempt that exist.
  Result<std::vector<LogKey>> list(const AttemptId& attempt) const;
  // Where the last `lines` lines begin.
  Result<std::uint64_t> tail_offset(const LogKey& key, std::uint64_t lines);
  // Where lines begin that began at `since` or later; 0 when no times are known.
  Result<std::uint64_t> since_offset(const LogKey& key, Instant since);
  std::vector<LogTime> times(const LogKey& key, std::uint64_t begin, std::uint64_t end) const;
  // Closes what is open of a job; its files stay.
  void forget(const JobId& job);

  // The attempt's logs are of no use any more: nothing of them is open or to be made durable. Its
  // directory is the caller's to remove.
  void drop(const AttemptId& attempt);

  std::string path(const LogKey& key) const;
  std::string directory(const AttemptId& attempt) const;
  // "<attempt>[-<incarnation>]", the name of that directory in its job's.
  static std::string name_of(const AttemptId& attempt);
  const std::string& root() const { return root_; }

 private:
  struct File {
    std::shared_ptr<io::Fd> fd;  // null: closed, opened when needed
    LogExtent extent;
    std::uint64_t found = 0;  // bytes of an earlier process, which may have acknowledged them
  };
  // Null when there is no such file and `create` is false.
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
