#pragma once
// The facts about nodes and the tokens with which they join: see fact.h.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/digest.h"
#include "common/base/ids.h"
#include "common/base/table.h"
#include "common/base/time.h"
#include "common/domain/people/access.h"
#include "common/domain/targets/node.h"
#include "common/domain/targets/node_labels.h"
#include "common/domain/why/why.h"

namespace lockstep::launcher {

struct TokenCreated {
  static constexpr int kBody = 1;
  Digest secret_hash;
  Instant expires;
  int uses = 1;
  Approval approval = Approval::as_configured;
  std::string pool = {};  // the pool of the nodes that join with it; "": local
  // the machine of the pool's target whose agent may use it; "": any agent
  std::string machine = {};
  std::string by = {};  // its maker; "": the launcher, or an older fact
  static void table(auto& s, auto&& see) {
    see(field<1>, "secret_hash", s.secret_hash);
    see(field<2>, "expires", s.expires);
    see(field<3>, "uses", s.uses);
    see(field<4>, "approval", s.approval);
    see(field<5>, "pool", s.pool);
    see(field<6>, "machine", s.machine);
    see(field<7>, "by", s.by);
  }
  friend bool operator==(const TokenCreated&, const TokenCreated&) = default;
};
struct NodeJoined {
  static constexpr int kBody = 2;
  NodeId node;
  std::string name;
  PublicKey key;
  Digest token;
  bool waits_for_approval = false;
  std::string pool = {};        // never changes; "": local
  std::string machine = {};     // the machine of the pool's target; "": a provider did not make it
  std::string machine_id = {};  // see MachinePart; "": unknown
  static void table(auto& s, auto&& see) {
    see(field<1>, "node", s.node);
    see(field<2>, "name", s.name);
    see(field<3>, "key", s.key);
    see(field<4>, "token", s.token);
    see(field<5>, "waits_for_approval", s.waits_for_approval);
    see(field<6>, "pool", s.pool);
    see(field<7>, "machine", s.machine);
    see(field<8>, "machine_id", s.machine_id);
  }
  friend bool operator==(const NodeJoined&, const NodeJoined&) = default;
};
struct NodeApproved {  // the node gets work from now on
  static constexpr int kBody = 70;
  NodeId node;
  std::string by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "node", s.node);
    see(field<2>, "by", s.by);
  }
  friend bool operator==(const NodeApproved&, const NodeApproved&) = default;
};
// A node's claim to be on a host (Inventory::host_id). Every account there can read that id, and a
// hostile node may claim it too.
struct HostClaim {
  Instant since;
  // The group of nodes that were on one host when the later one first reported its host: the id of
  // one of them. They are one machine's, whatever its ids are after a reboot.
  NodeId group;
  static void table(auto& s, auto&& see) {
    see(field<1>, "since", s.since);
    see(field<2>, "group", s.group);
  }
  friend bool operator==(const HostClaim&, const HostClaim&) = default;
};
struct NodeSessionStarted {  // a session was accepted
  static constexpr int kBody = 3;
  NodeId node;
  BootId boot;
  SessionId session;
  Inventory inventory;
  std::optional<HostClaim> claim = {};  // told by a compaction; else it follows from the sessions
  std::string version = {};             // the agent's version; "": an older fact
  static void table(auto& s, auto&& see) {
    see(field<1>, "node", s.node);
    see(field<2>, "boot", s.boot);
    see(field<3>, "session", s.session);
    see(field<4>, "inventory", s.inventory);
    see(field<5>, "claim", s.claim);
    see(field<6>, "version", s.version, kCutText);
  }
  friend bool operator==(const NodeSessionStarted&, const NodeSessionStarted&) = default;
};
struct NodeLost {  // timeout, or proof of a reboot
  static constexpr int kBody = 4;
  NodeId node;
  Why why;
  static void table(auto& s, auto&& see) {
    see(field<1>, "node", s.node);
    see(reason_or_old_text<2, 800>, "reason", s.why);
  }
  friend bool operator==(const NodeLost&, const NodeLost&) = default;
};
struct NodeDrainChanged {
  static constexpr int kBody = 5;
  NodeId node;
  bool draining = false;
  std::string reason;
  static void table(auto& s, auto&& see) {
    see(field<1>, "node", s.node);
    see(field<2>, "draining", s.draining);
    see(field<3>, "reason", s.reason, kCutText);
  }
  friend bool operator==(const NodeDrainChanged&, const NodeDrainChanged&) = default;
};
// Tells that the agent learnt that its machine will be taken away. The node takes no new work until
// a session starts without such a notice.
struct NodeNoticed {
  static constexpr int kBody = 101;
  NodeId node;
  Instant until;
  Why why;
  static void table(auto& s, auto&& see) {
    see(field<1>, "node", s.node);
    see(field<2>, "until", s.until);
    see(reason_or_old_text<3, 800>, "reason", s.why);
  }
  friend bool operator==(const NodeNoticed&, const NodeNoticed&) = default;
};
struct NodeLabelsChanged {
  static constexpr int kBody = 92;
  NodeId node;
  NodeLabels labels;  // all that it has from now on
  std::string by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "node", s.node);
    see(field<2>, "labels", s.labels, {.count = 10 * kMaxNodeLabels});
    see(field<3>, "by", s.by);
  }
  friend bool operator==(const NodeLabelsChanged&, const NodeLabelsChanged&) = default;
};
struct NodeRemoved {  // permanently: the node holds no part, and its key is revoked
  static constexpr int kBody = 6;
  NodeId node;
  std::string by;
  NodeLabels labels = {};  // the labels that its machine gets when it joins again under this name
  static void table(auto& s, auto&& see) {
    see(field<1>, "node", s.node);
    see(field<2>, "by", s.by);
    see(field<3>, "labels", s.labels, {.count = 10 * kMaxNodeLabels});
  }
  friend bool operator==(const NodeRemoved&, const NodeRemoved&) = default;
};

struct TokenForgotten {  // the token can no longer be used
  static constexpr int kBody = 7;
  Digest secret_hash;
  static void table(auto& s, auto&& see) { see(field<1>, "secret_hash", s.secret_hash); }
  friend bool operator==(const TokenForgotten&, const TokenForgotten&) = default;
};
// Sets the revision of the node's desired state, and its history. Compaction writes this fact in
// place of those that it dropped.
struct NodeRevised {
  static constexpr int kBody = 8;
  NodeId node;
  std::uint64_t revision = 0;
  std::vector<NodeEvent> history = {};  // empty: the history follows from the facts before
  static void table(auto& s, auto&& see) {
    see(field<1>, "node", s.node);
    see(field<2>, "revision", s.revision);
    see(field<3>, "history", s.history, {.count = kMaxNodeEvents});
  }
  friend bool operator==(const NodeRevised&, const NodeRevised&) = default;
};

}  // namespace lockstep::launcher
