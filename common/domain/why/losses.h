#pragma once
// Why nodes are lost and parts given up, how the launcher knows that a part has stopped, who takes
// a machine away, and why sessions and reports of nodes are refused.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/why/list.h"
#include "common/domain/why/why.h"

namespace lockstep {

// ---- a node, or its part of an attempt, is gone -------------------------------------------------

struct NodeNotHeard {
  static constexpr std::string_view kCode = "node_not_heard";
  Duration silent{0};
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("silent", self.silent);
  }
  friend bool operator==(const NodeNotHeard&, const NodeNotHeard&) = default;
};

struct NodeRebooted {
  static constexpr std::string_view kCode = "node_rebooted";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const NodeRebooted&, const NodeRebooted&) = default;
};

struct RunnerNotReported {  // by a full report of its node
  static constexpr std::string_view kCode = "runner_not_reported";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const RunnerNotReported&, const RunnerNotReported&) = default;
};

struct PlacedBeforeBackup {  // just before; no node had said a word of it
  static constexpr std::string_view kCode = "placed_before_backup";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const PlacedBeforeBackup&, const PlacedBeforeBackup&) = default;
};

struct NodeRevoked {
  static constexpr std::string_view kCode = "node_revoked";
  std::string by;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("by", self.by);
  }
  friend bool operator==(const NodeRevoked&, const NodeRevoked&) = default;
};

struct AgentReplaced {  // its machine has a new agent
  static constexpr std::string_view kCode = "agent_replaced";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const AgentReplaced&, const AgentReplaced&) = default;
};

struct MachineIsGone {  // and its node with it
  static constexpr std::string_view kCode = "machine_is_gone";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const MachineIsGone&, const MachineIsGone&) = default;
};

struct InstanceForced {
  static constexpr std::string_view kCode = "instance_forced";
  std::string verb;  // stop, restart
  std::string by = {};
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("verb", self.verb);
    see("by", self.by);
  }
  friend bool operator==(const InstanceForced&, const InstanceForced&) = default;
};

struct MachineForced {  // removed by force
  static constexpr std::string_view kCode = "machine_forced";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const MachineForced&, const MachineForced&) = default;
};

// ---- a part that was given up has stopped -------------------------------------------------------

struct RunnerEnded {  // says its node
  static constexpr std::string_view kCode = "runner_ended";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const RunnerEnded&, const RunnerEnded&) = default;
};

struct RunnerRemoved {  // by its node, with its folder
  static constexpr std::string_view kCode = "runner_removed";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const RunnerRemoved&, const RunnerRemoved&) = default;
};

// ---- a machine is taken away --------------------------------------------------------------------

struct AgentWasTold {  // and not why
  static constexpr std::string_view kCode = "agent_was_told";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const AgentWasTold&, const AgentWasTold&) = default;
};

struct ProviderSaysSo {  // and not why
  static constexpr std::string_view kCode = "provider_says_so";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const ProviderSaysSo&, const ProviderSaysSo&) = default;
};

struct MachineEnds {
  static constexpr std::string_view kCode = "machine_ends";
  Duration lifetime{0};  // of such a machine
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("lifetime", self.lifetime);
  }
  friend bool operator==(const MachineEnds&, const MachineEnds&) = default;
};

// ---- a session is refused -----------------------------------------------------------------------

struct NodeWasRemoved {
  static constexpr std::string_view kCode = "node_was_removed";
  std::string node;
  std::string by = {};  // "": unknown
  Instant at = {};
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("node", self.node);
    see("by", self.by);
    see("at", self.at);
  }
  friend bool operator==(const NodeWasRemoved&, const NodeWasRemoved&) = default;
};

struct KeyNotKnown {
  static constexpr std::string_view kCode = "key_not_known";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const KeyNotKnown&, const KeyNotKnown&) = default;
};

struct KeyOfAnother {
  static constexpr std::string_view kCode = "key_of_another";
  std::string node;  // whose key it is
  NodeId id = {};
  NodeId claimed = {};
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("node", self.node);
    see("id", self.id);
    see("claimed", self.claimed);
  }
  friend bool operator==(const KeyOfAnother&, const KeyOfAnother&) = default;
};

// ---- a report is refused ------------------------------------------------------------------------

struct ForeignAttempt {  // that was never assigned to the node
  static constexpr std::string_view kCode = "foreign_attempt";
  AttemptId attempt;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("attempt", self.attempt);
  }
  friend bool operator==(const ForeignAttempt&, const ForeignAttempt&) = default;
};

struct LockNotAsked {  // of this node
  static constexpr std::string_view kCode = "lock_not_asked";
  std::string platform;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("platform", self.platform);
  }
  friend bool operator==(const LockNotAsked&, const LockNotAsked&) = default;
};

struct LockOfAnotherPlatform {
  static constexpr std::string_view kCode = "lock_of_another_platform";
  std::string platform;
  std::string before = {};  // that it has asked for in this attempt
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("platform", self.platform);
    see("before", self.before);
  }
  friend bool operator==(const LockOfAnotherPlatform&, const LockOfAnotherPlatform&) = default;
};

struct NoRoomForLock {
  static constexpr std::string_view kCode = "no_room_for_lock";
  std::string platform;
  int most = 0;  // platforms of an environment
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("platform", self.platform);
    see("most", self.most);
  }
  friend bool operator==(const NoRoomForLock&, const NoRoomForLock&) = default;
};

using LossReasons =
    List<NodeNotHeard, NodeRebooted, RunnerNotReported, PlacedBeforeBackup, NodeRevoked,
         AgentReplaced, MachineIsGone, InstanceForced, MachineForced, RunnerEnded, RunnerRemoved,
         AgentWasTold, ProviderSaysSo, MachineEnds, NodeWasRemoved, KeyNotKnown, KeyOfAnother,
         ForeignAttempt, LockNotAsked, LockOfAnotherPlatform, NoRoomForLock>;

}  // namespace lockstep
