#pragma once
// Plans the container of an attempt on this node: mounts, user, limits and devices, from the
// assignment and the engine's abilities. It creates nothing.

#include <string>
#include <vector>

#include "common/domain/assignment.h"
#include "common/domain/workspace_plan.h"
#include "common/io/attempt_dir.h"
#include "common/io/process.h"
#include "runner/container/words.h"

namespace lockstep::runner {

inline constexpr char kSocketName[] = "spawn.sock";

struct PlanRequest {
  const io::AttemptDir& directory;
  const Assignment& assignment;
  const WorkspacePlan& workspace;  // with an activation that has a container
  const io::User& run_as;
  std::string spawn_program;
  std::string hostname;
  int runner_pid = 0;
  int pids_limit = kDefaultPidsLimit;  // of each rank
};

// The run-as user as seen inside the container. In rootless docker that is root. A home that is a
// system folder is moved elsewhere, because our home folder would be mounted over it.
io::User seen_inside(const Container& container, const io::User& run_as);

// The ranks' working directory.
std::string directory_inside(const WorkspacePlan& workspace, const io::AttemptDir& directory);

// Whether the container has the allotted GPUs alone, so that they count from 0 in it.
bool has_own_gpus(const std::vector<std::string>& docker_args);

// unsupported: the job holds what this node's engine cannot give.
Result<ContainerPlan> plan_container(const PlanRequest& request);

// Folders that have to be in `home` for mounts below the place where it is mounted itself, parents
// first, relative to it: else the engine makes them, and they are root's.
std::vector<std::string> folders_in_home(const ContainerPlan& plan, const std::string& home);

}  // namespace lockstep::runner
