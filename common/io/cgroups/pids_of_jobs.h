#pragma once
// The limit on the processes and threads of all attempts and builds of this machine together. Each
// has a limit of its own, but several of them could still take every process id, so that nobody
// could start a program there, an administrator's shell included.

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace lockstep::io {

// The kernel's limits minus an eighth (at least 1,024 and at most 16,384), which stays for all
// other programs.
long long pids_of_jobs(long long pid_max, long long threads_max);
// The same number for this machine's kernel.
long long pids_of_jobs();

// Sets the limit on `parent`, the cgroup in which the cgroups of attempts and builds are made, if
// it counts processes. Returns an error if the kernel refused it.
Status limit_pids_of_jobs(const std::string& parent);

struct PidsOfJobs {
  long long limit = 0;    // 0: no limit
  long long refused = 0;  // since the cgroup was made; always 0 before Linux 6.11 and in cgroup v1
  bool is_used_up = false;
  bool is_scarce = false;  // less than an eighth is left
};
PidsOfJobs look_at_pids_of_jobs(const std::string& parent);

// Watches the cgroup of the attempts whose runners this process starts. The cgroup exists only
// while there are some.
class PidsOfJobsWatch {
 public:
  PidsOfJobsWatch();

  struct Shortage {
    long long limit = 0;  // the limit of all of them together
    std::string cgroup;
  };
  // Set if a new job could hardly start a process. It stays the same while it lasts.
  std::optional<Shortage> shortage() const;

 private:
  std::vector<std::string> parents_;  // the cgroups in which that cgroup may be
};

}  // namespace lockstep::io
