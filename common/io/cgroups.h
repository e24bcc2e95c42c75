#pragma once
// The cgroups of one attempt on one node: one directory per hierarchy, `lockstep/NAME` (v1's for
// CPU time: `lockstep-NAME`). The memory hierarchy has a child per rank, so that an out-of-memory
// kill can be attributed to its rank; the pids hierarchy too, so that a fork bomb in one rank does
// not harm the others. The object owns these directories from create to remove, and decides nothing
// about ranks.

#include <optional>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/result.h"
#include "common/domain/limits.h"

namespace lockstep::io {

struct CgroupRequest {
  std::string name;  // unique on this host
  int ranks = 1;
  std::optional<Bytes> memory;         // limit of all ranks together
  int cpus = 1;                        // weight
  std::string record;                  // file that names the directories before they are made
  int pids_limit = kDefaultPidsLimit;  // processes and threads of each rank
  std::string nursery = {};            // that this process is in: nursery.h; "": none
};

// How many processes of that cgroup the kernel has killed for memory.
long long oom_kills(const std::string& directory, int version);
// How often the kernel refused it a process or thread for its number of them.
long long refused_forks(const std::string& directory);

class Cgroups {
 public:
  // Chooses v2 where the memory controller is delegated to us, else v1, and creates nothing yet.
  // The error says why no cgroup can be used.
  static Result<Cgroups> find(const CgroupRequest& request);
  // find() and make(). Where ranks begin in the nursery, the caller calls make() later.
  static Result<Cgroups> create(const CgroupRequest& request);
  // The directories and their limits; made once.
  Status make();
  Cgroups(Cgroups&& other) noexcept = default;
  Cgroups& operator=(Cgroups&&) noexcept = default;

  std::string kind() const { return version_ == 2 ? "cgroup-v2" : "cgroup-v1"; }
  // The job asked for memory: ranks join all of them before they exec.
  bool limited() const { return limited_; }
  bool limits_pids() const;
  // The files a rank writes itself into.
  std::vector<std::string> procs_files(int local_rank) const;
  // Those files that a rank writes itself into before it execs, so that its forks are counted.
  std::vector<std::string> first_files(int local_rank) const;
  // Where ranks begin before they join those of procs_files(); "": in the runner's own cgroup.
  std::string nursery() const { return begins_in_nursery_ ? request_.nursery : ""; }
  // For processes of no known rank.
  std::vector<std::string> shared_procs_files() const;
  // How often the kernel refused this rank a process or thread.
  long long refused_forks(int local_rank) const;
  // The kernel killed something of this rank for memory.
  bool out_of_memory(int local_rank) const;
  // SIGKILL to every member, once; for when lockstep-spawn cannot do it.
  void kill_all() const;
  // Removes the directories, which must be empty of processes.
  Status remove();

 private:
  Cgroups() = default;
  Status make_directories();
  Status set_limits();
  void limit_nursery();
  // Whether directories_[hierarchy] has a child cgroup for each rank.
  bool has_ranks(std::size_t hierarchy) const;
  std::string rank_directory(std::size_t hierarchy, int local_rank) const;
  std::optional<std::size_t> pids_hierarchy() const;
  std::vector<std::string> deepest_first() const;

  CgroupRequest request_;
  int version_ = 1;
  int ranks_ = 0;
  bool limited_ = false;
  bool made_ = false;
  bool begins_in_nursery_ = false;        // ranks do, and move later
  std::vector<std::string> directories_;  // of the attempt, one per hierarchy; [0] knows memory
  std::vector<std::string> controllers_;  // v1: of each of them
};

}  // namespace lockstep::io
