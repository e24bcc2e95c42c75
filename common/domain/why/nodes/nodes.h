#pragma once
// Why a node takes no work at all: it is not there, something is wrong with it, or an operator
// drained it; and faults of its offer.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/bytes.h"
#include "common/base/fields.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/why/list.h"
#include "common/domain/why/why.h"

namespace lockstep {

// An amount that a node has and a job asks for.
enum class NodeAmount { cpus, gpus, memory };
constexpr std::string_view to_string(NodeAmount amount) {
  switch (amount) {
    case NodeAmount::cpus: return "cpus";
    case NodeAmount::gpus: return "gpus";
    case NodeAmount::memory: return "memory";
  }
  return "";
}
constexpr NodeAmount last_enumerator(NodeAmount) { return NodeAmount::memory; }

// ---- the node itself ----------------------------------------------------------------------------

struct NodeAwaitsApproval {
  static constexpr std::string_view kCode = "node_awaits_approval";
  std::string node;
  LOCKSTEP_FIELDS(NodeAwaitsApproval, node);
};

struct NodeNeverReported {  // The node has not reported since it joined.
  static constexpr std::string_view kCode = "node_never_reported";
  LOCKSTEP_FIELDS(NodeNeverReported);
};

struct NodeIsLost {
  static constexpr std::string_view kCode = "node_is_lost";
  Why why;
  LOCKSTEP_FIELDS(NodeIsLost, why);
};

struct NodeTakenAway {  // The machine is taken away at `at`.
  static constexpr std::string_view kCode = "node_taken_away";
  Instant at;
  Why why;
  LOCKSTEP_FIELDS(NodeTakenAway, at, why);
};

struct NodeDraining {
  static constexpr std::string_view kCode = "node_draining";
  std::string node;
  std::string text;  // the reason that the operator gave; "": none
  LOCKSTEP_FIELDS(NodeDraining, node, text);
};

struct NodeNotUnderstood {  // The node's last message could not be decoded.
  static constexpr std::string_view kCode = "node_not_understood";
  std::string said;
  LOCKSTEP_FIELDS(NodeNotUnderstood, said);
};

struct NodeUnheard {  // UNKNOWN
  static constexpr std::string_view kCode = "node_unheard";
  LOCKSTEP_FIELDS(NodeUnheard);
};

struct NodeSilent {
  static constexpr std::string_view kCode = "node_silent";
  Why why;  // why it takes no work
  Duration silent_for{0};
  LOCKSTEP_FIELDS(NodeSilent, why, silent_for);
};

struct NodeStopsOldAttempt {  // The attempt began before the node was LOST.
  static constexpr std::string_view kCode = "node_stops_old_attempt";
  AttemptId attempt;
  LOCKSTEP_FIELDS(NodeStopsOldAttempt, attempt);
};

struct NodeAskedWhatRuns {  // The node was LOST, and is asked which attempts run on it.
  static constexpr std::string_view kCode = "node_asked_what_runs";
  LOCKSTEP_FIELDS(NodeAskedWhatRuns);
};

struct NodeTakesNoWork {  // The node reports that itself.
  static constexpr std::string_view kCode = "node_takes_no_work";
  Why why;
  LOCKSTEP_FIELDS(NodeTakesNoWork, why);
};

struct NodeCloned {  // two agents have its identity
  static constexpr std::string_view kCode = "node_cloned";
  std::string node;
  NodeId id;
  std::uint64_t session = 0;
  std::optional<std::uint64_t> live;  // the other one, if both are alive
  LOCKSTEP_FIELDS(NodeCloned, node, id, session, live);
};

struct NodeFull {
  static constexpr std::string_view kCode = "node_full";
  int attempts = 0;
  LOCKSTEP_FIELDS(NodeFull, attempts);
};

// ---- its target's size --------------------------------------------------------------------------

struct NodeHasFewerThanSize {
  static constexpr std::string_view kCode = "node_has_fewer_than_size";
  NodeAmount what = NodeAmount::cpus;
  int has = 0;
  std::string size;
  int size_has = 0;
  LOCKSTEP_FIELDS(NodeHasFewerThanSize, what, has, size, size_has);
};

struct NodeHasLessMemoryThanSize {
  static constexpr std::string_view kCode = "node_has_less_memory_than_size";
  Bytes has;
  std::string size;
  Bytes size_has;
  LOCKSTEP_FIELDS(NodeHasLessMemoryThanSize, has, size, size_has);
};

struct NodeLacksRdmaOfSize {
  static constexpr std::string_view kCode = "node_lacks_rdma_of_size";
  Why why;
  std::string size;
  LOCKSTEP_FIELDS(NodeLacksRdmaOfSize, why, size);
};

// ---- its machine --------------------------------------------------------------------------------

// The identity of a machine.
struct MachineRef {
  std::string boot_id;
  std::string machine_id;  // "": unknown
  LOCKSTEP_FIELDS(MachineRef, boot_id, machine_id);
};

struct NodeOffersAnothersDevice {
  static constexpr std::string_view kCode = "node_offers_anothers_device";
  NodeAmount what = NodeAmount::cpus;  // cpus or gpus
  int index = 0;
  std::string other;  // the node that offers it too
  MachineRef machine;
  LOCKSTEP_FIELDS(NodeOffersAnothersDevice, what, index, other, machine);
};

struct NodeOffersTooMuchMemory {
  static constexpr std::string_view kCode = "node_offers_too_much_memory";
  Bytes offers;
  MachineRef machine;
  std::string first;  // the first of the machine's earlier nodes
  Bytes earlier;      // the memory that the earlier nodes offer
  Bytes whole;        // the memory of the machine
  LOCKSTEP_FIELDS(NodeOffersTooMuchMemory, offers, machine, first, earlier, whole);
};

struct NodeClaimsAnothersMachine {
  static constexpr std::string_view kCode = "node_claims_anothers_machine";
  std::string node;
  Instant since;
  std::string other;  // the node that has the machine
  std::string host;   // the boot and network namespace
  LOCKSTEP_FIELDS(NodeClaimsAnothersMachine, node, since, other, host);
};

// Why an agent may not join.
struct MachineIsANode {
  static constexpr std::string_view kCode = "machine_is_a_node";
  MachineRef machine;
  std::string node, target;
  int cpus = 0;  // the cpus that the node offers
  Bytes memory;
  LOCKSTEP_FIELDS(MachineIsANode, machine, node, target, cpus, memory);
};

using NodeReasons =
    List<NodeAwaitsApproval, NodeNeverReported, NodeIsLost, NodeTakenAway, NodeDraining,
         NodeNotUnderstood, NodeUnheard, NodeSilent, NodeStopsOldAttempt, NodeAskedWhatRuns,
         NodeTakesNoWork, NodeCloned, NodeFull, NodeHasFewerThanSize, NodeHasLessMemoryThanSize,
         NodeLacksRdmaOfSize, NodeOffersAnothersDevice, NodeOffersTooMuchMemory,
         NodeClaimsAnothersMachine, MachineIsANode>;

}  // namespace lockstep
