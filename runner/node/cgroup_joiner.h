#pragma once
// Moves ranks that already run into their cgroups. The first move of a process between v1 cgroups
// waits for an RCU grace period, some 8 ms on an idle machine: longer than all other steps between
// the order and exec. For a job without a memory limit, this can safely happen after its start;
// with a limit, ranks join before exec (set_cgroups) instead. Owns one thread while it has work to
// do.

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace lockstep::runner {

class CgroupJoiner {
 public:
  // Begins with no work. `spawn_pid`: the parent of all ranks; a pid that is not its child (any
  // more) is not moved. `ranks`: how many ranks the node has. `helper_pid`: another child of the
  // runner, which is not a rank's; -1: none.
  CgroupJoiner(int spawn_pid, int ranks, int helper_pid = -1)
      : spawn_pid_(spawn_pid), helper_pid_(helper_pid), ranks_(ranks) {}
  ~CgroupJoiner();  // finishes the queued work
  CgroupJoiner(const CgroupJoiner&) = delete;
  CgroupJoiner& operator=(const CgroupJoiner&) = delete;

  // Moves the process and its descendants, and repeats this until none of them is outside.
  void join(int pid, std::vector<std::string> procs_files);
  // Moves every process of the cgroup `nursery` except the runner, lockstep-spawn and the helper,
  // and repeats this until no other is left there. Unlike join(), it also finds orphans of a rank,
  // which are not its descendants any more.
  void empty(const std::string& nursery, std::vector<std::string> procs_files);

 private:
  class Halt;
  struct Work {
    int pid = 0;
    std::vector<std::string> procs_files;
    std::string nursery = {};  // if set, this cgroup is emptied, and `pid` is not used
  };
  void push(Work work);
  void work();
  void move_tree(const Work& work, Halt& halt) const;
  void move_members(const Work& work, Halt& halt) const;
  std::vector<int> others_in(const std::string& nursery) const;
  bool are_many(const std::string& nursery) const;
  void stop_all(const std::string& nursery, Halt& halt) const;

  int spawn_pid_;
  int helper_pid_;
  int ranks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Work> queue_;  // guarded by mutex_
  bool stopping_ = false;   // guarded by mutex_
  std::thread thread_;
};

}  // namespace lockstep::runner
