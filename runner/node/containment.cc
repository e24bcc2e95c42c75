#include "runner/node/containment.h"

#include <unistd.h>

#include <utility>

#include "common/domain/why/ranks/notes.h"
#include "common/domain/why/ranks/parts.h"

namespace lockstep::runner {
namespace {

// The best choice first. A pid namespace needs its own mounts, for /proc. `why_of_node`: why ranks
// with mounts of their own still use the node's /dev/shm; the child writes it into our memory.
std::vector<spawn::Namespaces> attempts(bool have_cgroups, const IsolationRequest& request,
                                        std::string& why_of_node) {
  const bool user = geteuid() != 0;
  const Workspace& workspace = *request.workspace;
  const auto mounts = [&request, &why_of_node]() -> Status {
    TRY(request.workspace->mount());
    if (request.memory == nullptr || !why_of_node.empty()) return {};
    if (const Status made = request.memory->mount(); !made) why_of_node = made.error().message;
    return {};
  };
  std::vector<spawn::Namespaces> result;
  if (!have_cgroups) result.push_back({user, true, true, mounts});
  if (workspace.wants_mount()) result.push_back({user, false, true, mounts});
  if (!workspace.must_mount()) result.push_back({});
  return result;
}

// Makes the cgroups of the part, and notes which limits they cannot enforce.
Isolation with_cgroups(const IsolationRequest& request) {
  Isolation isolation;
  if (auto cgroups = io::Cgroups::create(request.cgroup)) {
    isolation.cgroups = *std::move(cgroups);
    isolation.kind = isolation.cgroups->kind();
    if (!isolation.cgroups->limits_pids())
      isolation.notes.push_back(
          "a rank's number of processes is not limited on this node: the node has no pids "
          "controller");
  } else {
    isolation.notes.push_back("no cgroups: " + cgroups.error().message);
    isolation.notes.push_back("a rank's number of processes is not limited on this node");
    if (request.cgroup.memory)
      isolation.for_job.emplace_back(
          MemoryIsNotLimited{*request.cgroup.memory, told(cgroups.error().message)});
  }
  const bool limits_pids = isolation.cgroups && isolation.cgroups->limits_pids();
  if (request.limits.pids && !limits_pids)
    isolation.for_job.emplace_back(ProcessesAreNotLimited{*request.limits.pids});
  return isolation;
}

}  // namespace

Why forbidden(const LimitRequest& limits, const std::vector<Why>& not_enforced) {
  if (!limits.required || not_enforced.empty()) return {};
  return LimitsAreRequired{not_enforced.front()};
}

Result<Isolation> isolate(io::EventLoop& loop, const IsolationRequest& request,
                          spawn::Client::Events events) {
  Isolation isolation = with_cgroups(request);
  if (Why why = forbidden(request.limits, isolation.for_job)) {
    if (isolation.cgroups) (void)isolation.cgroups->remove();
    Isolation none;
    none.refused = std::move(why);
    return none;
  }
  Error last;
  std::string why_of_node = request.memory == nullptr ? "" : request.memory->why_of_node();
  for (const auto& namespaces : attempts(isolation.cgroups.has_value(), request, why_of_node)) {
    if (const Status used = namespaces.mount ? Status() : request.workspace->use_in_place();
        !used) {
      last = used.error();
      break;
    }
    auto client = spawn::Client::launch(loop, request.spawn_program, namespaces, events);
    if (!client) {
      last = client.error();
      isolation.notes.push_back(last.message);
      continue;
    }
    isolation.spawn = *std::move(client);
    isolation.mounted = namespaces.mount;
    if (!namespaces.mount) why_of_node = "this node can make no mount namespace";
    if (request.memory != nullptr && !why_of_node.empty())
      isolation.notes.push_back("the ranks use the node's /dev/shm, where what they leave stays: " +
                                why_of_node);
    if (isolation.kind.empty()) isolation.kind = namespaces.pid ? "pid-namespace" : "subreaper";
    return isolation;
  }
  if (isolation.cgroups) (void)isolation.cgroups->remove();
  return last;
}

}  // namespace lockstep::runner
