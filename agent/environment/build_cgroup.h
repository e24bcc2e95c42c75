#pragma once
// The cgroup of code that users chose and that runs before their ranks: a build, a solving, an
// interpreter that is asked. It has the limits of the job that asked first, and goes with all that
// is in it. Where no cgroup can be had it limits nothing, and says why.

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

  // What joins writes itself into each of them; none where there is no cgroup.
  std::vector<std::string> procs_files() const;
  // Why what ran in it failed: tools seldom know that it was a limit. `error`, where it was none.
  Error explain(const Error& error) const;
  // Why a limit does not hold here; "" = all do.
  const std::string& unlimited_because() const { return unlimited_because_; }

 private:
  const std::string record_;  // names the directories
  const std::optional<Bytes> memory_;
  const int pids_;
  std::optional<io::Cgroups> cgroups_;
  std::string unlimited_because_;
};

}  // namespace lockstep::agent
