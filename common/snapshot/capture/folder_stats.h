#pragma once
// Stats the files of folders on several threads while the walk continues to find folders, because
// in an unchanged tree the stats are most of the work. It decides nothing: entries that are not
// regular files are returned to the walk.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/io/file_system.h"
#include "common/snapshot/capture/scanned.h"

namespace lockstep::snapshot {

struct FolderToStat {
  std::size_t index = 0;  // index in Scan::folders
  io::Fd fd;              // closed when `odd` stays empty
  std::vector<std::string> names;
  // The results, in the order of the names:
  std::vector<ScannedFile> files;
  std::vector<std::string> odd;  // names that cannot be statted or are not regular files
};

class FolderStats {
 public:
  FolderStats() = default;
  ~FolderStats();
  FolderStats(const FolderStats&) = delete;
  FolderStats& operator=(const FolderStats&) = delete;

  // Adds a folder. Another thread reads it, or the calling one when the others have enough to do.
  void add(FolderToStat folder);
  // Waits for all added folders and returns them in order. Call it once.
  std::deque<FolderToStat> finish();

 private:
  void serve();
  FolderToStat* next(bool wait);
  void start_threads();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<FolderToStat> folders_;   // a deque, because other threads hold references into it
  std::deque<FolderToStat*> waiting_;  // guarded by mutex_
  bool leaving_ = false;               // guarded by mutex_
  std::size_t names_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace lockstep::snapshot
