#include "runner/steps/cgroup_joiner.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "common/io/file_system.h"
#include "runner/spawn/sweep.h"

namespace lockstep::runner {
namespace {

constexpr int kMostRounds = 100;  // for a tree that forks faster than we look

}  // namespace

CgroupJoiner::~CgroupJoiner() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void CgroupJoiner::join(int pid, std::vector<std::string> procs_files) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back({pid, std::move(procs_files)});
  }
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  changed_.notify_one();
}

void CgroupJoiner::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const Work next = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    move_tree(next);
    lock.lock();
  }
}

// What is born of a member is a member: once a look finds nobody new, the tree is in.
void CgroupJoiner::move_tree(const Work& work) const {
  std::set<int> moved;
  for (int round = 0; round < kMostRounds; ++round) {
    const std::vector<int> ours = spawn::descendants_of(spawn_pid_);
    if (std::find(ours.begin(), ours.end(), work.pid) == ours.end()) return;
    std::vector<int> tree = spawn::descendants_of(work.pid);
    tree.push_back(work.pid);
    bool any = false;
    for (const int pid : tree) {
      if (!moved.insert(pid).second) continue;
      any = true;
      for (const auto& file : work.procs_files) {
        const io::Fd fd(open(file.c_str(), O_WRONLY | O_CLOEXEC));
        const std::string text = std::to_string(pid);
        // ESRCH: it ended meanwhile.
        [[maybe_unused]] const ssize_t written = write(fd.get(), text.data(), text.size());
      }
    }
    if (!any) return;
  }
}

}  // namespace lockstep::runner
