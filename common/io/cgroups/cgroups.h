#pragma once
// The cgroups of one attempt on one node: one directory per hierarchy, `lockstep/NAME` (v1's for
// CPU time: `lockstep-NAME`). Each rank has a child directory in the memory hierarchy, so that an
// out-of-memory kill can be attributed to it, and one in the pids hierarchy, so that a rank that
// forks without end takes nothing from the others. It owns these directories from create to remove;
// it decides nothing about ranks.

#include <optional>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/result.h"
#include "common/domain/ranks/limits.h"
#include "common/io/cgroups/pids_of_jobs.h"

namespace lockstep::io {

struct CgroupRequest {
  std::string name;  // unique on this host
  int ranks = 1;
  std::optional<Bytes> memory;         // limit of all ranks together
  int cpus = 1;                        // weight
  std::string record;                  // file that lists the directories before they are made
  int pids_limit = kDefaultPidsLimit;  // processes and threads of each rank
  bool is_trial = false;               // needs no record, and is tried out in all ways
  std::string nursery = {};            // the one that this process is in: nursery.h; "": none
};

// The number of processes of that cgroup that the kernel has killed for memory.
long long oom_kills(const std::string& directory, int version);
// How often the kernel refused that cgroup a process or thread because of its limit.
long long refused_forks(const std::string& directory);

class Cgroups {
 public:
  // Chooses v2 if the memory controller is delegated to us, otherwise v1; makes no directory. An
  // error says why no cgroup can be used.
  static Result<Cgroups> find(const CgroupRequest& request);
  // Calls find() and make(). If ranks begin in the nursery, the caller calls make() later.
  static Result<Cgroups> create(const CgroupRequest& request);
  // Makes the directories, and sets and checks their limits; further calls do nothing.
  Status make();
  Cgroups(Cgroups&& other) noexcept = default;
  Cgroups& operator=(Cgroups&&) noexcept = default;

  std::string kind() const { return version_ == 2 ? "cgroup-v2" : "cgroup-v1"; }
  // The job has a memory limit: ranks must join all of its cgroups before they exec.
  bool limited() const { return limited_; }
  bool limits_pids() const;
  // The files a rank writes its pid to, to join its cgroups.
  std::vector<std::string> procs_files(int local_rank) const;
  // The subset that a rank must join before it execs, so that the processes it forks are counted.
  std::vector<std::string> first_files(int local_rank) const;
  // The cgroup that ranks start in before they join the cgroups of procs_files(); "": the runner's
  // own.
  std::string nursery() const { return begins_in_nursery_ ? request_.nursery : ""; }
  // The files for processes that belong to no known rank.
  std::vector<std::string> shared_procs_files() const;
  // The rank's own directory in the hierarchy that counts memory; "": it is not made yet.
  std::string memory_directory(int local_rank) const {
    return made_ && !directories_.empty() ? rank_directory(0, local_rank) : "";
  }
  // How often the kernel refused this rank a process or thread.
  long long refused_forks(int local_rank) const;
  // The limit of this and all other attempts together.
  PidsOfJobs pids_of_jobs() const;
  // Whether the rank's process is in the cgroup that has the memory limit; true if it has ended.
  bool limits_memory_of(int pid, int local_rank) const;
  // The number of processes of this rank that the kernel killed for memory.
  long long killed_for_memory(int local_rank) const;
  bool out_of_memory(int local_rank) const { return killed_for_memory(local_rank) > 0; }
  // Sends SIGKILL to every member once; used when lockstep-spawn cannot do it.
  void kill_all() const;
  // Removes the directories, which must be empty of processes.
  Status remove();

 private:
  Cgroups() = default;
  Status make_directories();
  Status set_limits();
  void limit_nursery();
  // Whether this one of `directories_` has a child directory for each rank.
  bool has_ranks(std::size_t hierarchy) const;
  std::string rank_directory(std::size_t hierarchy, int local_rank) const;
  std::optional<std::size_t> pids_hierarchy() const;
  std::vector<std::string> deepest_first() const;

  CgroupRequest request_;
  int version_ = 1;
  int ranks_ = 0;
  bool limited_ = false;
  bool made_ = false;
  bool is_ambiguous_ = false;       // a hierarchy of v1 is mounted several times
  bool begins_in_nursery_ = false;  // ranks start in the nursery and move later
  // The directories of the attempt, one per hierarchy; [0] limits memory.
  std::vector<std::string> directories_;
  std::vector<std::string> controllers_;  // v1: the controller of each directory
};

}  // namespace lockstep::io
