#include "runner/steps/cgroup_joiner.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>

#include "common/io/file_system.h"
#include "runner/spawn/sweep.h"

namespace lockstep::runner {
namespace {

constexpr int kMostRounds = 100;     // for a tree that forks faster than we look
constexpr int kMostSweeps = 10'000;  // of a nursery, which bounds what is in it
constexpr int kSweepsBeforeAHalt = 4;

void move(int pid, const std::vector<std::string>& procs_files) {
  for (const auto& file : procs_files) {
    const io::Fd fd(open(file.c_str(), O_WRONLY | O_CLOEXEC));
    const std::string text = std::to_string(pid);
    // ESRCH: it ended meanwhile.
    [[maybe_unused]] const ssize_t written = write(fd.get(), text.data(), text.size());
  }
}

// Before all ranks: a thousand processes that fork would leave this thread no time to follow them.
void be_first() {
  sched_param priority{};
  priority.sched_priority = 1;
  if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &priority) != 0)
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), -20);
}

std::vector<int> members_of(const std::string& directory) {
  std::vector<int> found;
  std::istringstream in(io::read_file(directory + "/cgroup.procs").value_or(""));
  for (int pid = 0; in >> pid;) found.push_back(pid);
  return found;
}

// While it lives, every fork in the cgroup fails: the limit stands below what is in it.
class ForkHalt {
 public:
  explicit ForkHalt(const std::string& cgroup)
      : file_(cgroup + "/pids.max"), before_(io::read_file(file_).value_or("max")) {
    set("0");
  }
  ~ForkHalt() { set(before_); }
  ForkHalt(const ForkHalt&) = delete;
  ForkHalt& operator=(const ForkHalt&) = delete;

 private:
  void set(const std::string& limit) const {
    const io::Fd fd(open(file_.c_str(), O_WRONLY | O_CLOEXEC));
    [[maybe_unused]] const ssize_t written = write(fd.get(), limit.data(), limit.size());
  }
  std::string file_;
  std::string before_;
};

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
  push({pid, std::move(procs_files)});
}

void CgroupJoiner::empty(const std::string& nursery, std::vector<std::string> procs_files) {
  push({0, std::move(procs_files), nursery});
}

void CgroupJoiner::push(Work work) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(work));
  }
  if (!thread_.joinable()) thread_ = std::thread([this] { this->work(); });
  changed_.notify_one();
}

void CgroupJoiner::work() {
  be_first();
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const Work next = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    next.nursery.empty() ? move_tree(next) : move_members(next);
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
      move(pid, work.procs_files);
    }
    if (!any) return;
  }
}

// On a busy machine, processes that end as soon as their child is there are gone before they are
// moved, for as long as they fork. Only those need a halt of all forks.
void CgroupJoiner::move_members(const Work& work) const {
  std::optional<ForkHalt> halt;
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    if (sweep == kSweepsBeforeAHalt) halt.emplace(work.nursery);
    bool any = false;
    for (const int pid : members_of(work.nursery)) {
      if (pid == getpid() || pid == spawn_pid_) continue;
      any = true;
      move(pid, work.procs_files);
    }
    if (!any) return;
  }
}

}  // namespace lockstep::runner
