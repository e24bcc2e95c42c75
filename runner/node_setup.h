#pragma once
// The setup that a runner does once, before any thread exists and before its core begins: it reads
// the files that the agent wrote, finds the run-as user, prepares the workspace, and starts
// lockstep-pmix for an MPI job, and lockstep-spawn in isolation, or the container in which
// lockstep-spawn will connect to us.

#include <memory>
#include <optional>
#include <string>

#include "common/domain/runners/assignment.h"
#include "common/io/attempt/attempt_dir.h"
#include "common/io/attempt/working_place.h"
#include "common/io/process.h"
#include "runner/container/container.h"
#include "runner/node/containment.h"
#include "runner/pmix/client.h"

namespace lockstep::runner {

// The assignment and the plan from the attempt directory.
struct Orders {
  Assignment assignment;
  WorkspacePlan workspace;
  NodeFabric fabric = {};  // empty: the agent did not report it

  // The container of the ranks; null: they run on the node itself.
  const Container* container() const {
    const auto& activation = workspace.activation;
    return activation && activation->container ? &*activation->container : nullptr;
  }
};
Result<Orders> read_orders(const io::AttemptDir& directory);

struct SetupError {
  Cause cause = Cause::start_failed;
  Why why;
};

struct NodeSetup {
  io::User run_as;
  Isolation isolation;
  std::unique_ptr<ContainerProcess> container;  // null: the ranks run on the node itself
  std::string directory;                        // the ranks' working directory, as they see it
  std::optional<io::WorkingPlace> place;        // set if the working directory is at such a place
  std::string attempt_directory;  // the attempt's directory, by the path that ranks get
  std::vector<io::Fd> placed;     // open folders of datastores that are mounted in the container
  std::unique_ptr<pmix::Client> pmix;  // only for an MPI job: it starts at the same time
  std::optional<SetupError> error;
};

// The limits of the ranks here, and the cgroup in which they start.
struct NodeLimits {
  Limits limits;
  std::string nursery = {};  // the nursery of this process: common/io/cgroups/nursery.h; "": none
};

// Errors are returned in NodeSetup::error, so that the core decides about them.
NodeSetup set_up_node(io::EventLoop& loop, const io::AttemptDir& directory, const Orders& orders,
                      const NodeLimits& limits, spawn::Client::Events events,
                      ContainerProcess::Events container_events);

// Describes this node as the only member of a gang.
GangMember describe_self(const Assignment& assignment);

}  // namespace lockstep::runner
