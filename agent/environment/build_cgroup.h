#pragma once
// The cgroup of user code that runs before the ranks: a build, a solve, or an interpreter that is
// asked for its version. It has the limits of the job that asked first. Destroying it kills every
// process in it. Where no cgroup can be created, it limits nothing and says why.

#include <optional>
#include <string>
#include <vector>

#include "agent/environment/cache.h"
#include "common/base/result.h"
#include "common/io/cgroups/cgroups.h"

namespace lockstep::agent {

class BuildCgroup {
 public:
  // `memory`: nullopt = the job sets no limit. `pids`: processes and threads.
  BuildCgroup(const CacheEntry& entry, std::optional<Bytes> memory, int cpus, int pids);
  ~BuildCgroup();  // kills the remaining processes; may block for a moment
  BuildCgroup(const BuildCgroup&) = delete;
  BuildCgroup& operator=(const BuildCgroup&) = delete;

  // The files to which a process writes its pid to join the cgroup; empty if there is no cgroup.
  std::vector<std::string> procs_files() const;
  // The error to report for a tool that failed in the cgroup: names the limit that was reached, as
  // tools seldom know it; `error` unchanged if no limit was.
  Error explain(const Error& error) const;
  // Why a limit is not enforced here; "" = all are.
  const std::string& unlimited_because() const { return unlimited_because_; }

 private:
  const std::string record_;  // the file that names the directories
  const std::optional<Bytes> memory_;
  const int pids_;
  std::optional<io::Cgroups> cgroups_;
  std::string unlimited_because_;
};

}  // namespace lockstep::agent
