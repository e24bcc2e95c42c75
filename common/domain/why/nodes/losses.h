#pragma once
// Why nodes are lost and parts given up, how the launcher knows that a part has stopped, who takes
// a machine away, and why sessions and reports of nodes are refused.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/fields.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/why/list.h"
#include "common/domain/why/why.h"

namespace lockstep {

// ---- a node, or its part of an attempt, is gone -------------------------------------------------

struct NodeNotHeard {
  static constexpr std::string_view kCode = "node_not_heard";
  Duration silent{0};
  LOCKSTEP_FIELDS(NodeNotHeard, silent);
};

struct NodeRebooted {
  static constexpr std::string_view kCode = "node_rebooted";
  LOCKSTEP_FIELDS(NodeRebooted);
};

struct RunnerNotReported {  // A full report of the node does not list the runner.
  static constexpr std::string_view kCode = "runner_not_reported";
  LOCKSTEP_FIELDS(RunnerNotReported);
};

struct PlacedBeforeBackup {  // It was placed just before the backup; no node had reported it.
  static constexpr std::string_view kCode = "placed_before_backup";
  LOCKSTEP_FIELDS(PlacedBeforeBackup);
};

struct NodeRevoked {
  static constexpr std::string_view kCode = "node_revoked";
  std::string by;
  LOCKSTEP_FIELDS(NodeRevoked, by);
};

struct AgentReplaced {  // The node's machine has a new agent.
  static constexpr std::string_view kCode = "agent_replaced";
  LOCKSTEP_FIELDS(AgentReplaced);
};

struct MachineIsGone {  // The node's machine is gone.
  static constexpr std::string_view kCode = "machine_is_gone";
  LOCKSTEP_FIELDS(MachineIsGone);
};

struct InstanceForced {
  static constexpr std::string_view kCode = "instance_forced";
  std::string verb;  // stop, restart
  std::string by = {};
  LOCKSTEP_FIELDS(InstanceForced, verb, by);
};

struct MachineForced {  // The machine is removed by force.
  static constexpr std::string_view kCode = "machine_forced";
  LOCKSTEP_FIELDS(MachineForced);
};

// ---- a part that was given up has stopped -------------------------------------------------------

struct RunnerEnded {  // The node reports that the runner has ended.
  static constexpr std::string_view kCode = "runner_ended";
  LOCKSTEP_FIELDS(RunnerEnded);
};

struct RunnerRemoved {  // The node removed the runner with its folder.
  static constexpr std::string_view kCode = "runner_removed";
  LOCKSTEP_FIELDS(RunnerRemoved);
};

// ---- a machine is taken away --------------------------------------------------------------------

struct AgentWasTold {  // The agent did not learn the reason.
  static constexpr std::string_view kCode = "agent_was_told";
  LOCKSTEP_FIELDS(AgentWasTold);
};

struct ProviderSaysSo {  // The provider does not give a reason.
  static constexpr std::string_view kCode = "provider_says_so";
  LOCKSTEP_FIELDS(ProviderSaysSo);
};

struct MachineEnds {
  static constexpr std::string_view kCode = "machine_ends";
  Duration lifetime{0};  // the lifetime of such a machine
  LOCKSTEP_FIELDS(MachineEnds, lifetime);
};

// ---- a session is refused -----------------------------------------------------------------------

struct NodeWasRemoved {
  static constexpr std::string_view kCode = "node_was_removed";
  std::string node;
  std::string by = {};  // "": unknown
  Instant at = {};
  LOCKSTEP_FIELDS(NodeWasRemoved, node, by, at);
};

struct KeyNotKnown {
  static constexpr std::string_view kCode = "key_not_known";
  LOCKSTEP_FIELDS(KeyNotKnown);
};

struct KeyOfAnother {
  static constexpr std::string_view kCode = "key_of_another";
  std::string node;  // the node that has the key
  NodeId id = {};
  NodeId claimed = {};
  LOCKSTEP_FIELDS(KeyOfAnother, node, id, claimed);
};

// ---- a report is refused ------------------------------------------------------------------------

struct ForeignAttempt {  // The attempt was never assigned to the node.
  static constexpr std::string_view kCode = "foreign_attempt";
  AttemptId attempt;
  LOCKSTEP_FIELDS(ForeignAttempt, attempt);
};

struct LockNotAsked {  // The node was not asked for a lock.
  static constexpr std::string_view kCode = "lock_not_asked";
  std::string platform;
  LOCKSTEP_FIELDS(LockNotAsked, platform);
};

struct LockOfAnotherPlatform {
  static constexpr std::string_view kCode = "lock_of_another_platform";
  std::string platform;
  std::string before = {};  // the platform that it has asked for in this attempt
  LOCKSTEP_FIELDS(LockOfAnotherPlatform, platform, before);
};

struct NoRoomForLock {
  static constexpr std::string_view kCode = "no_room_for_lock";
  std::string platform;
  int most = 0;  // the most platforms of an environment
  LOCKSTEP_FIELDS(NoRoomForLock, platform, most);
};

using LossReasons =
    List<NodeNotHeard, NodeRebooted, RunnerNotReported, PlacedBeforeBackup, NodeRevoked,
         AgentReplaced, MachineIsGone, InstanceForced, MachineForced, RunnerEnded, RunnerRemoved,
         AgentWasTold, ProviderSaysSo, MachineEnds, NodeWasRemoved, KeyNotKnown, KeyOfAnother,
         ForeignAttempt, LockNotAsked, LockOfAnotherPlatform, NoRoomForLock>;

}  // namespace lockstep
