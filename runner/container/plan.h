#pragma once
// Plans the one container of an attempt on this node: its mounts, user, limits and devices, from
// the assignment and the features of the node's engine. It only computes; it creates nothing.

#include <optional>
#include <string>
#include <vector>

#include "common/domain/runners/assignment.h"
#include "common/domain/runners/workspace_plan.h"
#include "common/io/attempt/attempt_dir.h"
#include "common/io/process.h"
#include "runner/container/words.h"

namespace lockstep::runner {

inline constexpr char kSocketName[] = "spawn.sock";

struct PlanRequest {
  const io::AttemptDir& directory;
  const Assignment& assignment;
  const WorkspacePlan& workspace;  // must have an activation with a container
  const io::User& run_as;
  std::string spawn_program;
  std::string hostname;
  int runner_pid = 0;
  int pids_limit = kDefaultPidsLimit;      // the limit of each rank
  std::optional<std::string> bundle = {};  // the folder of the node's own, for `lockstep`
  // The devices of this node, for jobs that may use them.
  std::vector<std::string> rdma_devices = {};
};

// The user of ranks in a container: the run-as user, or root in rootless docker. If the user's home
// is a system folder, it becomes /home/<name>, because the attempt's home is mounted over it.
io::User seen_inside(const Container& container, const io::User& run_as);

// The ranks' working directory.
std::string directory_inside(const WorkspacePlan& workspace, const io::AttemptDir& directory);

// Whether the container has only the allotted GPUs, so that they are counted from 0 in it.
bool has_own_gpus(const std::vector<std::string>& docker_args);

// Plans the container. Returns unsupported if the job needs a feature that this node's engine
// lacks.
Result<ContainerPlan> plan_container(const PlanRequest& request);

// Folders to create in `home`, because other mounts lie below home's mount point; relative to
// `home`, parents first. Otherwise the engine would create them, owned by root.
std::vector<std::string> folders_in_home(const ContainerPlan& plan, const std::string& home);

}  // namespace lockstep::runner
