#pragma once
// Stats the files of folders on several threads, beside the walk that finds them: in a tree that
// did not change, they are most of the work. It decides nothing: what is not simply a file is given
// back to the walk.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/io/file_system.h"
#include "common/snapshot/scan.h"

namespace lockstep::snapshot {

struct FolderToStat {
  std::size_t index = 0;  // in Scan::folders
  io::Fd fd;              // closed when no name was odd
  std::vector<std::string> names;
  // Filled in, in the order of the names:
  std::vector<ScannedFile> files;
  std::vector<std::string> odd;  // could not be statted, or is no regular file
};

class FolderStats {
 public:
  FolderStats() = default;
  ~FolderStats();
  FolderStats(const FolderStats&) = delete;
  FolderStats& operator=(const FolderStats&) = delete;

  // Done by another thread, or by this one when the others have enough to do.
  void add(FolderToStat folder);
  // All folders that were added, in order. Once.
  std::deque<FolderToStat> finish();

 private:
  void serve();
  FolderToStat* next(bool wait);
  void start_threads();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<FolderToStat> folders_;   // a deque, as others hold references into it
  std::deque<FolderToStat*> waiting_;  // guarded by mutex_
  bool leaving_ = false;               // guarded by mutex_
  std::size_t names_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace lockstep::snapshot
