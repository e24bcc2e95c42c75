#pragma once
// The protocol of node agents: what an agent tells the launcher, and what it hears. Only a key that
// joined as a node speaks it.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "common/domain/assignment.h"
#include "common/domain/envelope.h"

namespace lockstep {

// ---- agent -> launcher -------------------------------------------------------------------------
struct SessionOpen {  // first message of an agent start, and again after SessionLost
  NodeId node;
  BootId boot;
  SessionId session;
  std::string version;  // LOCKSTEP_VERSION
  Inventory inventory;
  std::vector<PartReport> parts;       // the full observed state: others have stopped
  std::uint64_t desired_revision = 0;  // newest applied in this session; what is newer is unknown
  std::uint64_t answers = 0;           // the question of the newest SessionLost; 0: none was heard
  friend bool operator==(const SessionOpen&, const SessionOpen&) = default;
};
struct Heartbeat {
  NodeId node;
  SessionId session;
  std::uint64_t desired_revision = 0;   // newest applied; the launcher sends again what is newer
  std::uint64_t observed_sequence = 0;  // number of Observed sent in this session
  std::uint64_t number = 0;             // 1, 2, … within a session
  std::string low_disk = {};            // why the node takes no new part; "": it takes them
  Instant wall_clock = {};              // of the node, when it said so; ns = 0: it did not
  friend bool operator==(const Heartbeat&, const Heartbeat&) = default;
};
struct Observed {  // delta: the parts that changed
  NodeId node;
  SessionId session;
  std::uint64_t sequence = 0;  // 1, 2, … within a session; acknowledged by ObservedAck
  std::vector<PartReport> parts;
  std::vector<AttemptId> removed;  // attempt directories that are gone
  friend bool operator==(const Observed&, const Observed&) = default;
};

using AgentMessage = std::variant<SessionOpen, Heartbeat, Observed>;

// ---- launcher -> agent -------------------------------------------------------------------------
struct SessionAccepted {
  SessionId session;
  Duration heartbeat_interval = seconds(1);
  DesiredState desired;
  friend bool operator==(const SessionAccepted&, const SessionAccepted&) = default;
};
struct SessionRefused {  // wrong version, cloned node, unknown node: the agent prints and exits
  SessionId session;
  std::string reason;
  bool removed = false;  // the node was removed: its agent ends what runs here before it exits
  friend bool operator==(const SessionRefused&, const SessionRefused&) = default;
};
// The launcher does not know this session (it restarted), or does not know whether its last report
// still holds. The agent opens the session again and names the question (`number`) that it answers.
struct SessionLost {
  SessionId session;
  std::uint64_t question = 0;
  friend bool operator==(const SessionLost&, const SessionLost&) = default;
};
struct HeartbeatAck {
  SessionId session;
  std::uint64_t number = 0;    // of the heartbeat
  std::uint64_t revision = 0;  // of the node's desired state when that was heard
  friend bool operator==(const HeartbeatAck&, const HeartbeatAck&) = default;
};
struct ObservedAck {
  SessionId session;
  std::uint64_t sequence = 0;
  friend bool operator==(const ObservedAck&, const ObservedAck&) = default;
};
struct Desired {
  SessionId session;
  DesiredState desired;
  friend bool operator==(const Desired&, const Desired&) = default;
};

// Lets the named nodes fetch everything below `root` from this node's blob server, for
// kPeerAllowedFor. `withdrawn` ends that. Nodes in `revoked` lose all access at once.
struct AllowPeers {
  std::vector<PublicKey> keys;
  Digest root = {};
  bool withdrawn = false;
  std::vector<PublicKey> revoked = {};
  friend bool operator==(const AllowPeers&, const AllowPeers&) = default;
};
inline constexpr Duration kPeerAllowedFor = seconds(60);
inline constexpr std::size_t kMaxAllowedAtOnce = 1'000;

using AgentReply = std::variant<SessionAccepted, SessionRefused, SessionLost, HeartbeatAck,
                                ObservedAck, Desired, AllowPeers, Refused>;

}  // namespace lockstep
