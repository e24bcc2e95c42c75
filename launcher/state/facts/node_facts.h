#pragma once
// The facts about nodes and the tokens with which they join: see fact.h.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/digest.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/people/access.h"
#include "common/domain/targets/node.h"
#include "common/domain/targets/node_labels.h"
#include "common/domain/why/why.h"

namespace lockstep::launcher {

struct TokenCreated {
  Digest secret_hash;
  Instant expires;
  int uses = 1;
  Approval approval = Approval::as_configured;
  std::string pool = {};     // of the nodes that join with it; "": local
  std::string machine = {};  // of the pool's target, whose agent may use it; "": any agent
  std::string by = {};       // who made it; "": the launcher, or a fact of before
  friend bool operator==(const TokenCreated&, const TokenCreated&) = default;
};
struct NodeJoined {
  NodeId node;
  std::string name;
  PublicKey key;
  Digest token;
  bool waits_for_approval = false;
  std::string pool = {};        // never changes; "": local
  std::string machine = {};     // of the pool's target; "": a provider did not make it
  std::string machine_id = {};  // see MachinePart; "": unknown
  friend bool operator==(const NodeJoined&, const NodeJoined&) = default;
};
struct NodeApproved {  // from now on the node gets work
  NodeId node;
  std::string by;
  friend bool operator==(const NodeApproved&, const NodeApproved&) = default;
};
// A node's claim to be on a host (Inventory::host_id). Every account there can read that id, and a
// hostile node may claim it too.
struct HostClaim {
  Instant since;
  // Nodes that were on one host when the later one first said where it is have the same group, the
  // id of one of them. They are one machine's, whatever its ids are after a reboot.
  NodeId group;
  friend bool operator==(const HostClaim&, const HostClaim&) = default;
};
struct NodeSessionStarted {  // a session was accepted
  NodeId node;
  BootId boot;
  SessionId session;
  Inventory inventory;
  std::optional<HostClaim> claim = {};  // told by a compaction; else it follows from the sessions
  std::string version = {};             // of the agent; "": of before it was kept
  friend bool operator==(const NodeSessionStarted&, const NodeSessionStarted&) = default;
};
struct NodeLost {  // timeout, or proof of a reboot
  NodeId node;
  Why why;
  friend bool operator==(const NodeLost&, const NodeLost&) = default;
};
struct NodeDrainChanged {
  NodeId node;
  bool draining = false;
  std::string reason;
  friend bool operator==(const NodeDrainChanged&, const NodeDrainChanged&) = default;
};
// The agent was told that its machine will be taken away. Until a session starts that was told
// nothing of it, the node takes no new work.
struct NodeNoticed {
  NodeId node;
  Instant until;
  Why why;
  friend bool operator==(const NodeNoticed&, const NodeNoticed&) = default;
};
struct NodeLabelsChanged {
  NodeId node;
  NodeLabels labels;  // all that it has from now on
  std::string by;
  friend bool operator==(const NodeLabelsChanged&, const NodeLabelsChanged&) = default;
};
struct NodeRemoved {  // permanently: it holds no part, and its key is revoked
  NodeId node;
  std::string by;
  NodeLabels labels = {};  // that its machine has when it joins again under this name
  friend bool operator==(const NodeRemoved&, const NodeRemoved&) = default;
};

struct TokenForgotten {  // the token can no longer be used
  Digest secret_hash;
  friend bool operator==(const TokenForgotten&, const TokenForgotten&) = default;
};
// Sets the revision of the node's desired state, and its history. Compaction writes this fact in
// place of those that it dropped.
struct NodeRevised {
  NodeId node;
  std::uint64_t revision = 0;
  std::vector<NodeEvent> history = {};  // empty: it follows from the facts before
  friend bool operator==(const NodeRevised&, const NodeRevised&) = default;
};

}  // namespace lockstep::launcher
