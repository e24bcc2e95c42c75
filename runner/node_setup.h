#pragma once
// What a runner does once, before any thread exists and before its core begins: read what the agent
// wrote, find the run-as user, put the workspace together, and start lockstep-spawn in isolation,
// or the container in which it will connect to us.

#include <memory>
#include <optional>
#include <string>

#include "common/domain/assignment.h"
#include "common/io/attempt_dir.h"
#include "common/io/process.h"
#include "runner/container/container.h"
#include "runner/steps/isolation.h"

namespace lockstep::runner {

// Assignment and plan from the attempt directory.
struct Orders {
  Assignment assignment;
  WorkspacePlan workspace;

  // The container that the ranks run in; null: they run on the node itself.
  const Container* container() const {
    const auto& activation = workspace.activation;
    return activation && activation->container ? &*activation->container : nullptr;
  }
};
Result<Orders> read_orders(const io::AttemptDir& directory);

struct SetupError {
  Cause cause = Cause::start_failed;
  std::string why;
};

struct NodeSetup {
  io::User run_as;
  Isolation isolation;
  std::unique_ptr<ContainerProcess> container;  // null: the ranks run on the node itself
  std::string directory;                        // the ranks' working directory, as they see it
  std::optional<SetupError> error;
};

// The limits of the ranks on this node, and the cgroup in which they start.
struct NodeLimits {
  Limits limits;
  std::string nursery = {};  // that this process is in: common/io/nursery.h; "": none
};

// Never fails as a whole: errors are part of the result, and the core decides.
NodeSetup set_up_node(io::EventLoop& loop, const io::AttemptDir& directory, const Orders& orders,
                      const NodeLimits& limits, spawn::Client::Events events,
                      ContainerProcess::Events container_events);

// This node as a member of a gang of one.
GangMember describe_self(const Assignment& assignment);

}  // namespace lockstep::runner
