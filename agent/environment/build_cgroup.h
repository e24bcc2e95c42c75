#pragma once
// The cgroup of users' code that runs before their ranks: a build, a solve, an interpreter that is
// asked for its version. It has the limits of the first job that needs it. Removing it kills every
// process in it. Where no cgroup can be made, it limits nothing and says why.

#include <optional>
#include <string>
#include <vector>

#include "agent/environment/cache.h"
#include "common/base/result.h"
#include "common/io/cgroups.h"

namespace lockstep::agent {

class BuildCgroup {
 public:
  // `memory`: nullopt = the job asked for none. `pids`: processes and threads.
  BuildCgroup(const CacheEntry& entry, std::optional<Bytes> memory, int cpus, int pids);
  ~BuildCgroup();  // kills what is left in it; may block for a moment
  BuildCgroup(const BuildCgroup&) = delete;
  BuildCgroup& operator=(const BuildCgroup&) = delete;

  // The files that a joining process writes its pid into; empty where there is no cgroup.
  std::vector<std::string> procs_files() const;
  // Replaces `error` by the limit that was reached, if one was: tools seldom recognise it
  // themselves.
  Error explain(const Error& error) const;
  // Why a limit is not enforced here; "" = all are.
  const std::string& unlimited_because() const { return unlimited_because_; }

 private:
  const std::string record_;  // names the directories
  const std::optional<Bytes> memory_;
  const int pids_;
  std::optional<io::Cgroups> cgroups_;
  std::string unlimited_because_;
};

}  // namespace lockstep::agent
