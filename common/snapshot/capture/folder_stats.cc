#include "common/snapshot/capture/folder_stats.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "common/snapshot/capture/file_stat.h"

namespace lockstep::snapshot {
namespace {

// The least number of names for threads; with fewer, the work is done before a thread has started.
constexpr std::size_t kWorthThreads = 1'000;
constexpr std::size_t kMaxWaiting = 32;  // each waiting folder holds a descriptor
constexpr unsigned kMaxThreads = 3;      // the most threads besides the walk's own

void stat_all(FolderToStat& folder) {
  folder.files.reserve(folder.names.size());
  for (std::string& name : folder.names) {
    struct stat info {};
    const int failed = ::fstatat(folder.fd.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW);
    if (failed != 0 || !S_ISREG(info.st_mode))
      folder.odd.push_back(std::move(name));
    else
      folder.files.push_back({std::move(name), info.st_mode & 07777, identity_of(info)});
  }
  if (folder.odd.empty()) folder.fd.reset();
}

}  // namespace

FolderStats::~FolderStats() { static_cast<void>(finish()); }

void FolderStats::add(FolderToStat folder) {
  names_ += folder.names.size();
  if (threads_.empty() && names_ >= kWorthThreads) start_threads();
  FolderToStat& added = folders_.emplace_back(std::move(folder));
  if (!threads_.empty()) {
    const std::lock_guard guard(mutex_);
    if (waiting_.size() < kMaxWaiting) {
      waiting_.push_back(&added);
      changed_.notify_one();
      return;
    }
  }
  stat_all(added);
}

std::deque<FolderToStat> FolderStats::finish() {
  while (FolderToStat* const folder = next(false)) stat_all(*folder);
  {
    const std::lock_guard guard(mutex_);
    leaving_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  return std::exchange(folders_, {});
}

void FolderStats::start_threads() {
  const unsigned count = std::clamp(std::thread::hardware_concurrency(), 2u, kMaxThreads + 1) - 1;
  for (unsigned i = 0; i < count; ++i) threads_.emplace_back([this] { serve(); });
}

void FolderStats::serve() {
  while (FolderToStat* const folder = next(true)) stat_all(*folder);
}

// Takes the next folder. Null: no folder is waiting; with `wait`, none will come.
FolderToStat* FolderStats::next(bool wait) {
  std::unique_lock lock(mutex_);
  if (wait) changed_.wait(lock, [this] { return leaving_ || !waiting_.empty(); });
  if (waiting_.empty()) return nullptr;
  FolderToStat* const folder = waiting_.front();
  waiting_.pop_front();
  return folder;
}

}  // namespace lockstep::snapshot
