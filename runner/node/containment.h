#pragma once
// Chooses how this node ends every process of an attempt, and starts lockstep-spawn in it: cgroup
// v2 if delegated; otherwise v1, a pid namespace, or the subreaper's sweep, in this order.

#include <memory>
#include <optional>
#include <string>

#include "common/domain/ranks/limits.h"
#include "common/domain/why/why.h"
#include "common/io/cgroups/cgroups.h"
#include "runner/node/shared_memory.h"
#include "runner/node/working_directory.h"
#include "runner/spawn/client.h"

namespace lockstep::runner {

struct Isolation {
  std::optional<io::Cgroups> cgroups;
  std::unique_ptr<spawn::Client> spawn;
  bool mounted = false;            // the workspace's mounts are in place
  std::string kind;                // cgroup-v2 | cgroup-v1 | pid-namespace | subreaper
  std::vector<std::string> notes;  // features that are not available, and why
  std::vector<Why> for_job;        // limits that the job asked for: see PartReport::notes
  Why refused;  // the job must not run without these limits; then nothing else is set
};

struct IsolationRequest {
  io::CgroupRequest cgroup;
  std::string spawn_program;
  const Workspace* workspace = nullptr;
  LimitRequest limits = {};              // the limits that the job asks for
  const SharedMemory* memory = nullptr;  // null: the ranks use the node's /dev/shm
};

// The reason why the job must not run without the limits in `not_enforced`; none: it may.
Why forbidden(const LimitRequest& limits, const std::vector<Why>& not_enforced);

// Isolates the ranks; called before any thread exists. An error means that the working directory
// cannot be made, or that lockstep-spawn does not start at all.
Result<Isolation> isolate(io::EventLoop& loop, const IsolationRequest& request,
                          spawn::Client::Events events);

}  // namespace lockstep::runner
