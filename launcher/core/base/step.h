#pragma once
// The result of one step of the core: facts to append, actions to perform afterwards, and news for
// the log.

#include <optional>
#include <string>
#include <vector>

#include "common/domain/targets/node.h"
#include "common/domain/why/why.h"
#include "launcher/core/base/action.h"
#include "launcher/state/facts/fact.h"

namespace lockstep::launcher {

// A node that fell silent, was lost, or reports again.
struct NodeNews {
  NodeId node;
  std::string name;
  Liveness liveness = Liveness::unknown;  // the liveness from now on
  Why why;                                // none: the node reports again
  friend bool operator==(const NodeNews&, const NodeNews&) = default;
};

struct Step {
  std::vector<Fact> facts;  // the facts, already applied
  std::vector<Action> actions;
  std::vector<NodeNews> news;  // for the launcher's log only
};

// The result of Core::hear for a heartbeat.
struct Heard {
  std::optional<AckHeartbeat> ack;
  bool is_all = false;  // false: the heartbeat must also be passed to handle()
};

}  // namespace lockstep::launcher
