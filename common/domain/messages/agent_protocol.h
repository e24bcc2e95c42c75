#pragma once
// The protocol between node agents and the launcher. The launcher accepts these messages only from
// a key that joined as a node.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/domain/messages/assignment.h"
#include "common/domain/messages/attach_frames.h"
#include "common/domain/messages/envelope.h"
#include "common/domain/targets/machine_part.h"
#include "common/domain/targets/metrics.h"

namespace lockstep {

// ---- agent -> launcher -------------------------------------------------------------------------
// The node's machine will be taken away: its agent was told so.
struct PreemptionNotice {
  Duration left{0};    // from now on
  std::string reason;  // in words, of whoever takes it; at most kMaxNoticeReasonBytes
  friend bool operator==(const PreemptionNotice&, const PreemptionNotice&) = default;
};
inline constexpr std::size_t kMaxNoticeReasonBytes = 200;
inline constexpr Duration kLongestNotice = std::chrono::hours(24);

struct SessionOpen {  // first message of an agent start, and again after SessionLost
  NodeId node;
  BootId boot;
  SessionId session;
  std::string version;  // LOCKSTEP_VERSION
  Inventory inventory;
  std::vector<PartReport> parts;       // all parts on this node: an absent one does not run here
  std::uint64_t desired_revision = 0;  // newest revision applied in this session; 0: none
  std::uint64_t answers = 0;           // SessionLost::question of the newest received; 0: none
  std::optional<PreemptionNotice> notice = {};
  MachinePart machine = {};
  // Grows within a session when the node's network changed: a late copy of an earlier report has a
  // smaller one. 0: the agent does not look.
  std::uint64_t inventory_number = 0;
  friend bool operator==(const SessionOpen&, const SessionOpen&) = default;
};
struct Heartbeat {
  NodeId node;
  SessionId session;
  std::uint64_t desired_revision = 0;   // newest applied; the launcher resends newer ones
  std::uint64_t observed_sequence = 0;  // number of Observed sent in this session
  std::uint64_t number = 0;             // 1, 2, … within a session
  Why low_disk = {};                    // why the node takes no new part now; none: it takes them
  Instant wall_clock = {};              // the node's, when this was sent; ns = 0: not given
  std::optional<PreemptionNotice> notice = {};
  // The newest acknowledgement: its `time`, and the node's clock when it arrived. ns = 0: none, or
  // that acknowledgement gave no time.
  Instant acked = {};
  Instant acked_at = {};
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

// What the node and its parts use now. Not acknowledged: the next one replaces it.
struct UsageReport {
  NodeId node;
  SessionId session;
  Duration every = kSampleEvery;  // until the next one
  NodeUse use;
  std::vector<PartUse> parts;
  static void table(auto& s, auto&& see) {
    see(field<1>, "node", s.node);
    see(field<2>, "session", s.session);
    see(field<3>, "every", s.every);
    see(field<4>, "use", s.use);
    see(field<5>, "parts", s.parts, {.count = kMaxPartsOfUse});
  }
  friend bool operator==(const UsageReport&, const UsageReport&) = default;
};

using AgentMessage = std::variant<SessionOpen, Heartbeat, Observed, UsageReport>;

// ---- launcher -> agent -------------------------------------------------------------------------
// Where a launcher's control and bulk sockets are dialled; each tcp://HOST:PORT.
struct LauncherAddress {
  std::string control, bulk;
  friend bool operator==(const LauncherAddress&, const LauncherAddress&) = default;
};
inline constexpr std::size_t kMaxLauncherAddresses = 8;
inline constexpr std::size_t kMaxLauncherAddressBytes = 300;

// Where the launcher is, and where it will be: first the address that it has now. An agent keeps
// them, and dials them in turn when its launcher does not answer. The launcher's key stays the same
// at all of them, so a wrong address costs time and nothing else.
struct LauncherAddresses {
  std::vector<LauncherAddress> addresses;
  friend bool operator==(const LauncherAddresses&, const LauncherAddresses&) = default;
};

struct SessionAccepted {
  SessionId session;
  Duration heartbeat_interval = seconds(1);
  DesiredState desired;
  // After a break the node dials at a random moment within this time, so that not all nodes of a
  // large cluster come back at once. Zero: at once.
  Duration reconnect_within{0};
  std::vector<LauncherAddress> addresses = {};  // as in LauncherAddresses
  friend bool operator==(const SessionAccepted&, const SessionAccepted&) = default;
};
struct SessionRefused {  // wrong version, cloned or unknown node: the agent prints why and exits
  SessionId session;
  std::string reason;
  bool removed = false;  // the node was removed: its agent ends all its parts before it exits
  friend bool operator==(const SessionRefused&, const SessionRefused&) = default;
};
// The launcher does not know this session because it restarted, or it needs a new full report. The
// agent sends SessionOpen again, with this `question` in `answers`.
struct SessionLost {
  SessionId session;
  std::uint64_t question = 0;
  friend bool operator==(const SessionLost&, const SessionLost&) = default;
};
struct HeartbeatAck {
  SessionId session;
  std::uint64_t number = 0;    // of the heartbeat
  std::uint64_t revision = 0;  // of the node's desired state when the heartbeat arrived
  Instant time = {};           // the launcher's, when this was made; ns = 0: not given
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

// The nodes with these `keys` fetch a tree that this node has. For kPeerAllowedFor, its blob server
// accepts their connections and sends them the blobs below `root`. `withdrawn`: it stops doing so
// now. It also stops serving the keys in `revoked`, at once.
struct AllowPeers {
  std::vector<PublicKey> keys;
  Digest root = {};
  bool withdrawn = false;
  std::vector<PublicKey> revoked = {};
  friend bool operator==(const AllowPeers&, const AllowPeers&) = default;
};
inline constexpr Duration kPeerAllowedFor = seconds(60);
inline constexpr std::size_t kMaxAllowedAtOnce = 1'000;

// An AttachOpen or AttachClose for a part of this node. It comes over this connection because a
// node opens its bulk connection only when it needs it. It is not acknowledged: who attached
// repeats it. Whatever the part's runner answers goes over the bulk connection.
struct AttachWanted {
  AttachFrame frame;
  friend bool operator==(const AttachWanted&, const AttachWanted&) = default;
};

using AgentReply =
    std::variant<SessionAccepted, SessionRefused, SessionLost, HeartbeatAck, ObservedAck, Desired,
                 AllowPeers, Refused, LauncherAddresses, AttachWanted>;

}  // namespace lockstep
