#pragma once
// The protocol between node agents and the launcher. The launcher accepts these messages only from
// a key that joined as a node.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/base/table.h"
#include "common/domain/runners/assignment.h"
#include "common/domain/runners/attach_frames.h"
#include "common/domain/messages/envelope.h"
#include "common/domain/targets/machine_part.h"
#include "common/domain/targets/metrics.h"

namespace lockstep {

// ---- agent -> launcher -------------------------------------------------------------------------
inline constexpr std::size_t kMaxNoticeReasonBytes = 200;
// Tells that the node's machine will be taken away, as its agent learnt.
struct PreemptionNotice {
  Duration left{0};    // the time from now until the machine is taken away
  std::string reason;  // the reason in the words of the cloud or the operator; at most
                       // kMaxNoticeReasonBytes
  static void table(auto& s, auto&& see) {
    see(field<1>, "left", s.left);
    see(field<2>, "reason", s.reason, {.bytes = kMaxNoticeReasonBytes});
  }
  friend bool operator==(const PreemptionNotice&, const PreemptionNotice&) = default;
};
inline constexpr Duration kLongestNotice = std::chrono::hours(24);

struct SessionOpen {  // first message of an agent start, and again after SessionLost
  static constexpr int kBody = 10;
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
  static void table(auto& s, auto&& see) {
    see(field<1>, "node", s.node);
    see(field<2>, "boot", s.boot, kNameRule);
    see(field<3>, "session", s.session);
    see(field<4>, "version", s.version, kNameRule);
    see(field<5>, "inventory", s.inventory);
    see(field<6>, "parts", s.parts, {.count = kMaxHeldParts});
    see(field<7>, "desired_revision", s.desired_revision);
    see(field<8>, "answers", s.answers);
    see(field<306>, "notice", s.notice);
    see(field<396>, "machine", s.machine, {.unless_empty = true});
    see(field<700>, "inventory_number", s.inventory_number);
  }
  friend bool operator==(const SessionOpen&, const SessionOpen&) = default;
};
struct Heartbeat {
  static constexpr int kBody = 11;
  NodeId node;
  SessionId session;
  std::uint64_t desired_revision = 0;   // newest applied; the launcher resends newer ones
  std::uint64_t observed_sequence = 0;  // number of Observed sent in this session
  std::uint64_t number = 0;             // 1, 2, … within a session
  Why low_disk = {};        // why the node takes no new part now; none: it takes new parts
  Instant wall_clock = {};  // the node's, when this was sent; ns = 0: not given
  std::optional<PreemptionNotice> notice = {};
  // The newest acknowledgement: its `time`, and the node's clock when it arrived. ns = 0: none, or
  // that acknowledgement gave no time.
  Instant acked = {};
  Instant acked_at = {};
  static void table(auto& s, auto&& see) {
    see(field<1>, "node", s.node);
    see(field<2>, "session", s.session);
    see(field<3>, "desired_revision", s.desired_revision);
    see(field<4>, "observed_sequence", s.observed_sequence);
    see(field<5>, "number", s.number);
    see(reason_fields<100, 810>, "low_disk", s.low_disk);
    see(field<101>, "wall_clock", s.wall_clock);
    see(field<306>, "notice", s.notice);
    see(field<366>, "acked", s.acked);
    see(field<367>, "acked_at", s.acked_at);
  }
  friend bool operator==(const Heartbeat&, const Heartbeat&) = default;
};
struct Observed {  // The parts of a node that changed.
  static constexpr int kBody = 12;
  NodeId node;
  SessionId session;
  std::uint64_t sequence = 0;  // 1, 2, … within a session; acknowledged by ObservedAck
  std::vector<PartReport> parts;
  std::vector<AttemptId> removed;  // attempt directories that are gone
  static void table(auto& s, auto&& see) {
    see(field<1>, "node", s.node);
    see(field<2>, "session", s.session);
    see(field<3>, "sequence", s.sequence);
    see(field<4>, "parts", s.parts, {.count = kMaxHeldParts});
    see(field<5>, "removed", s.removed, {.count = kMaxHeldParts});
  }
  friend bool operator==(const Observed&, const Observed&) = default;
};

// What the node and its parts use now. It is not acknowledged: the next report replaces it.
struct UsageReport {
  static constexpr int kBody = 320;
  NodeId node;
  SessionId session;
  Duration every = kSampleEvery;  // the time until the next report
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
inline constexpr std::size_t kMaxLauncherAddresses = 8;
inline constexpr std::size_t kMaxLauncherAddressBytes = 300;
// An address of a launcher's control and bulk sockets; each is tcp://HOST:PORT.
struct LauncherAddress {
  std::string control, bulk;
  static void table(auto& s, auto&& see) {
    see(field<1>, "control", s.control, {.bytes = kMaxLauncherAddressBytes});
    see(field<2>, "bulk", s.bulk, {.bytes = kMaxLauncherAddressBytes});
  }
  friend bool operator==(const LauncherAddress&, const LauncherAddress&) = default;
};

// The addresses of the launcher now and in the future, the present one first. An agent keeps them,
// and dials them in turn when its launcher does not answer. The launcher's key stays the same at
// all addresses, so a wrong one costs only time.
struct LauncherAddresses {
  static constexpr int kBody = 640;
  std::vector<LauncherAddress> addresses;
  static void table(auto& s, auto&& see) {
    see(field<1>, "addresses", s.addresses, {.count = kMaxLauncherAddresses});
  }
  friend bool operator==(const LauncherAddresses&, const LauncherAddresses&) = default;
};

struct SessionAccepted {
  static constexpr int kBody = 13;
  SessionId session;
  Duration heartbeat_interval = seconds(1);
  DesiredState desired;
  // The time within which the node dials at a random moment after a break, so that not all nodes of
  // a large cluster come back at once. Zero: at once.
  Duration reconnect_within{0};
  std::vector<LauncherAddress> addresses = {};  // the same addresses as in LauncherAddresses
  static void table(auto& s, auto&& see) {
    see(field<1>, "session", s.session);
    see(field<2>, "heartbeat_interval", s.heartbeat_interval);
    see(field<3>, "desired", s.desired);
    see(field<326>, "reconnect_within", s.reconnect_within);
    see(field<416>, "addresses", s.addresses, {.count = kMaxLauncherAddresses});
  }
  friend bool operator==(const SessionAccepted&, const SessionAccepted&) = default;
};
struct SessionRefused {  // wrong version, cloned or unknown node: the agent prints why and exits
  static constexpr int kBody = 14;
  SessionId session;
  std::string reason;
  bool removed = false;  // the node was removed: its agent ends all its parts before it exits
  static void table(auto& s, auto&& see) {
    see(field<1>, "session", s.session);
    see(field<2>, "reason", s.reason, kCutText);
    see(field<3>, "removed", s.removed);
  }
  friend bool operator==(const SessionRefused&, const SessionRefused&) = default;
};
// The launcher does not know this session because it restarted, or it needs a new full report. The
// agent sends SessionOpen again, with this `question` in `answers`.
struct SessionLost {
  static constexpr int kBody = 15;
  SessionId session;
  std::uint64_t question = 0;
  static void table(auto& s, auto&& see) {
    see(field<1>, "session", s.session);
    see(field<2>, "question", s.question);
  }
  friend bool operator==(const SessionLost&, const SessionLost&) = default;
};
struct HeartbeatAck {
  static constexpr int kBody = 16;
  SessionId session;
  std::uint64_t number = 0;    // the heartbeat's number
  std::uint64_t revision = 0;  // the revision of the node's desired state when the heartbeat
                               // arrived
  Instant time = {};           // the launcher's, when this was made; ns = 0: not given
  static void table(auto& s, auto&& see) {
    see(field<1>, "session", s.session);
    see(field<2>, "number", s.number);
    see(field<3>, "revision", s.revision);
    see(field<63>, "time", s.time);
  }
  friend bool operator==(const HeartbeatAck&, const HeartbeatAck&) = default;
};
struct ObservedAck {
  static constexpr int kBody = 17;
  SessionId session;
  std::uint64_t sequence = 0;
  static void table(auto& s, auto&& see) {
    see(field<1>, "session", s.session);
    see(field<2>, "sequence", s.sequence);
  }
  friend bool operator==(const ObservedAck&, const ObservedAck&) = default;
};
struct Desired {
  static constexpr int kBody = 18;
  SessionId session;
  DesiredState desired;
  static void table(auto& s, auto&& see) {
    see(field<1>, "session", s.session);
    see(field<2>, "desired", s.desired);
  }
  friend bool operator==(const Desired&, const Desired&) = default;
};

inline constexpr std::size_t kMaxAllowedAtOnce = 1'000;
// The nodes with these `keys` fetch a tree that this node has. For kPeerAllowedFor, its blob server
// accepts their connections and sends them the blobs below `root`. `withdrawn`: it stops doing so
// now. It also stops serving the keys in `revoked`, at once.
struct AllowPeers {
  static constexpr int kBody = 120;
  std::vector<PublicKey> keys;
  Digest root = {};
  bool withdrawn = false;
  std::vector<PublicKey> revoked = {};
  static void table(auto& s, auto&& see) {
    see(field<1>, "keys", s.keys, {.count = kMaxAllowedAtOnce});
    see(field<2>, "root", s.root, {.unless_empty = true});
    see(field<3>, "withdrawn", s.withdrawn);
    see(field<4>, "revoked", s.revoked, {.count = kMaxAllowedAtOnce});
  }
  friend bool operator==(const AllowPeers&, const AllowPeers&) = default;
};
inline constexpr Duration kPeerAllowedFor = seconds(60);

// An AttachOpen or AttachClose for a part of this node. It comes over this connection because a
// node opens its bulk connection only when it needs it. It is not acknowledged: who attached
// repeats it. Whatever the part's runner answers goes over the bulk connection.
struct AttachWanted {
  static constexpr int kBody = 650;
  AttachFrame frame;
  static void table(auto& s, auto&& see) { see(field<1>, "frame", s.frame); }
  friend bool operator==(const AttachWanted&, const AttachWanted&) = default;
};

using AgentReply =
    std::variant<SessionAccepted, SessionRefused, SessionLost, HeartbeatAck, ObservedAck, Desired,
                 AllowPeers, Refused, LauncherAddresses, AttachWanted>;

}  // namespace lockstep
