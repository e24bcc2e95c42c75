#pragma once
// Reads what one rank does at this moment: its process and the descendants, what their threads are
// blocked on, and its counters. Without `closely` that is a few files for each process; with it
// every thread is looked at, which is done only of ranks that have not moved for a while. All is
// bounded, so that a rank costs some milliseconds at the very most. It only reads, and keeps
// nothing but where a rank's files are.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runner/watch/proc/proc_reader.h"
#include "runner/watch/rank_look.h"
#include "runner/watch/sockets/peer_sockets.h"

namespace lockstep::runner {

inline constexpr std::size_t kMaxProcessesOfRank = 256;
inline constexpr std::size_t kMaxThreadsOfRank = 192;  // threads that are examined one by one
// Links of descriptors that are read to find its sockets.
inline constexpr std::size_t kMaxLinksOfRank = 2'048;

class RankReader {
 public:
  explicit RankReader(std::string root = "") : proc_(std::move(root)) {}

  struct Request {
    int rank = 0;
    int pid = 0;         // the pid as lockstep-spawn sees it
    std::string cgroup;  // the cgroup that has its processes; "": none
  };
  struct Place {
    int spawn_pid = -1;  // the parent of the ranks, as we have it; -1: unknown
    int pmix_pid = -1;   // the pid of lockstep-pmix; -1: it does not run
  };
  // Begins a sample. Finds the processes of these ranks, which are those that live.
  void begin(const Place& place, const std::vector<Request>& ranks);
  // A process of the ranks, in our pid namespace, in whose network namespace they are; -1: none.
  int any_pid() const;

  // Tells `owners` which of the ranks and the PMIx server has which socket.
  void find_owners(SocketOwners& owners) const;

  // Looks at a rank. `table`: nullptr if the sockets could not be read.
  RankLook look(int rank, bool closely, const SocketTable* table, const SocketOwners& owners) const;
  // Values that change seldom and cost more: the speed of its cpu, and how long its cpu quota
  // stopped it.
  void look_slowly(int rank, RankLook* look);

  // Pids in our namespace; -1: not found. pid_of: the rank's process. The others: the process that
  // the ranks know by this number, and the one that has used most cpu time.
  int pid_of(int rank) const;
  int process_of(int rank, int own_pid) const;
  int working_pid(int rank) const;
  const ProcReader& proc() const { return proc_; }

 private:
  struct Found {
    ThreadStat top;
    std::vector<ThreadStat> below;
    std::vector<std::string> quota_files;  // the files cpu.stat of its cgroups
    bool knows_quota_files = false;
  };
  std::vector<ThreadStat> members(const Request& rank) const;
  std::vector<ThreadStat> below_spawn() const;
  bool is_top(const ThreadStat& process, const Request& rank);
  void find(const Request& rank, std::vector<ThreadStat>& all);
  ProcessLook look_at(const ThreadStat& stat, DescriptorSource& source) const;
  void look_at_threads(int pid, DescriptorSource& source, ThreadCounts* counts) const;
  void name_other_end(const std::vector<ThreadStat>& stats, ProcessLook& look) const;
  std::vector<std::string> quota_files(int pid) const;

  const ProcReader proc_;
  Place place_;
  std::map<int, Found> ranks_;  // the ranks that were found
  // The number of a process among the ranks; of an identity, since numbers are used again.
  mutable std::map<std::pair<int, std::uint64_t>, int> own_pids_;
};

}  // namespace lockstep::runner
