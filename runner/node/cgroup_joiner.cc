#include "runner/node/cgroup_joiner.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include "common/io/cgroups/nursery.h"
#include "common/io/file_system.h"
#include "runner/spawn/sweep.h"

namespace lockstep::runner {
namespace {

// If a nursery holds more than kMany processes, and more than kManyOfARank for each rank, all are
// stopped while they are moved. A move waits for all forks that are in progress on the machine, and
// delays new ones. Among the thousands of processes of a fork bomb, each move takes half a second,
// and nobody on the machine can start a process.
constexpr std::size_t kMany = 16;
constexpr std::size_t kManyOfARank = 4;
constexpr int kMostRounds = 100;     // rounds for a tree that forks faster than it is read
constexpr int kMostSweeps = 10'000;  // sweeps over a nursery, whose size is limited
// The number of looks in which the kernel's list must be empty: while processes fork and end, it
// may miss a running one.
constexpr int kEmptyLooks = 3;
constexpr useconds_t kBetweenLooks = 1'000;
constexpr int kMostLooks = 1'000;  // looks for processes that are not stopped yet

void move(int pid, const std::vector<std::string>& procs_files) {
  for (const auto& file : procs_files) {
    const io::Fd fd(open(file.c_str(), O_WRONLY | O_CLOEXEC));
    const std::string text = std::to_string(pid);
    // ESRCH means that the process ended meanwhile.
    [[maybe_unused]] const ssize_t written = write(fd.get(), text.data(), text.size());
  }
}

// Raises the priority: among a thousand forking processes this thread would otherwise be too slow
// to follow them.
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

bool is_stopped(int pid) {
  const std::string stat = io::read_file("/proc/" + std::to_string(pid) + "/stat").value_or("");
  const auto name_end = stat.rfind(") ");
  return name_end != std::string::npos && stat.compare(name_end + 2, 1, "T") == 0;
}

}  // namespace

// Stops processes, and continues them when told or in the destructor. A stopped process does not
// fork, and a fork in progress does not fail. Processes that were stopped before stay stopped.
class CgroupJoiner::Halt {
 public:
  Halt() = default;
  ~Halt() { release(); }
  Halt(const Halt&) = delete;
  Halt& operator=(const Halt&) = delete;

  // Stops a process. False: it is stopped already, or has ended.
  bool stop(int pid) {
    if (stopped_.count(pid) != 0 || is_stopped(pid) || kill(pid, SIGSTOP) != 0) return false;
    return stopped_.insert(pid).second;
  }

  void release() {
    for (const int pid : std::exchange(stopped_, {})) kill(pid, SIGCONT);
  }

 private:
  std::set<int> stopped_;
};

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
  Halt halt;
  std::unique_lock lock(mutex_);
  while (true) {
    if (queue_.empty()) halt.release();
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const Work next = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    next.nursery.empty() ? move_tree(next, halt) : move_members(next, halt);
    lock.lock();
  }
}

// Moves a tree. Children of a member become members. When a look finds no new process, the whole
// tree is moved.
void CgroupJoiner::move_tree(const Work& work, Halt& halt) const {
  const std::string nursery = io::nursery_of(getpid());
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
      if (are_many(nursery)) stop_all(nursery, halt);
      move(pid, work.procs_files);
    }
    if (!any) return;
  }
}

std::vector<int> CgroupJoiner::others_in(const std::string& nursery) const {
  std::vector<int> others = members_of(nursery);
  std::erase_if(others, [this](int pid) {
    return pid == getpid() || pid == spawn_pid_ || pid == helper_pid_;
  });
  return others;
}

// Processes that are still here are orphans, or were born meanwhile. They are stopped first,
// because a move waits for all forks in progress, which takes seconds on a busy machine; processes
// that end right after forking would be gone by then. An exiting process cannot be moved, so this
// waits until it has ended.
void CgroupJoiner::move_members(const Work& work, Halt& halt) const {
  int empty_looks = 0;
  std::vector<int> before;
  for (int sweep = 0; sweep < kMostSweeps && empty_looks < kEmptyLooks; ++sweep) {
    stop_all(work.nursery, halt);
    const std::vector<int> others = others_in(work.nursery);
    empty_looks = others.empty() ? empty_looks + 1 : 0;
    if (others.empty() || others == before) usleep(kBetweenLooks);
    before = others;
    for (const int pid : others) move(pid, work.procs_files);
  }
}

bool CgroupJoiner::are_many(const std::string& nursery) const {
  return others_in(nursery).size() > kMany + kManyOfARank * static_cast<std::size_t>(ranks_);
}

// Repeats until a look finds only stopped processes.
void CgroupJoiner::stop_all(const std::string& nursery, Halt& halt) const {
  bool any_new = true;
  for (int look = 0; any_new && look < kMostLooks; ++look) {
    any_new = false;
    for (const int pid : others_in(nursery)) any_new = halt.stop(pid) || any_new;
  }
}

}  // namespace lockstep::runner
